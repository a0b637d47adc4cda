// GeLU as eager execution runs it: one kernel for each arithmetic step, each a full read and write
// of a tensor in the tensor's own type.
//
//   tanh (9 kernels)                      erf (5 kernels)
//     a = x * x                             a = x * 0.70710678
//     b = a * x                             b = erf(a)
//     a = b * 0.044715                      a = b + 1
//     b = a + x                             b = x * 0.5
//     a = b * 0.79788456                    y = a * b
//     b = tanh(a)
//     a = b + 1
//     b = x * 0.5
//     y = a * b
//
// and one kernel more, a conversion, where y's type is not x's. Numerics: every step computes in
// fp32 and rounds to the tensor's type. Traffic, in tensors: tanh 13 reads (the first kernel asks
// for x twice) and 9 writes, erf 6 and 5, where the fused kernel has 1 and 1. Each kernel by itself
// is a good one (one 16-byte vector a thread where the pointers allow it), so that the chain is
// slow for what it moves and for nothing else.
#include <algorithm>

#include "bench/device_tables.h"
#include "kernels/common/storage.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace unfused {

constexpr int kThreads = 256;
constexpr int kVectorBytes = 16;

enum class Step { scale, add_constant, tanh, erf, multiply, add };

template <Step kStep>
inline constexpr bool kIsBinary = kStep == Step::multiply || kStep == Step::add;

struct Params {
  const void* a;
  const void* b;  // of binary steps
  void* y;
  float constant;  // of scale and add_constant
  std::int64_t n;
};

template <Step kStep>
LK_DEVICE float evaluate(float a, float b, float constant) {
  if constexpr (kStep == Step::scale) return a * constant;
  if constexpr (kStep == Step::add_constant) return a + constant;
  if constexpr (kStep == Step::tanh) return tanhf(a);
  if constexpr (kStep == Step::erf) return erff(a);
  if constexpr (kStep == Step::multiply) return a * b;
  if constexpr (kStep == Step::add) return a + b;
}

template <DType T, Step kStep>
LK_DEVICE std::uint32_t evaluate_word(std::uint32_t a, std::uint32_t b, float constant) {
  constexpr int kPerWord = Storage<T>::kPerWord;
  float fa[kPerWord], fb[kPerWord] = {};
  Storage<T>::unpack(a, fa);
  if constexpr (kIsBinary<kStep>) Storage<T>::unpack(b, fb);
#pragma unroll
  for (int i = 0; i < kPerWord; ++i) fa[i] = evaluate<kStep>(fa[i], fb[i], constant);
  return Storage<T>::pack(fa);
}

// A vector a thread; the elements behind the last whole vector go one each to the threads after.
template <DType T, Step kStep>
__global__ void __launch_bounds__(kThreads) vector_kernel(Params p) {
  using Element = typename Storage<T>::Element;
  constexpr int kPerVector = kVectorBytes / int(sizeof(Element));
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t vectors = p.n / kPerVector;
  if (i < vectors) {
    const uint4 a = ptx::ld_global(static_cast<const uint4*>(p.a) + i);
    uint4 b = {0, 0, 0, 0};
    if constexpr (kIsBinary<kStep>) b = ptx::ld_global(static_cast<const uint4*>(p.b) + i);
    const uint4 y = {evaluate_word<T, kStep>(a.x, b.x, p.constant),
                     evaluate_word<T, kStep>(a.y, b.y, p.constant),
                     evaluate_word<T, kStep>(a.z, b.z, p.constant),
                     evaluate_word<T, kStep>(a.w, b.w, p.constant)};
    ptx::st_global(static_cast<uint4*>(p.y) + i, y);
    return;
  }
  const std::int64_t e = vectors * kPerVector + (i - vectors);
  if (e >= p.n) return;
  const float a = Storage<T>::decode(ptx::ld_global(static_cast<const Element*>(p.a) + e));
  float b = 0;
  if constexpr (kIsBinary<kStep>) {
    b = Storage<T>::decode(ptx::ld_global(static_cast<const Element*>(p.b) + e));
  }
  ptx::st_global(static_cast<Element*>(p.y) + e,
                 Storage<T>::encode(evaluate<kStep>(a, b, p.constant)));
}

// An element a thread: for pointers that no vector may start at.
template <DType T, Step kStep>
__global__ void __launch_bounds__(kThreads) scalar_kernel(Params p) {
  using Element = typename Storage<T>::Element;
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const float a = Storage<T>::decode(ptx::ld_global(static_cast<const Element*>(p.a) + i));
  float b = 0;
  if constexpr (kIsBinary<kStep>) {
    b = Storage<T>::decode(ptx::ld_global(static_cast<const Element*>(p.b) + i));
  }
  ptx::st_global(static_cast<Element*>(p.y) + i,
                 Storage<T>::encode(evaluate<kStep>(a, b, p.constant)));
}

template <DType T>
__global__ void __launch_bounds__(kThreads) widen_kernel(Params p) {
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const auto* a = static_cast<const typename Storage<T>::Element*>(p.a);
  ptx::st_global(static_cast<std::uint32_t*>(p.y) + i,
                 Storage<DType::f32>::encode(Storage<T>::decode(ptx::ld_global(a + i))));
}

cudaError_t launch_threads(void (*kernel)(Params), std::int64_t threads, cudaStream_t stream,
                           const Params& params) {
  const std::int64_t grid = (threads + kThreads - 1) / kThreads;
  return ptx::launch(kernel, {.grid = dim3(unsigned(grid)), .block = dim3(kThreads)}, stream,
                     params);
}

bool is_vector_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % kVectorBytes == 0;
}

// Runs the steps of one call in order and remembers the first error.
template <DType T>
class Chain {
 public:
  explicit Chain(const bench::GeluCallArgs& call) : call_(call) {}

  template <Step kStep>
  void step(void* y, const void* a, const void* b, float constant = 0) {
    if (error_ != cudaSuccess) return;
    const Params params{.a = a, .b = b, .y = y, .constant = constant, .n = call_.n};
    constexpr int kPerVector = kVectorBytes / int(sizeof(typename Storage<T>::Element));
    const bool aligned =
        is_vector_aligned(y) && is_vector_aligned(a) && (b == nullptr || is_vector_aligned(b));
    error_ = aligned
                 ? launch_threads(&vector_kernel<T, kStep>,
                                  call_.n / kPerVector + call_.n % kPerVector, call_.stream, params)
                 : launch_threads(&scalar_kernel<T, kStep>, call_.n, call_.stream, params);
  }

  void widen(void* y, const void* a) {
    if (error_ != cudaSuccess) return;
    const Params params{.a = a, .b = nullptr, .y = y, .constant = 0, .n = call_.n};
    error_ = launch_threads(&widen_kernel<T>, call_.n, call_.stream, params);
  }

  cudaError_t error() const { return error_; }

 private:
  const bench::GeluCallArgs& call_;
  cudaError_t error_ = cudaSuccess;
};

template <DType T>
cudaError_t launch_type(const bench::GeluCallArgs& call) {
  Chain<T> chain(call);
  const void* x = call.x;
  void* a = call.scratch[0];
  void* b = call.scratch[1];
  if (call.form == bench::GeluForm::tanh) {
    chain.template step<Step::multiply>(a, x, x);
    chain.template step<Step::multiply>(b, a, x);
    chain.template step<Step::scale>(a, b, nullptr, 0.044715f);
    chain.template step<Step::add>(b, a, x);
    chain.template step<Step::scale>(a, b, nullptr, 0.79788456f);
    chain.template step<Step::tanh>(b, a, nullptr);
  } else {
    chain.template step<Step::scale>(a, x, nullptr, 0.70710678f);
    chain.template step<Step::erf>(b, a, nullptr);
  }
  chain.template step<Step::add_constant>(a, b, nullptr, 1.0f);
  chain.template step<Step::scale>(b, x, nullptr, 0.5f);
  const bool same = call.x_type == call.y_type;
  chain.template step<Step::multiply>(same ? call.y : a, a, b);
  if (!same) chain.widen(call.y, a);
  return chain.error();
}

cudaError_t launch(const bench::GeluCallArgs& call) {
  if (call.x_type != call.y_type && call.y_type != DType::f32) return cudaErrorInvalidValue;
  switch (call.x_type) {
    case DType::f32:
      return launch_type<DType::f32>(call);
    case DType::f16:
      return launch_type<DType::f16>(call);
    case DType::bf16:
      return launch_type<DType::bf16>(call);
    default:
      return cudaErrorInvalidValue;
  }
}

int launches(const bench::GeluCallArgs& call) {
  return (call.form == bench::GeluForm::tanh ? 9 : 5) + (call.x_type == call.y_type ? 0 : 1);
}

}  // namespace unfused

const bench::GeluBaseline kGeluUnfused{
    .name = "gelu_unfused", .launches = &unfused::launches, .launch = &unfused::launch};

}  // namespace libkernels::inline LK_BACKEND::bench_device
