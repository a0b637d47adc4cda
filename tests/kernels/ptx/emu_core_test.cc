// What the emulator runs and counts. The kernels stand in this file, which is compiled as host
// code: only their front-door accesses are seen. Cost: 1 s.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_support.h"

namespace libkernels::test {
namespace {

using emulator::Completion;
using emulator::Counters;

struct Params {
  std::uint32_t* in;
  std::uint32_t* out;
  int n;
};

cudaError_t run(void (*kernel)(Params), dim3 grid, dim3 block, const Params& p,
                std::size_t smem = 0) {
  return ptx::launch(kernel, {.grid = grid, .block = block, .smem = smem}, nullptr, p);
}

#define ASSERT_RUNS(...) ASSERT_EQ(run(__VA_ARGS__), cudaSuccess) << emulator::last_fault()

// ---- Warps and barriers -----------------------------------------------------------------------

__global__ void halves_shuffle(Params p) {
  const std::uint32_t mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  std::uint32_t v = threadIdx.x;
  // The halves are at different steps, and never meet.
  for (std::uint32_t i = 0; i < (threadIdx.x < 16 ? 3u : 5u); ++i) {
    v += ptx::shfl_sync_bfly(v, 1, mask);
  }
  ptx::st_global(p.out + threadIdx.x, v);
}

TEST(EmuWarp, HalvesOfAWarpShuffleApart) {
  const Words out(32);
  ASSERT_RUNS(&halves_shuffle, dim3(1), dim3(32), {nullptr, out.data(), 0});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t own = lane, other = lane ^ 1;
    for (std::uint32_t i = 0; i < (lane < 16 ? 3u : 5u); ++i) own = other = own + other;
    EXPECT_EQ(out[lane], own) << lane;
  }
}

__global__ void partial_warp_votes(Params p) {
  const std::uint32_t ballot = ptx::vote_sync_ballot(threadIdx.x % 3 == 0);
  __syncthreads();
  ptx::st_global(p.out + threadIdx.x, ballot);
}

TEST(EmuWarp, LanesThatDoNotExistAreNotWaitedFor) {
  const Words out(40);
  ASSERT_RUNS(&partial_warp_votes, dim3(1), dim3(40), {nullptr, out.data(), 0});
  EXPECT_EQ(out[0], 0x49249249u);
  EXPECT_EQ(out[39], 0x92u);  // of threads 32 to 39, 33, 36 and 39 say yes
}

struct PipeSmem {
  std::uint32_t slot[32];
};

// Warp 0 produces, warp 1 consumes.
__global__ void named_barriers(Params p) {
  auto& smem = ptx::dynamic_smem<PipeSmem>();
  const std::uint32_t lane = threadIdx.x % 32;
  for (int i = 0; i < p.n; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0) ptx::bar_sync(2, 64);
      ptx::st_shared(&smem.slot[lane], std::uint32_t(i) * 100 + lane);
      ptx::bar_arrive(1, 64);
    } else {
      ptx::bar_sync(1, 64);
      ptx::st_global(p.out + i * 32 + lane, ptx::ld_shared(&smem.slot[31 - lane]));
      if (i + 1 < p.n) ptx::bar_arrive(2, 64);
    }
  }
}

TEST(EmuBarrier, ProducerAndConsumerAlternate) {
  const Words out(5 * 32);
  ASSERT_RUNS(&named_barriers, dim3(1), dim3(64), {nullptr, out.data(), 5}, sizeof(PipeSmem));
  for (std::uint32_t i = 0; i < 5 * 32; ++i) EXPECT_EQ(out[i], i / 32 * 100 + 31 - i % 32);
}

// ---- The order of execution -------------------------------------------------------------------

struct SumSmem {
  std::uint32_t partial[8];
};

// Sums 256 words a CTA.
__global__ void cta_sum(Params p) {
  auto& smem = ptx::dynamic_smem<SumSmem>();
  std::uint32_t v = ptx::ld_global(p.in + blockIdx.x * 256 + threadIdx.x);
  for (std::uint32_t m = 16; m; m /= 2) v += ptx::shfl_sync_bfly(v, m);
  if (threadIdx.x % 32 == 0) ptx::st_shared(&smem.partial[threadIdx.x / 32], v);
  __syncthreads();
  v = 0;
  for (int w = 0; w < 8; ++w) v += ptx::ld_shared(&smem.partial[w]);
  if (threadIdx.x == 0) ptx::st_global(p.out + blockIdx.x, v);
}

TEST(EmuOrder, ResultDoesNotDependOnIt) {
  const KeepSettings keep;
  constexpr std::uint32_t kCtas = 70;
  const Words in(kCtas * 256), out(kCtas);
  std::iota(in.data(), in.data() + kCtas * 256, 0u);
  std::vector<std::vector<std::uint32_t>> results;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    emulator::settings().completion = seed == 0   ? Completion::late
                                      : seed == 1 ? Completion::eager
                                                  : Completion::random;
    emulator::settings().seed = seed;
    ASSERT_RUNS(&cta_sum, dim3(kCtas), dim3(256), {in.data(), out.data(), 0}, sizeof(SumSmem));
    results.push_back(out.copy());
    EXPECT_EQ(results.back(), results.front()) << "seed " << seed;
  }
  EXPECT_EQ(results.front()[1], 256u * 256 + 255u * 128);
}

// Host memory, which these uninstrumented kernels may use to tell what they saw.
std::vector<unsigned> order;
int resident, most_resident;

__global__ void note_order(Params) {
  if (threadIdx.x == 0) order.push_back(blockIdx.x);
}
__global__ void note_resident(Params) {
  if (threadIdx.x == 0) most_resident = std::max(most_resident, ++resident);
  __syncthreads();
  if (threadIdx.x == 0) --resident;
}

TEST(EmuOrder, RandomIsReproducibleAndDiffersBySeed) {
  const KeepSettings keep;
  std::vector<std::vector<unsigned>> orders;
  emulator::settings().completion = Completion::random;
  for (const std::uint64_t seed : {1, 1, 2}) {
    emulator::settings().seed = seed;
    order.clear();
    ASSERT_RUNS(&note_order, dim3(200), dim3(32), {});
    orders.push_back(order);
    std::sort(order.begin(), order.end());
    for (unsigned i = 0; i < 200; ++i) ASSERT_EQ(order[i], i);
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
}

TEST(EmuOrder, AsManyCtasAtOnceAsTheDeviceHolds) {
  const KeepSettings keep;
  emulator::set_current_profile(*emulator::find_profile("emu100"));
  emulator::settings().completion = Completion::eager;
  struct Case {
    unsigned threads;
    std::size_t smem;
    int expected;
  };
  constexpr std::size_t kKiB = 1024;
  // 6 SMs of 2048 threads, 32 CTA slots and 228 KiB, of which each CTA reserves one.
  for (const Case& c : {Case{256, 0, 48}, Case{1024, 0, 12}, Case{32, 0, 192},
                        Case{256, 100 * kKiB, 12}, Case{256, 227 * kKiB, 6}}) {
    resident = most_resident = 0;
    ASSERT_RUNS(&note_resident, dim3(250), dim3(c.threads), {}, c.smem);
    EXPECT_EQ(most_resident, c.expected) << c.threads << " threads, " << c.smem << " bytes";
    EXPECT_EQ(resident, 0);
  }
}

// ---- Counters ---------------------------------------------------------------------------------

// Thread t reads word t * n.
template <class T>
__global__ void read_global(Params p) {
  ptx::ld_global(reinterpret_cast<const T*>(p.in + threadIdx.x * unsigned(p.n)));
}
template <class T>
__global__ void write_global(Params p) {
  ptx::st_global(reinterpret_cast<T*>(p.out + threadIdx.x * unsigned(p.n)), T{});
}
__global__ void read_in_a_loop(Params p) {
  for (int i = 0; i < p.n; ++i) ptx::ld_global(p.in + i * 32 + int(threadIdx.x));
}
struct Big {
  alignas(16) std::uint32_t word[32 * 32];
};
template <class T>
__global__ void write_shared(Params p) {
  auto& smem = ptx::dynamic_smem<Big>();
  ptx::st_shared(reinterpret_cast<T*>(&smem.word[threadIdx.x * unsigned(p.n)]), T{});
}
__global__ void read_shared_reversed(Params) {
  auto& smem = ptx::dynamic_smem<Big>();
  ptx::ld_shared(&smem.word[31 - threadIdx.x]);
}

Counters count(void (*kernel)(Params), const Params& p, std::size_t smem = 0, unsigned ctas = 1) {
  const KeepSettings keep;
  emulator::settings().count = true;
  emulator::reset_counters();
  EXPECT_EQ(run(kernel, dim3(ctas), dim3(32), p, smem), cudaSuccess) << emulator::last_fault();
  return emulator::counters();
}

TEST(EmuCounters, SectorsOfKnownPatterns) {
  const Words words(32 * 32);
  struct Case {
    void (*kernel)(Params);
    int stride;
    std::uint64_t sectors, bytes;
  };
  for (const Case& c :
       {Case{&read_global<std::uint32_t>, 1, 4, 128}, Case{&read_global<std::uint32_t>, 0, 1, 128},
        Case{&read_global<std::uint32_t>, 2, 8, 128},
        Case{&read_global<std::uint32_t>, 32, 32, 128}, Case{&read_global<std::uint16_t>, 1, 4, 64},
        Case{&read_global<uint2>, 2, 8, 256}, Case{&read_global<uint4>, 4, 16, 512}}) {
    const Counters k = count(c.kernel, {words.data(), nullptr, c.stride});
    EXPECT_EQ(k.global_read_requests, 1u);
    EXPECT_EQ(k.global_read_sectors, c.sectors) << "stride " << c.stride;
    EXPECT_EQ(k.global_bytes_read, c.bytes);
    EXPECT_EQ(k.global_write_requests, 0u);
    EXPECT_EQ(k.shared_wavefronts, 0u);
  }
  const Counters k = count(&write_global<uint4>, {nullptr, words.data(), 4});
  EXPECT_EQ(k.global_write_requests, 1u);
  EXPECT_EQ(k.global_write_sectors, 16u);
  EXPECT_EQ(k.global_bytes_written, 512u);
  EXPECT_EQ(k.global_bytes_read, 0u);
}

TEST(EmuCounters, EachExecutionIsOneRequest) {
  const Words words(7 * 32);
  const Counters k = count(&read_in_a_loop, {words.data(), nullptr, 7}, 0, 3);
  EXPECT_EQ(k.global_read_requests, 21u);
  EXPECT_EQ(k.global_read_sectors, 84u);
  EXPECT_EQ(k.launches, 1u);
  EXPECT_EQ(k.ctas, 3u);
  EXPECT_EQ(k.threads, 96u);
}

TEST(EmuCounters, BankConflictsOfKnownPatterns) {
  struct Case {
    void (*kernel)(Params);
    int stride;
    std::uint64_t wavefronts, conflicts;
  };
  for (const Case& c :
       {Case{&write_shared<std::uint32_t>, 1, 1, 0}, Case{&write_shared<std::uint32_t>, 0, 1, 0},
        Case{&write_shared<std::uint32_t>, 2, 2, 1}, Case{&write_shared<std::uint32_t>, 32, 32, 31},
        Case{&write_shared<std::uint32_t>, 31, 1, 0}, Case{&write_shared<uint2>, 2, 2, 0},
        Case{&write_shared<uint2>, 4, 4, 2}, Case{&write_shared<uint4>, 4, 4, 0},
        Case{&write_shared<uint4>, 8, 8, 4}, Case{&write_shared<uint4>, 28, 4, 0}}) {
    const Counters k = count(c.kernel, {nullptr, nullptr, c.stride}, sizeof(Big));
    EXPECT_EQ(k.shared_write_requests, 1u);
    EXPECT_EQ(k.shared_wavefronts, c.wavefronts) << "stride " << c.stride;
    EXPECT_EQ(k.shared_bank_conflicts, c.conflicts) << "stride " << c.stride;
    EXPECT_EQ(k.global_read_requests, 0u);
  }
  const Counters k = count(&read_shared_reversed, {}, sizeof(Big));
  EXPECT_EQ(k.shared_read_requests, 1u);
  EXPECT_EQ(k.shared_wavefronts, 1u);
}

TEST(EmuCounters, NothingIsCountedUnlessAsked) {
  const Words words(32);
  emulator::reset_counters();
  ASSERT_RUNS(&read_global<std::uint32_t>, dim3(1), dim3(32), {words.data(), nullptr, 1});
  EXPECT_EQ(emulator::counters().launches, 0u);
  EXPECT_EQ(emulator::counters().global_read_requests, 0u);
}

// ---- Launches ---------------------------------------------------------------------------------

std::size_t resident_bytes() {
  std::size_t total = 0, pages = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  if (f == nullptr || std::fscanf(f, "%zu %zu", &total, &pages) != 2) pages = 0;
  if (f != nullptr) std::fclose(f);
  return pages * std::size_t(sysconf(_SC_PAGESIZE));
}

__global__ void misaligned(Params p) { ptx::ld_global(reinterpret_cast<const uint4*>(p.in + 1)); }

TEST(EmuLaunch, ManyLaunchesAndFaultsReuseMemory) {
  const Words in(256), out(1);
  std::size_t before = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_RUNS(&cta_sum, dim3(1), dim3(256), {in.data(), out.data(), 0}, sizeof(SumSmem));
    EXPECT_EQ(run(&misaligned, dim3(1), dim3(64), {in.data(), nullptr, 0}),
              cudaErrorMisalignedAddress);
    const Words scratch(1000);
    if (i == 100) before = resident_bytes();
  }
  constexpr std::size_t kSlack = 16 << 20;
  EXPECT_LT(resident_bytes(), before + kSlack);
}

TEST(EmuLaunch, EightHostThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([t, &wrong] {
      const Words in(256), out(1);
      std::fill_n(in.data(), 256, t + 1);
      for (int i = 0; i < 50; ++i) {
        // Each second launch faults, on every other thread; its text stays on that thread.
        const bool broken = t % 2 == 1 && i % 2 == 1;
        const Params p{in.data(), out.data(), 0};
        const cudaError_t error = broken ? run(&misaligned, dim3(1), dim3(64), p)
                                         : run(&cta_sum, dim3(1), dim3(256), p, sizeof(SumSmem));
        wrong[t] += broken ? error != cudaErrorMisalignedAddress : error != cudaSuccess;
        wrong[t] += broken == emulator::last_fault().empty();
        wrong[t] += out[0] != 256 * (t + 1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const int w : wrong) EXPECT_EQ(w, 0);
}

TEST(EmuLaunch, LastLaunchTellsItsShape) {
  ASSERT_RUNS(&note_resident, dim3(3, 2), dim3(32, 4), {}, 1000);
  const emulator::LastLaunch last = emulator::last_launch();
  EXPECT_EQ(last.grid.x * 100 + last.grid.y * 10 + last.grid.z, 321u);
  EXPECT_EQ(last.block.x, 32u);
  EXPECT_EQ(last.block.y, 4u);
  EXPECT_EQ(last.smem, 1000u);
}

// ---- Devices and memory -----------------------------------------------------------------------

TEST(EmuProfiles, SharedMemoryLimitIsTheDevices) {
  const KeepSettings keep;
  constexpr std::size_t kKiB = 1024;
  const std::pair<const char*, std::size_t> limits[] = {
      {"emu80", 163},  {"emu90", 227}, {"emu100", 227}, {"a100", 163},
      {"rtx3090", 99}, {"h100", 227},  {"rtx4090", 99}, {"h200", 227},
      {"b200", 227},   {"b300", 227},  {"rtx5090", 99}};
  EXPECT_EQ(std::size(limits), emulator::profiles().size());
  for (const auto& [name, kib] : limits) {
    const DeviceProperties* p = emulator::find_profile(name);
    ASSERT_NE(p, nullptr) << name;
    EXPECT_EQ(p->smem_per_cta_optin, kib * kKiB) << name;
    emulator::set_current_profile(*p);
    EXPECT_EQ(run(&note_order, dim3(1), dim3(32), {}, kib * kKiB), cudaSuccess) << name;
    EXPECT_EQ(run(&note_order, dim3(1), dim3(32), {}, kib * kKiB + 1), cudaErrorInvalidValue)
        << name;
    EXPECT_NE(emulator::last_fault().find(name), std::string::npos);
  }
  EXPECT_EQ(emulator::find_profile("gtx480"), nullptr);
}

TEST(EmuMemory, IsAlignedPoisonedAndFound) {
  void* p = nullptr;
  ASSERT_EQ(emulator::memory_allocate(&p, 1001), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 256, 0u);
  const auto* bytes = static_cast<const unsigned char*>(p);
  EXPECT_TRUE(std::all_of(bytes, bytes + 1001, [](unsigned char b) { return b == 0xff; }));
  EXPECT_EQ(emulator::find_buffer(bytes + 1000).data, p);
  EXPECT_EQ(emulator::find_buffer(p).bytes, 1001u);
  EXPECT_FALSE(emulator::find_buffer(bytes + 1001).found);
  EXPECT_FALSE(emulator::find_buffer(bytes - 1).found);
  EXPECT_FALSE(emulator::find_buffer(&p).found);
  EXPECT_EQ(emulator::memory_free(const_cast<unsigned char*>(bytes) + 8), cudaErrorInvalidValue);
  EXPECT_EQ(emulator::memory_free(p), cudaSuccess);
  EXPECT_EQ(emulator::memory_free(p), cudaErrorInvalidValue);
  EXPECT_EQ(emulator::memory_free(nullptr), cudaSuccess);
}

TEST(EmuMemory, SparseBufferLargerThanTheMachine) {
  const std::size_t bytes = std::size_t(1) << 40;
  void* p = nullptr;
  ASSERT_EQ(emulator::memory_allocate(&p, bytes), cudaSuccess);
  auto* last = reinterpret_cast<std::uint32_t*>(static_cast<char*>(p) + bytes) - 32;
  ASSERT_RUNS(&write_global<std::uint32_t>, dim3(1), dim3(32), {nullptr, last, 1});
  EXPECT_EQ(last[31], 0u);
  EXPECT_EQ(emulator::memory_free(p), cudaSuccess);
}

// ---- Arithmetic -------------------------------------------------------------------------------

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t next(std::uint32_t* state) { return *state = *state * 1664525u + 1013904223u; }

TEST(EmuArithmetic, HalvesSurviveTheRoundTrip) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const bool nan = (h & 0x7fff) > 0x7c00;
    EXPECT_EQ(ptx::cvt_rn_f16_f32(ptx::cvt_f32_f16(std::uint16_t(h))), nan ? 0x7fffu : h);
  }
}

// Between neighbours: the middle goes to the even one, its own neighbours to the nearer one.
template <class Widen, class Narrow>
void check_ties(std::uint32_t infinity, Widen widen, Narrow narrow) {
  for (std::uint32_t a = 0; a + 1 < infinity; ++a) {
    const float low = widen(a), high = widen(a + 1);
    const float middle = float((double(low) + double(high)) / 2);
    const std::uint32_t even = a % 2 == 0 ? a : a + 1;
    ASSERT_EQ(narrow(middle), even) << a;
    ASSERT_EQ(narrow(std::nextafterf(middle, 0)), a) << a;
    ASSERT_EQ(narrow(std::nextafterf(middle, INFINITY)), a + 1) << a;
    ASSERT_EQ(narrow(-middle), 0x8000u | even) << a;
  }
}

TEST(EmuArithmetic, RoundingTiesToEven) {
  check_ties(
      0x7c00, [](std::uint32_t h) { return ptx::cvt_f32_f16(std::uint16_t(h)); },
      [](float x) { return std::uint32_t(ptx::cvt_rn_f16_f32(x)); });
  check_ties(
      0x7f80, [](std::uint32_t h) { return float_of(h << 16); },
      [](float x) { return std::uint32_t(ptx::cvt_rn_bf16_f32(x)); });
  EXPECT_EQ(ptx::cvt_rn_f16_f32(65519.996f), 0x7bffu);
  EXPECT_EQ(ptx::cvt_rn_f16_f32(65520.0f), 0x7c00u);
  EXPECT_EQ(ptx::cvt_rn_f16_f32(-INFINITY), 0xfc00u);
  EXPECT_EQ(ptx::cvt_rn_bf16_f32(float_of(0x7f7fffff)), 0x7f80u);
  EXPECT_EQ(ptx::cvt_rn_bf16_f32(float_of(0xffc00001)), 0x7fffu);
  EXPECT_EQ(ptx::cvt_rn_bf16x2_f32(1.0f, -2.0f), 0x3f80c000u);
  EXPECT_EQ(ptx::cvt_rn_f16x2_f32(1.0f, -2.0f), 0x3c00c000u);
}

double ulp(double y) { return std::ldexp(1.0, std::max(std::ilogb(y) - 23, -149)); }

struct Approximation {
  const char* name;
  float (*model)(float);
  double (*exact)(double);
  double (*bound)(double x, double y);
};
const Approximation kApproximations[] = {
    {"ex2", &ptx::ex2_approx_f32, [](double x) { return std::exp2(x); },
     [](double, double y) { return 2 * ulp(y); }},
    {"lg2", &ptx::lg2_approx_f32, [](double x) { return std::log2(x); },
     [](double x, double y) { return 0x1p-22 * (x > 0.5 && x < 2 ? 1 : std::fabs(y)); }},
    {"rcp", &ptx::rcp_approx_f32, [](double x) { return 1 / x; },
     [](double, double y) { return ulp(y); }},
    {"rsqrt", &ptx::rsqrt_approx_f32, [](double x) { return 1 / std::sqrt(x); },
     [](double, double y) { return std::exp2(-22.9) * y; }},
    {"tanh", &ptx::tanh_approx_f32, [](double x) { return std::tanh(x); },
     [](double, double y) { return 0x1p-11 * std::fabs(y); }},
};

TEST(EmuArithmetic, ApproximationsAreNearestOrAtTheirBound) {
  const KeepSettings keep;
  for (const Approximation& a : kApproximations) {
    double largest = 0;  // as a share of the bound
    std::uint32_t state = 1;
    for (int i = 0; i < 5000; ++i) {
      const float x = float(int(next(&state) >> 8) - (1 << 23)) * 0x1p-18f;  // within 32
      const double y = a.exact(x);
      if (!std::isfinite(y) || y == 0) continue;
      emulator::settings().worst_ulp = false;
      ASSERT_EQ(a.model(x), float(y)) << a.name << " " << x;
      emulator::settings().worst_ulp = true;
      const float worst = a.model(x);
      ASSERT_EQ(worst, a.model(x));
      const double share = std::fabs(worst - y) / a.bound(x, y);
      ASSERT_LE(share, 1) << a.name << " " << x;
      largest = std::max(largest, share);
    }
    EXPECT_GT(largest, 0.9) << a.name;
  }
}

TEST(EmuArithmetic, SpecialValuesAreExactAtTheWorstToo) {
  const KeepSettings keep;
  for (const bool worst : {false, true}) {
    emulator::settings().worst_ulp = worst;
    EXPECT_EQ(ptx::ex2_approx_f32(0), 1);
    EXPECT_EQ(ptx::ex2_approx_f32(-INFINITY), 0);
    EXPECT_EQ(ptx::ex2_approx_f32(INFINITY), INFINITY);
    EXPECT_EQ(ptx::lg2_approx_f32(0), -INFINITY);
    EXPECT_TRUE(std::isnan(ptx::lg2_approx_f32(-1)));
    EXPECT_EQ(ptx::rcp_approx_f32(-0.0f), -INFINITY);
    EXPECT_TRUE(std::signbit(ptx::rcp_approx_f32(-INFINITY)));
    EXPECT_EQ(ptx::tanh_approx_f32(INFINITY), 1);
    EXPECT_TRUE(std::signbit(ptx::tanh_approx_f32(-0.0f)));
    EXPECT_EQ(ptx::rsqrt_approx_f32(INFINITY), 0);
    EXPECT_TRUE(std::isnan(ptx::ex2_approx_f32(NAN)));
  }
}

}  // namespace
}  // namespace libkernels::test
