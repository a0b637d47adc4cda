// Wide loads and stores as arrays of 32-bit words, from aligned addresses and from others.
#pragma once

#include <type_traits>

#include "kernels/common/bits.cuh"

namespace libkernels::inline LK_BACKEND {

template <int kWords>
struct alignas(kWords < 4 ? 4 * kWords : 16) Words {
  std::uint32_t v[kWords];
};

// p modulo `bytes`, a power of two: the low 32 bits of the address suffice.
LK_DEVICE std::uint32_t phase_of(const void* p, std::uint32_t bytes) {
  return std::uint32_t(reinterpret_cast<std::uintptr_t>(p)) % bytes;
}

// 8, 16 or (sm100 only) 32 bytes from an address aligned to as many.
template <int kWords>
LK_DEVICE Words<kWords> load_vector(const void* p) {
  static_assert(kWords == 2 || kWords == 4 || kWords == 8);
  if constexpr (kWords == 2) {
    return bit_cast<Words<2>>(ptx::ld_global(static_cast<const uint2*>(p)));
  } else if constexpr (kWords == 4) {
    return bit_cast<Words<4>>(ptx::ld_global(static_cast<const uint4*>(p)));
  } else {
    return bit_cast<Words<8>>(ptx::ld_global_v8_b32(static_cast<const ptx::uint8x32*>(p)));
  }
}

template <int kWords>
LK_DEVICE void store_vector(void* p, const Words<kWords>& words) {
  static_assert(kWords == 2 || kWords == 4 || kWords == 8);
  if constexpr (kWords == 2) {
    ptx::st_global(static_cast<uint2*>(p), bit_cast<uint2>(words));
  } else if constexpr (kWords == 4) {
    ptx::st_global(static_cast<uint4*>(p), bit_cast<uint4>(words));
  } else {
    ptx::st_global_v8_b32(static_cast<ptx::uint8x32*>(p), bit_cast<ptx::uint8x32>(words));
  }
}

// The same of 8 or 16 bytes, with a word to the L2.
template <int kWords>
LK_DEVICE Words<kWords> load_vector(const void* p, ptx::CachePolicy policy) {
  using Vector = std::conditional_t<kWords == 2, uint2, uint4>;
  static_assert(sizeof(Vector) == sizeof(Words<kWords>));
  return bit_cast<Words<kWords>>(
      ptx::ld_global_L2_cache_hint(static_cast<const Vector*>(p), policy));
}
template <int kWords>
LK_DEVICE void store_vector(void* p, const Words<kWords>& words, ptx::CachePolicy policy) {
  using Vector = std::conditional_t<kWords == 2, uint2, uint4>;
  ptx::st_global_L2_cache_hint(static_cast<Vector*>(p), bit_cast<Vector>(words), policy);
}

// The kWords words that start `bytes` bytes into {lo, hi}; bytes < 4 kWords. Whole words move
// first, by selects on the bits of the distance (a register array must not be indexed at run time),
// then one funnel shift a word moves the rest.
template <int kWords>
LK_DEVICE Words<kWords> funnel(const Words<kWords>& lo, const Words<kWords>& hi,
                               std::uint32_t bytes) {
  std::uint32_t w[2 * kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    w[i] = lo.v[i];
    w[kWords + i] = hi.v[i];
  }
#pragma unroll
  for (int step = kWords / 2; step >= 1; step /= 2) {
    const bool move = (bytes & (4u * step)) != 0;
#pragma unroll
    for (int i = 0; i + step < 2 * kWords; ++i) w[i] = move ? w[i + step] : w[i];
  }
  Words<kWords> out;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    out.v[i] = ptx::shf_r_wrap_b32(w[i], w[i + 1], 8 * (bytes & 3u));
  }
  return out;
}

// The same for a distance that all threads share: branches to it instead of selecting.
template <int kWords, int kFirst = 0>
LK_DEVICE Words<kWords> funnel_uniform(const Words<kWords>& lo, const Words<kWords>& hi,
                                       std::uint32_t bytes) {
  if constexpr (kFirst + 1 < kWords) {
    if (bytes / 4 != kFirst) return funnel_uniform<kWords, kFirst + 1>(lo, hi, bytes);
  }
  Words<kWords> out;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const int j = kFirst + i;
    out.v[i] =
        ptx::shf_r_wrap_b32(j < kWords ? lo.v[j] : hi.v[j - kWords],
                            j + 1 < kWords ? lo.v[j + 1] : hi.v[j + 1 - kWords], 8 * (bytes & 3u));
  }
  return out;
}

// 4 kWords bytes from p, however aligned, through the two aligned vectors that hold them. The
// caller has made sure that both may be read: 8 kWords bytes from p rounded down.
template <int kWords>
LK_DEVICE Words<kWords> load_realigned(const unsigned char* p) {
  const std::uint32_t phase = phase_of(p, 4 * kWords);
  const unsigned char* aligned = p - phase;
  return funnel<kWords>(load_vector<kWords>(aligned), load_vector<kWords>(aligned + 4 * kWords),
                        phase);
}

}  // namespace libkernels::inline LK_BACKEND
