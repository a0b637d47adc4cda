// The host's clock: what a kernel waits for passes.
#pragma once

#include <chrono>

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE std::uint64_t globaltimer() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace libkernels::inline LK_BACKEND::ptx
