// Row maximum, generation sm80: y[r] = max over c of x[r, c], any strides. NaN if any is.
// Floor: (rows * cols + rows) * 4 bytes.
#include <limits>
#include <string>

#include "kernels/common/launch_plan.h"
#include "kernels/common/reduce.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "kernels/row_max/row_max.h"

namespace libkernels::inline LK_BACKEND::op::row_max {
namespace {

using F32 = Storage<DType::f32>;
constexpr int kThreads = 128;  // unmeasured, like kCtasPerSm
constexpr int kCtasPerSm = 16;
constexpr int kRowsPerCta = kThreads / kWarpThreads;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// A warp a row, columns along the lanes. r is the same in all lanes: all of them reduce.
__global__ void __launch_bounds__(kThreads, kCtasPerSm) row_max_sm80(Problem p) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const auto* x = reinterpret_cast<const F32::Element*>(p.x);
  auto* y = reinterpret_cast<F32::Element*>(p.y);
  const std::int64_t step = std::int64_t(gridDim.x) * kRowsPerCta;
  for (std::int64_t r = std::int64_t(blockIdx.x) * kRowsPerCta + warp; r < p.rows; r += step) {
    float most = kMinusInfinity;
    for (std::int64_t c = lane; c < p.cols; c += kWarpThreads) {
      const auto bits = ptx::ld_global(x + r * p.x_row_stride + c * p.x_col_stride);
      most = MaxNaN::combine(most, F32::decode(bits));
    }
    most = reduce_lanes<MaxNaN>(most);
    if (lane == 0) ptx::st_global(y + r * p.y_stride, F32::encode(most));
  }
}

unsigned grid_size(const Problem& p, const LaunchContext& context) {
  return capped_grid((p.rows - 1) / kRowsPerCta + 1, context, kThreads);
}

struct Row {
  static const char* supports(const Problem&, const DeviceProperties&) { return nullptr; }

  static cudaError_t launch(const Problem& p, const LaunchContext& context) {
    const ptx::LaunchShape shape{.grid = dim3(grid_size(p, context)), .block = dim3(kThreads)};
    return ptx::launch(&row_max_sm80, shape, context.stream, p);
  }

  static std::string describe(const Problem& p, const LaunchContext& context) {
    return "path: a warp a row, one element a lane and load\nlaunch: grid " +
           std::to_string(grid_size(p, context)) + ", block " + std::to_string(kThreads) + "\n";
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem&, KernelResources* out) {
    return kernel_resources(&row_max_sm80, kThreads, kCtasPerSm, 0, out);
  }

  static cudaError_t preload() {
    KernelResources ignored;
    return resources({}, &ignored);
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row>("row_max_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_max
