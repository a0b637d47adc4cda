// cp_async.cuh: bytes arrive, those beyond src_size are zero, and groups are waited for one by one,
// whenever the emulator lets copies complete. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> cp_async_cases();
}
namespace cuda {
std::span<const test::PtxCase> cp_async_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

using emulator::Completion;

constexpr unsigned kRowWords = 4, kRowBytes = 16;

unsigned copy_bytes(const std::string& name) {
  if (name == "ring" || name == "wait_all") return 4;
  const std::string size = name.substr(name.find_first_of("0123456789", name.find("_L2") + 4));
  return unsigned(std::stoi(size));
}

Words expected(const PtxCase& c, const Words& in, std::size_t threads) {
  const std::string name = c.name;
  const unsigned bytes = copy_bytes(name);
  Words out(std::size_t(c.outputs) * threads);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t cta = t / c.cta_threads * c.cta_threads;
    const std::size_t source = cta + (t + 1 - cta) % c.cta_threads;
    unsigned char row[kRowBytes];
    std::memcpy(row, &in[kRowWords * source], kRowBytes);
    if (name.ends_with("_src_size")) {
      const std::uint32_t sizes = in[kRowWords * threads + source];
      for (unsigned i = 0; i < kRowBytes / bytes; ++i) {
        const unsigned size = (sizes >> (8 * i) & 0xff) % (bytes + 1);
        std::memset(row + i * bytes + size, 0, bytes - size);
      }
    }
    for (std::size_t j = 0; j < std::size_t(c.outputs); ++j) {
      std::memcpy(&out[j * threads + t], row + 4 * j, 4);
    }
  }
  return out;
}

void check(std::span<const PtxCase> cases, Device& device) {
  for (const PtxCase& c : cases) {
    for (const std::uint64_t seed : {1u, 2u}) {
      const std::size_t threads = 8 * c.cta_threads;
      const Words in = draw(threads, c.inputs, seed);
      EXPECT_TRUE(same_words(in, run_case(c, device, in), expected(c, in, threads), threads))
          << c.name;
    }
  }
}

TEST(CpAsync, EmulatedMatchesTheDefinition) {
  const SettingsScope keep;
  for (const Completion completion : {Completion::late, Completion::eager, Completion::random}) {
    emulator::settings().completion = completion;
    check(emu::cp_async_cases(), emu_device());
  }
}

TEST(CpAsync, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::cp_async_cases(), cuda_device());
#endif
}

// What a copy reads and writes is counted like a load and a store.
TEST(CpAsync, IsCounted) {
  const SettingsScope keep;
  emulator::settings().count = true;
  const PtxCase& c = find_case(emu::cp_async_cases(), "cg_16_src_size");
  Words in = draw(c.cta_threads, c.inputs, 1);
  std::uint64_t bytes = 0;
  for (std::size_t t = 0; t < c.cta_threads; ++t) {
    bytes += (in[kRowWords * c.cta_threads + t] & 0xff) % (kRowBytes + 1);
  }
  emulator::reset_counters();
  run_case(c, emu_device(), in);
  const emulator::Counters with = emulator::counters();
  emulator::reset_counters();
  run_case(find_case(emu::cp_async_cases(), "cg_16"), emu_device(), in);
  const emulator::Counters whole = emulator::counters();
  EXPECT_EQ(whole.global_bytes_read - with.global_bytes_read, c.cta_threads * kRowBytes - bytes);
  EXPECT_EQ(whole.shared_write_requests, c.cta_threads / 32);
  EXPECT_EQ(with.shared_write_requests, c.cta_threads / 32);
}

}  // namespace
}  // namespace libkernels::test
