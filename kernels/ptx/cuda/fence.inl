#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
LK_DEVICE void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
LK_DEVICE void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
