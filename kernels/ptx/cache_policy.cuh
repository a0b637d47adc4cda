// The operand of .L2::cache_hint: what the L2 does with a line once it is short of room.
#pragma once

#include <cstdint>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::ptx {

struct CachePolicy {
  std::uint64_t bits;
};

// As createpolicy.fractional makes them on sm_90; for older devices it has to be executed.
inline constexpr CachePolicy kEvictNormal{0x1000000000000000u};
inline constexpr CachePolicy kEvictFirst{0x12f0000000000000u};
inline constexpr CachePolicy kEvictLast{0x14f0000000000000u};

}  // namespace libkernels::inline LK_BACKEND::ptx
