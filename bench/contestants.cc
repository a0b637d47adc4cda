// Compiled once per backend.
#include "bench/contestants.h"

#include <vector>

#include "bench/baselines/tables.h"
#include "bench/device_tables.h"
#include "bench/judge_tables.h"
#include "bench/wgmma_ceiling.h"

namespace libkernels::bench {
namespace {

// Those of all generations that this build has.
std::vector<MathKernel> all_math_kernels() {
  const auto plain = bench_device::math_kernels();
  std::vector<MathKernel> all(plain.begin(), plain.end());
#if defined(LK_HAVE_SM90)
  for (const bench_device::WgmmaCeiling& w : bench_device::wgmma_ceilings()) {
    all.push_back({.name = w.name,
                   .unit = w.unit,
                   .cc_major = 9,
                   .cc_major_last = 9,
                   .flops =
                       [&w](const MathCall& call) {
                         return w.flops(call.properties->sm_count, call.iterations);
                       },
                   .launch =
                       [&w](const MathCall& call) {
                         return w.launch(call.sink, call.properties->sm_count, call.iterations,
                                         call.stream);
                       }});
  }
#endif
  return all;
}

}  // namespace

#if defined(LK_EMULATE)
const Contestants& emu_contestants() {
#else
const Contestants& cuda_contestants() {
#endif
  static const std::vector<MathKernel> maths = all_math_kernels();
  static const Contestants contestants{.copies = bench_device::copy_kernels(),
                                       .reads = bench_device::read_kernels(),
                                       .writes = bench_device::write_kernels(),
                                       .maths = maths,
                                       .spin = &bench_device::spin,
                                       .gelu_unfused = &bench_device::kGeluUnfused,
                                       .gelu_naive = &bench_device::kGeluNaive,
                                       .compare = &bench_device::compare,
                                       .baselines = bench_device::baselines(),
                                       .judges = bench_device::kJudges};
  return contestants;
}

}  // namespace libkernels::bench
