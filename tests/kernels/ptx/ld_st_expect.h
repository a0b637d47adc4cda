// What the kernels of ld_st_kernels.cu and ld_st_sm100_kernels.cu must do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/support/ptx_run.h"

namespace libkernels::test {

inline constexpr std::size_t kLdStThreads = 512;
inline constexpr std::size_t kLdStCta = 128;

// Bytes of one access, from the end of the case's name.
inline std::size_t width_of(const std::string& name) {
  const auto ends_with = [&](const char* end) { return name.ends_with(end); };
  if (ends_with("_v8_b32")) return 32;
  if (ends_with("_v4_b32")) return 16;
  if (ends_with("_v2_b32") || ends_with("_b64")) return 8;
  if (ends_with("_b32")) return 4;
  return ends_with("_b16") ? 2 : 1;
}

inline Words ld_st_inputs(const PtxCase& c, std::uint64_t seed) {
  Words in = draw(kLdStThreads, c.inputs, seed);
  for (std::size_t t = 0; t < kLdStThreads; ++t) in[t] %= kLdStThreads;  // the indices
  return in;
}

inline Words ld_st_expected(const PtxCase& c, const Words& in) {
  const std::string name = c.name;
  const std::size_t width = width_of(name);
  const bool shared = name.starts_with("shared");
  Words out(kLdStThreads * std::size_t(c.outputs), kUnwritten);
  const auto* elements = reinterpret_cast<const unsigned char*>(in.data() + kLdStThreads);
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  for (std::size_t t = 0; t < kLdStThreads; ++t) {
    const std::size_t from = shared ? t / kLdStCta * kLdStCta + in[t] % kLdStCta : in[t];
    const std::size_t to = 2 * (kLdStThreads - 1 - t) + 1;
    std::memcpy(bytes + to * width, elements + from * width, width);
  }
  return out;
}

}  // namespace libkernels::test
