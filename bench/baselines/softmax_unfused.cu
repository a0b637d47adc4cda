// Softmax as eager execution runs it: five steps, each a full pass over memory in x's own type.
//
//   m = row maximum of x      MN reads
//   a = x - m                 MN reads, MN writes
//   b = exp(a)                MN reads, MN writes
//   s = row sum of b          MN reads
//   y = b / s                 MN reads, MN writes
//
// Traffic: 5MN reads and 3MN writes where the fused kernel has MN and MN, and m and s: each vector
// of 16 bytes asks the caches for its row's value.
// Numerics: each step computes in fp32 and rounds to the tensor's type; m and s stay in fp32. Each
// kernel by itself is a decent one, so that the chain is slow for what it moves and for nothing
// else: 16-byte vectors, a CTA or a warp a row, and where long rows are few each of the two
// reductions cuts them into pieces, at the price of one small kernel more.
#include <algorithm>

#include "bench/baselines/steps.cuh"
#include "bench/baselines/tables.h"
#include "kernels/common/reduce.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace softmax_unfused {

constexpr int kThreads = 256;
constexpr std::int64_t kShortRow = 1024;   // up to here a warp a row
constexpr std::int64_t kFewRows = 512;     // fewer do not fill a GPU, a CTA each
constexpr std::int64_t kLongPiece = 8192;  // elements that are worth a CTA

struct Max {
  static constexpr float kNeutral = -INFINITY;
  static LK_DEVICE float combine(float a, float b) { return MaxNaN::combine(a, b); }
};
struct Add {
  static constexpr float kNeutral = 0;
  static LK_DEVICE float combine(float a, float b) { return a + b; }
};

// Row r of x is cut into `pieces`, the last may be shorter: y[r * pieces + i] is one's value.
struct Params {
  const void* x;
  float* y;
  std::int64_t cols;
  std::int64_t piece;  // elements
  std::int64_t pieces;
  std::int64_t groups;  // rows * pieces
};

// kLanes threads reduce elements [begin, end) of x: single elements up to a 16-byte boundary,
// vectors, single elements.
template <class Op, DType T, int kLanes>
LK_DEVICE float reduce_range(const void* x, std::int64_t begin, std::int64_t end, int lane) {
  constexpr int kElementBytes = int(sizeof(typename Storage<T>::Element));
  constexpr int kPerVector = 16 / kElementBytes;
  constexpr int kPerWord = Storage<T>::kPerWord;
  const auto* elements = static_cast<const typename Storage<T>::Element*>(x);
  const std::int64_t past = std::int64_t(reinterpret_cast<std::uintptr_t>(elements + begin) % 16);
  const std::int64_t head = past == 0 ? 0 : (16 - past) / kElementBytes;
  const std::int64_t body = head < end - begin ? begin + head : end;
  const std::int64_t vectors = (end - body) / kPerVector;
  float v = Op::kNeutral;
  for (std::int64_t i = begin + lane; i < body; i += kLanes) v = Op::combine(v, load<T>(x, i));
  const uint4* p = reinterpret_cast<const uint4*>(elements + body);
#pragma unroll 4
  for (std::int64_t i = lane; i < vectors; i += kLanes) {
    const uint4 q = ptx::ld_global(p + i);
    const std::uint32_t words[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      float f[kPerWord];
      Storage<T>::unpack(words[word], f);
#pragma unroll
      for (int e = 0; e < kPerWord; ++e) v = Op::combine(v, f[e]);
    }
  }
  for (std::int64_t i = body + vectors * kPerVector + lane; i < end; i += kLanes) {
    v = Op::combine(v, load<T>(x, i));
  }
  return v;
}

struct Smem {
  float slots[kThreads / kWarpThreads];
};

// kLanes threads, a warp or the CTA, to a piece.
template <class Op, DType T, int kLanes>
__global__ void __launch_bounds__(kThreads) reduce_kernel(Params p) {
  constexpr int kGroups = kThreads / kLanes;
  const int lane = int(threadIdx.x) % kLanes;
  const std::int64_t group = std::int64_t(blockIdx.x) * kGroups + int(threadIdx.x) / kLanes;
  float v = Op::kNeutral;
  if (group < p.groups) {
    const std::int64_t row = group / p.pieces;
    const std::int64_t begin = (group - row * p.pieces) * p.piece;
    const std::int64_t end = begin + p.piece < p.cols ? begin + p.piece : p.cols;
    v = reduce_range<Op, T, kLanes>(p.x, row * p.cols + begin, row * p.cols + end, lane);
  }
  if constexpr (kLanes == kWarpThreads) {
    v = reduce_lanes<Op>(v);
  } else {
    v = reduce_cta<Op, kLanes / kWarpThreads>(v, ptx::dynamic_smem<Smem>().slots);
  }
  if (lane == 0 && group < p.groups)
    ptx::st_global(reinterpret_cast<std::uint32_t*>(p.y) + group, Storage<DType::f32>::encode(v));
}

template <class Op, DType T>
cudaError_t launch_pieces(const Params& params, cudaStream_t stream) {
  if (params.piece <= kShortRow) {
    const std::int64_t grid = divide_up(params.groups, kThreads / kWarpThreads);
    return ptx::launch(
        &reduce_kernel<Op, T, kWarpThreads>,
        {.grid = dim3(unsigned(grid)), .block = dim3(kThreads), .smem = sizeof(Smem)}, stream,
        params);
  }
  return ptx::launch(
      &reduce_kernel<Op, T, kThreads>,
      {.grid = dim3(unsigned(params.groups)), .block = dim3(kThreads), .smem = sizeof(Smem)},
      stream, params);
}

std::int64_t pieces_of(const bench::SoftmaxArgs& args) {
  if (args.rows >= kFewRows) return 1;
  return std::clamp<std::int64_t>(args.cols / kLongPiece, 1, kFewRows / args.rows);
}

struct Scratch {
  explicit Scratch(const bench::SoftmaxArgs& args) {
    const auto take = [&](std::int64_t bytes) {
      const std::size_t at = total;
      total += std::size_t(divide_up(bytes, 256) * 256);
      return at;
    };
    const std::int64_t matrix = args.rows * args.cols * std::int64_t(size_of(args.x_type));
    first = take(matrix);
    second = take(matrix);
    row_values = take(args.rows * std::int64_t(sizeof(float)));
    piece_values = take(args.rows * pieces_of(args) * std::int64_t(sizeof(float)));
  }
  std::size_t first, second, row_values, piece_values, total = 0;
};

template <class Op, DType T>
cudaError_t reduce_rows(float* y, const void* x, float* piece_values,
                        const bench::SoftmaxArgs& args) {
  const std::int64_t pieces = pieces_of(args);
  const Params params{.x = x,
                      .y = pieces == 1 ? y : piece_values,
                      .cols = args.cols,
                      .piece = divide_up(args.cols, pieces),
                      .pieces = pieces,
                      .groups = args.rows * pieces};
  const cudaError_t error = launch_pieces<Op, T>(params, args.stream);
  if (error != cudaSuccess || pieces == 1) return error;
  return launch_pieces<Op, DType::f32>({.x = piece_values,
                                        .y = y,
                                        .cols = pieces,
                                        .piece = pieces,
                                        .pieces = 1,
                                        .groups = args.rows},
                                       args.stream);
}

template <DType kIn, DType kOut>
cudaError_t launch_types(const bench::SoftmaxArgs& args) {
  const Scratch at(args);
  unsigned char* scratch = static_cast<unsigned char*>(args.scratch);
  void* a = scratch + at.first;
  void* b = scratch + at.second;
  float* row_value = reinterpret_cast<float*>(scratch + at.row_values);
  float* piece_value = reinterpret_cast<float*>(scratch + at.piece_values);
  const std::int64_t n = args.rows * args.cols;
  constexpr DType kF32 = DType::f32;
  cudaError_t error = reduce_rows<Max, kIn>(row_value, args.x, piece_value, args);
  if (error == cudaSuccess) {
    error = launch_step<kIn, kF32, kIn, Step::subtract, Per::row>(a, args.x, row_value, n,
                                                                  args.cols, args.stream);
  }
  if (error == cudaSuccess) {
    error = launch_step<kIn, kF32, kIn, Step::exp, Per::nothing>(b, a, nullptr, n, args.cols,
                                                                 args.stream);
  }
  if (error == cudaSuccess) error = reduce_rows<Add, kIn>(row_value, b, piece_value, args);
  if (error == cudaSuccess) {
    error = launch_step<kIn, kF32, kOut, Step::divide, Per::row>(args.y, b, row_value, n, args.cols,
                                                                 args.stream);
  }
  return error;
}

static_assert(kFewRows == 512, "softmax_scratch_bytes has room for as many pieces");

cudaError_t launch(const bench::SoftmaxArgs& args) {
  return with_types(args.x_type, args.y_type,
                    [&](auto in, auto out) { return launch_types<in(), out()>(args); });
}

bench::Prepared<bench::SoftmaxArgs> prepare(std::span<const bench::SoftmaxArgs> examples) {
  return {.kernel = "softmax_unfused",
          .launches = pieces_of(examples[0]) == 1 ? 5 : 7,
          .call = &launch};
}

}  // namespace softmax_unfused

const bench::Baseline<bench::SoftmaxArgs> kSoftmaxUnfused{
    .role = "unfused", .kernel = "softmax_unfused", .prepare = &softmax_unfused::prepare};

}  // namespace libkernels::inline LK_BACKEND::bench_device
