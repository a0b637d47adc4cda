#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// The 32-bit shared-window address that the .shared instructions take.
LK_DEVICE std::uint32_t smem_address(const void* p) {
  return std::uint32_t(__cvta_generic_to_shared(p));
}

}  // namespace libkernels::inline LK_BACKEND::ptx
