// Matmul as first kernels write it, with the epilogue fused: c = relu(a b + bias).
//
//   matmul_naive   a thread an element of C, both operands from global memory
//   matmul_tiled   a CTA a 32 x 32 tile of C, a thread an element; tiles of A and B of 32 x 32 pass
//                  through shared memory, so that each loaded element serves 32 threads
//
// index = row * row_stride + col * col_stride serves every layout. Numerics: products and sums in
// fp32, in series over K, separately rounded. FLOPs: 2 M N K by FMA units at half rate or less.
// Traffic of the naive one: 2 M N K elements of loads, which the caches thin out; of the tiled one:
// a 32nd of that.
#include "bench/baselines/tables.h"
#include "bench/baselines/types.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace matmul_naive {

constexpr int kTile = 32;
constexpr int kThreads = kTile * kTile;
constexpr double kMostWork = 2.0 * 2048 * 2048 * 2048;  // FLOPs; more takes tens of milliseconds

struct Params {
  const void* a;
  const void* b;
  void* c;
  const void* bias;
  bool relu;
  std::int64_t m, n, k;
  bench::Strides a_strides, b_strides, c_strides;
  unsigned tiles_n;
};

template <DType kOut>
LK_DEVICE void finish(const Params& p, std::int64_t row, std::int64_t col, float sum) {
  if (p.bias != nullptr) sum += load<kOut>(p.bias, col);
  if (p.relu && sum < 0) sum = 0;  // keeps NaN
  store<kOut>(p.c, at(p.c_strides, row, col), sum);
}

template <DType kIn, DType kOut>
__global__ void __launch_bounds__(kThreads) matmul_naive_kernel(Params p) {
  const std::int64_t row = std::int64_t(blockIdx.x / p.tiles_n) * kTile + threadIdx.x / kTile;
  const std::int64_t col = std::int64_t(blockIdx.x % p.tiles_n) * kTile + threadIdx.x % kTile;
  if (row >= p.m || col >= p.n) return;
  float sum = 0;
  for (std::int64_t k = 0; k < p.k; ++k) {
    sum += load<kIn>(p.a, at(p.a_strides, row, k)) * load<kIn>(p.b, at(p.b_strides, k, col));
  }
  finish<kOut>(p, row, col, sum);
}

struct Smem {
  float a[kTile][kTile + 1];  // [row][k]; the column more keeps both directions free of conflicts
  float b[kTile][kTile + 1];  // [k][col]
};

// A tile whose element (y, x) is that at (row + y, col + x) of a matrix of rows x cols, 0 beyond.
// Threads run along the unit stride.
template <DType T>
LK_DEVICE void load_tile(float (*tile)[kTile + 1], const void* data, const bench::Strides& strides,
                         std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
  const int fast = int(threadIdx.x) % kTile;
  const int slow = int(threadIdx.x) / kTile;
  const int y = strides.col == 1 ? slow : fast;
  const int x = strides.col == 1 ? fast : slow;
  const bool inside = row + y < rows && col + x < cols;
  tile[y][x] = inside ? load<T>(data, at(strides, row + y, col + x)) : 0.0f;
}

template <DType kIn, DType kOut>
__global__ void __launch_bounds__(kThreads) matmul_tiled_kernel(Params p) {
  Smem& smem = ptx::dynamic_smem<Smem>();
  const int y = int(threadIdx.x) / kTile;
  const int x = int(threadIdx.x) % kTile;
  const std::int64_t row = std::int64_t(blockIdx.x / p.tiles_n) * kTile;
  const std::int64_t col = std::int64_t(blockIdx.x % p.tiles_n) * kTile;
  float sum = 0;
  for (std::int64_t k = 0; k < p.k; k += kTile) {
    load_tile<kIn>(smem.a, p.a, p.a_strides, row, k, p.m, p.k);
    load_tile<kIn>(smem.b, p.b, p.b_strides, k, col, p.k, p.n);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += smem.a[y][i] * smem.b[i][x];
    __syncthreads();
  }
  if (row + y < p.m && col + x < p.n) finish<kOut>(p, row + y, col + x, sum);
}

Params params_of(const bench::MatmulArgs& args) {
  return {.a = args.a,
          .b = args.b,
          .c = args.c,
          .bias = args.epilogue == bench::Epilogue::bias_relu ? args.bias : nullptr,
          .relu = args.epilogue != bench::Epilogue::none,
          .m = args.m,
          .n = args.n,
          .k = args.k,
          .a_strides = args.a_strides,
          .b_strides = args.b_strides,
          .c_strides = args.c_strides,
          .tiles_n = unsigned(divide_up(args.n, kTile))};
}

unsigned grid_of(const bench::MatmulArgs& args) {
  return unsigned(divide_up(args.m, kTile) * divide_up(args.n, kTile));
}

cudaError_t launch_naive(const bench::MatmulArgs& args) {
  return with_product_types(args.in_type, args.out_type, [&](auto in, auto out) {
    return ptx::launch(&matmul_naive_kernel<in(), out()>,
                       {.grid = dim3(grid_of(args)), .block = dim3(kThreads)}, args.stream,
                       params_of(args));
  });
}

cudaError_t launch_tiled(const bench::MatmulArgs& args) {
  return with_product_types(args.in_type, args.out_type, [&](auto in, auto out) {
    return ptx::launch(&matmul_tiled_kernel<in(), out()>,
                       {.grid = dim3(grid_of(args)), .block = dim3(kThreads), .smem = sizeof(Smem)},
                       args.stream, params_of(args));
  });
}

bench::Prepared<bench::MatmulArgs> prepare(const bench::MatmulArgs& example, const char* kernel,
                                           cudaError_t (*launch)(const bench::MatmulArgs&)) {
  with_product_types(example.in_type, example.out_type,
                     [](auto, auto) { return 0; });  // may refuse
  if (2.0 * double(example.m) * double(example.n) * double(example.k) > kMostWork) {
    throw bench::Refusal("problems beyond 2048^3 take too long");
  }
  return {.kernel = kernel, .launches = 1, .call = launch};
}

}  // namespace matmul_naive

const bench::Baseline<bench::MatmulArgs> kMatmulNaive{
    .role = "naive",
    .kernel = "matmul_naive",
    .prepare = [](std::span<const bench::MatmulArgs> examples) {
      return matmul_naive::prepare(examples[0], "matmul_naive", &matmul_naive::launch_naive);
    }};

const bench::Baseline<bench::MatmulArgs> kMatmulTiled{
    .role = "naive_tiled",
    .kernel = "matmul_tiled",
    .prepare = [](std::span<const bench::MatmulArgs> examples) {
      return matmul_naive::prepare(examples[0], "matmul_tiled", &matmul_naive::launch_tiled);
    }};

}  // namespace libkernels::inline LK_BACKEND::bench_device
