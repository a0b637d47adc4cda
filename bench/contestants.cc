// Compiled once per backend.
#include "bench/contestants.h"

#include "bench/baselines/tables.h"
#include "bench/device_tables.h"
#include "bench/judge_tables.h"

namespace libkernels::bench {

#if defined(LK_EMULATE)
const Contestants& emu_contestants() {
#else
const Contestants& cuda_contestants() {
#endif
  static const Contestants contestants{.copies = bench_device::copy_kernels(),
                                       .reads = bench_device::read_kernels(),
                                       .writes = bench_device::write_kernels(),
                                       .maths = bench_device::math_kernels(),
                                       .spin = &bench_device::spin,
                                       .gelu_unfused = &bench_device::kGeluUnfused,
                                       .gelu_naive = &bench_device::kGeluNaive,
                                       .compare = &bench_device::compare,
                                       .baselines = bench_device::baselines(),
                                       .judges = bench_device::kJudges};
  return contestants;
}

}  // namespace libkernels::bench
