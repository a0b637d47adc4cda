// One arithmetic step as eager execution runs it: a kernel that reads a whole tensor and writes a
// whole tensor, y[i] = step(x[i], w), where w is nothing, a value of the element's row or one of its
// column. One 16-byte vector of x a thread where the pointers allow it, else one element.
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

inline constexpr int kStepThreads = 256;

template <DType kIn, DType kW, DType kOut, Step kStep, Per kPer, int kCount>
__global__ void __launch_bounds__(kStepThreads) step_kernel(StepParams p) {
  static_assert(kIn == kOut || kCount == 1);
  const std::int64_t first = (std::int64_t(blockIdx.x) * kStepThreads + threadIdx.x) * kCount;
  if (first >= p.n) return;
  const std::int64_t row = kPer == Per::nothing ? 0 : quotient(first, p.cols);
  const std::int64_t col = first - row * p.cols.divisor;
  const auto w_of = [&](int i) {  // of element first + i, which may lie in a later row
    if constexpr (kPer == Per::nothing) return 0.0f;
    std::int64_t r = row, c = col + i;
    while (c >= p.cols.divisor) {
      c -= p.cols.divisor;
      ++r;
    }
    return load<kW>(p.w, kPer == Per::row ? r : c);
  };
  if constexpr (kCount > 1) {
    if (first + kCount <= p.n) {
      constexpr int kPerWord = Storage<kIn>::kPerWord;
      uint4 v = ptx::ld_global(static_cast<const uint4*>(p.x) + first / kCount);
      std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        float f[kPerWord];
        Storage<kIn>::unpack(words[word], f);
#pragma unroll
        for (int i = 0; i < kPerWord; ++i) f[i] = step<kStep>(f[i], w_of(word * kPerWord + i));
        words[word] = Storage<kOut>::pack(f);
      }
      v = {words[0], words[1], words[2], words[3]};
      ptx::st_global(static_cast<uint4*>(p.y) + first / kCount, v);
      return;
    }
  }
  for (int i = 0; i < kCount && first + i < p.n; ++i) {
    store<kOut>(p.y, first + i, step<kStep>(load<kIn>(p.x, first + i), w_of(i)));
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
    if (aligned(x) && aligned(y)) {
      return start(&step_kernel<kIn, kW, kOut, kStep, kPer, kPerVector>, kPerVector);
    }
  }
  return start(&step_kernel<kIn, kW, kOut, kStep, kPer, 1>, 1);
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
