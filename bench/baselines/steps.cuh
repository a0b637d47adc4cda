// One arithmetic step as eager execution runs it: a kernel that reads a whole tensor and writes a
// whole tensor, y[i] = step(x[i], w), where w is nothing, a value of the element's row or one of
// its column. One 16-byte vector of x a thread where the pointers allow it, else one element.
#pragma once

#include "bench/baselines/types.cuh"
#include "kernels/common/divide.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

enum class Step { subtract, divide, add, exp, relu };
enum class Per { nothing, row, column };

struct StepParams {
  const void* x;
  const void* w;
  void* y;
  std::int64_t n;
  Divider cols;
};

template <Step kStep>
LK_DEVICE float step(float x, float w) {
  if constexpr (kStep == Step::subtract) return x - w;
  if constexpr (kStep == Step::divide) return x / w;
  if constexpr (kStep == Step::add) return x + w;
  if constexpr (kStep == Step::exp) return expf(x);
  if constexpr (kStep == Step::relu) return x < 0 ? 0.0f : x;  // keeps NaN
}

// The elements in the 16 bytes at p, a multiple of 16.
template <DType T>
LK_DEVICE void load_16_bytes(const void* p, float* f) {
  const uint4 v = ptx::ld_global(static_cast<const uint4*>(p));
  const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) Storage<T>::unpack(words[i], f + i * Storage<T>::kPerWord);
}

// What belongs to elements first ... first + kCount - 1, which may end in a later row: with one
// load where one will do.
template <DType kW, Per kPer, int kCount>
LK_DEVICE void load_operand(const StepParams& p, std::int64_t first, float* w) {
  if constexpr (kPer != Per::nothing) {
    std::int64_t row = quotient(first, p.cols);
    std::int64_t col = first - row * p.cols.divisor;
    const bool one_row = col + kCount <= p.cols.divisor;
    if (kPer == Per::row && one_row) {
      const float same = load<kW>(p.w, row);
#pragma unroll
      for (int i = 0; i < kCount; ++i) w[i] = same;
      return;
    }
    using Element = typename Storage<kW>::Element;
    if constexpr (kPer == Per::column && kCount * sizeof(Element) == 16) {
      if (one_row && col % kCount == 0) {  // p.w is a multiple of 16
        load_16_bytes<kW>(static_cast<const Element*>(p.w) + col, w);
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      w[i] = first + i < p.n ? load<kW>(p.w, kPer == Per::row ? row : col) : 0.0f;
      if (++col == p.cols.divisor) {
        col = 0;
        ++row;
      }
    }
  }
}

inline constexpr int kStepThreads = 256;

template <DType kIn, DType kW, DType kOut, Step kStep, Per kPer, int kCount>
__global__ void __launch_bounds__(kStepThreads) step_kernel(StepParams p) {
  static_assert(kIn == kOut || kCount == 1);
  const std::int64_t first = (std::int64_t(blockIdx.x) * kStepThreads + threadIdx.x) * kCount;
  if (first >= p.n) return;
  float w[kCount] = {};
  load_operand<kW, kPer, kCount>(p, first, w);
  if constexpr (kCount > 1) {
    if (first + kCount <= p.n) {
      constexpr int kPerWord = Storage<kIn>::kPerWord;
      float f[kCount];
      load_16_bytes<kIn>(static_cast<const typename Storage<kIn>::Element*>(p.x) + first, f);
      std::uint32_t words[4];
#pragma unroll
      for (int i = 0; i < kCount; ++i) f[i] = step<kStep>(f[i], w[i]);
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = Storage<kOut>::pack(f + i * kPerWord);
      ptx::st_global(static_cast<uint4*>(p.y) + first / kCount,
                     {words[0], words[1], words[2], words[3]});
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (first + i < p.n) {
      store<kOut>(p.y, first + i, step<kStep>(load<kIn>(p.x, first + i), w[i]));
    }
  }
}

// y may be x. `cols` is the width of the matrix; it is packed.
template <DType kIn, DType kW, DType kOut, Step kStep, Per kPer>
cudaError_t launch_step(void* y, const void* x, const void* w, std::int64_t n, std::int64_t cols,
                        cudaStream_t stream) {
  constexpr int kPerVector = 16 / int(size_of(kIn));
  const auto start = [&](auto kernel, int count) {
    const std::int64_t grid = divide_up(divide_up(n, count), kStepThreads);
    return ptx::launch(kernel, {.grid = dim3(unsigned(grid)), .block = dim3(kStepThreads)}, stream,
                       StepParams{.x = x, .w = w, .y = y, .n = n, .cols = make_divider(cols)});
  };
  if constexpr (kIn == kOut) {
    const auto aligned = [](const void* q) {
      return reinterpret_cast<std::uintptr_t>(q) % 16 == 0;
    };
    if (aligned(x) && aligned(y) && aligned(w)) {
      return start(&step_kernel<kIn, kW, kOut, kStep, kPer, kPerVector>, kPerVector);
    }
  }
  return start(&step_kernel<kIn, kW, kOut, kStep, kPer, 1>, 1);
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
