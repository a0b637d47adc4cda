// A kernel that takes a known time: it keeps a stream busy while the host enqueues what is timed,
// and shows whether the harness measures what it should.
#include "bench/device_tables.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

struct SpinParams {
  std::uint64_t nanoseconds;
};

__global__ void spin_kernel(SpinParams p) {
  const std::uint64_t begin = ptx::globaltimer();
  while (ptx::globaltimer() - begin < p.nanoseconds) {
  }
}

cudaError_t spin(const bench::SpinCall& call) {
  return ptx::launch(&spin_kernel, {.grid = dim3(1), .block = dim3(1)}, call.stream,
                     SpinParams{.nanoseconds = call.nanoseconds});
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
