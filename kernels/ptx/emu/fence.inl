#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE void fence_proxy_async() {
  emulator::fence_proxy_async(true, true);
}
[[gnu::always_inline]] LK_DEVICE void fence_proxy_async_shared_cta() {
  emulator::fence_proxy_async(true, false);
}
[[gnu::always_inline]] LK_DEVICE void fence_proxy_async_global() {
  emulator::fence_proxy_async(false, true);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
