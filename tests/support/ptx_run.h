// Runs the cases of ptx_case.h on the backends of this program and compares.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "src/device.h"
#include "tests/support/compare.h"
#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"
#include "tests/support/ptx_case.h"

namespace libkernels::test {

using Words = std::vector<std::uint32_t>;

// Output words that the kernel did not write hold this.
inline constexpr std::uint32_t kUnwritten = 0xffe7ffe7u;

inline const PtxCase& find_case(std::span<const PtxCase> cases, std::string_view name) {
  for (const PtxCase& c : cases) {
    if (name == c.name) return c;
  }
  throw std::runtime_error("no case " + std::string(name));
}

// One launch: in.size() / inputs threads.
inline Words run_case(const PtxCase& c, Device& device, const Words& in) {
  const unsigned threads = unsigned(in.size()) / unsigned(c.inputs);
  DeviceBuffer input(device, in.size() * sizeof(std::uint32_t));
  DeviceBuffer output(device,
                      std::size_t(threads) * std::size_t(c.outputs) * sizeof(std::uint32_t));
  input.copy_in(in.data(), input.bytes());
  const PtxParams params{static_cast<const std::uint32_t*>(input.data()),
                         static_cast<std::uint32_t*>(output.data()), threads};
  require(device, c.launch(params, nullptr), c.name);
  Words out(output.bytes() / sizeof(std::uint32_t));
  output.copy_out(out.data(), output.bytes());
  return out;
}

// Whether the GPU half of a differential test can run: cc at least `major`.0.
inline std::string why_no_gpu([[maybe_unused]] int major = 8) {
#if defined(LK_HAVE_CUDA)
  int count = 0;
  if (cuda_device().count(&count) != cudaSuccess || count == 0) return "no GPU";
  const DeviceProperties* properties = nullptr;
  if (cuda_device().properties(&properties) != cudaSuccess) return "no GPU";
  if (properties->cc_major < major) {
    return "the GPU has compute capability " + std::to_string(properties->cc_major) + "." +
           std::to_string(properties->cc_minor);
  }
  return "";
#else
  return "built without CUDA";
#endif
}

// What the two halves have in common: words drawn at random, the first ones edge values.
inline Words draw(std::size_t threads, int inputs, std::uint64_t seed, const Words& edges = {}) {
  Words in(threads * std::size_t(inputs));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = random_word(seed, i);
  // All combinations of edge values, thread by thread, in at most half of the threads.
  std::size_t combinations = edges.empty() ? 0 : 1;
  for (int j = 0; j < inputs; ++j) combinations *= edges.size();
  for (std::size_t t = 0; t < std::min(threads / 2, combinations); ++t) {
    std::size_t rest = t;
    for (int j = 0; j < inputs; ++j) {
      in[std::size_t(j) * threads + t] = edges[rest % edges.size()];
      rest /= edges.size();
    }
  }
  return in;
}

// The words of one thread.
inline Words thread_words(const Words& all, std::size_t threads, std::size_t t) {
  Words words(all.size() / threads);
  for (std::size_t j = 0; j < words.size(); ++j) words[j] = all[j * threads + t];
  return words;
}

inline std::string show(const Words& words) {
  std::string text;
  for (const std::uint32_t w : words) text += (text.empty() ? "" : ", ") + show(w, DType::f32);
  return text;
}

// Equality of whole outputs, reported by thread.
inline testing::AssertionResult same_words(const Words& in, const Words& got, const Words& expected,
                                           std::size_t threads, NaNs nans = NaNs::same_bits) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << "sizes differ";
  Failures failures;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (nans == NaNs::same_class && is_nan(got[i], DType::f32) && is_nan(expected[i], DType::f32)) {
      continue;
    }
    failures.add(i, "thread", i % threads, "in {", show(thread_words(in, threads, i % threads)),
                 "} got", show(got[i], DType::f32), "expected", show(expected[i], DType::f32));
  }
  return failures.result(got.size());
}

}  // namespace libkernels::test
