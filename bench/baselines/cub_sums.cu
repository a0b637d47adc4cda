// Row sums by CUB: DeviceReduce for one row, DeviceSegmentedReduce for several. Both add in fp32
// whatever x's type: the first operand of the operator, the initial value, is a float. (CUB's
// reductions of segments of one fixed size came after CUDA 13.0.)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "bench/baselines/tables.h"
#include "bench/baselines/types.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace cub_sums {

struct Add {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

struct RowStart {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

template <class F>
cudaError_t with_element(DType type, F f) {
  switch (type) {
    case DType::f32:
      return f(float{});
    case DType::f16:
      return f(__half{});
    case DType::bf16:
      return f(__nv_bfloat16{});
    default:
      return cudaErrorInvalidValue;
  }
}

// With null scratch: sets *bytes alone, as all of CUB does.
cudaError_t sum(const bench::RowSumArgs& args, void* scratch, std::size_t* bytes) {
  return with_element(args.x_type, [&](auto element) {
    const auto* x = static_cast<const decltype(element)*>(args.x);
    if (args.rows == 1) {
      return cub::DeviceReduce::Reduce(scratch, *bytes, x, args.y, args.cols, Add{}, 0.0f,
                                       args.stream);
    }
    const auto begin = thrust::make_transform_iterator(
        thrust::make_counting_iterator(std::int64_t{0}), RowStart{args.cols});
    return cub::DeviceSegmentedReduce::Reduce(scratch, *bytes, x, args.y, args.rows, begin,
                                              begin + 1, Add{}, 0.0f, args.stream);
  });
}

std::size_t scratch_bytes(const bench::RowSumArgs& args) {
  std::size_t bytes = 0;
  return sum(args, nullptr, &bytes) == cudaSuccess ? bytes : 0;
}

bench::Prepared<bench::RowSumArgs> prepare(std::span<const bench::RowSumArgs> examples) {
  const bool one = examples[0].rows == 1;
  const std::size_t bytes = scratch_bytes(examples[0]);
  if (bytes > bench::kRowSumScratch) {
    throw bench::Refusal("needs more scratch memory than it has here");
  }
  return {.kernel = one ? "cub::DeviceReduce" : "cub::DeviceSegmentedReduce",
          .launches = one ? 2 : 1,
          .call = [bytes](const bench::RowSumArgs& args) {
            std::size_t has = bytes > 0 ? bytes : 1;  // 0 bytes and a null pointer would ask again
            return sum(args, args.scratch, &has);
          }};
}

}  // namespace cub_sums

std::span<const bench::Baseline<bench::RowSumArgs>> cub_baselines() {
  static const bench::Baseline<bench::RowSumArgs> all[] = {
      {.role = "cub", .kernel = "cub", .prepare = &cub_sums::prepare}};
  return all;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
