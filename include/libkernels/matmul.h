// Matmul: C = act(alpha * scale_a * scale_b * (A B) + beta * C_in + bias).
//
// Example, a linear layer with ReLU (weights stored [n, k], as PyTorch's are):
//
//   __nv_bfloat16 *px, *pw, *py;  // device memory
//   float* pb;                    // n values
//   libkernels::MatmulOptions options;
//   options.bias = pb;
//   libkernels::matmul_relu(libkernels::row_major(px, m, k), libkernels::col_major(pw, k, n),
//                           libkernels::row_major(py, m, n), options, stream);
//
// Shapes    A is m x k, B k x n, C and C_in m x n, bias n values (one per column of C, adjacent),
//           scale_a and scale_b one value each. With a batch: `count` such products, each operand
//           a batch stride further; bias and scales are shared. No elements of C: success, nothing
//           is launched. k = 0: C = act(beta * C_in + bias), and A and B may be null. All
//           arithmetic on extents and strides is 64-bit. What a call does not read is judged all
//           the same: A and B with alpha 0, C_in with beta 0 and all of them with a count of 0 must
//           be valid views (null only if they have no elements) that do not overlap C.
// Strides   any >= 0, in elements: row major, column major and anything else, for each of A, B, C
//           and C_in. For f16, bf16, tf32 and tf32x3 a call is fast in which A and B both have one
//           unit stride, and another stride, a batch stride and an address that are multiples of 16
//           bytes: one that has not slows the other, too (on GPUs 9.x, of all but fp32: what takes
//           long is copied to scratch first). For fp32, and for f8 on others than 9.x, unit
//           strides alone count; on 9.x f8 is fastest with k adjacent in A and in B, as aligned.
//           All others are correct. 0 (broadcast) is for inputs only, batch strides of inputs
//           included; elements and products of C must not overlap. Pointers need the alignment
//           of one element, no more, the bias included.
// Types     A and B -> C: f16 -> f16 or f32; bf16 -> bf16 or f32; f8_e4m3 and f8_e5m2, mixed or
//           not, -> f16, bf16 or f32; f32 -> f32. Bias: f32 or C's type. C_in: C's type. Scales:
//           f32. Everything behind the product is fp32 arithmetic, rounded once more at the store:
//           alpha * scale_a * scale_b, in this order, which may overflow or underflow on its own;
//           that times the sum; plus beta * C_in, fused; plus the bias.
// Options   alpha 0: A and B are not read. beta 0: C_in is not read (C may hold NaN). `math` says
//           how f32 inputs are multiplied; other types ignore it:
//             fp32    fused multiply-adds in fp32: nothing is rounded behind the caller's back
//             tf32    on tensor cores, inputs rounded to nearest, to 11 significant bits; below
//                     2^-126 to multiples of 2^-136, and from 0x1.ffep127 on to infinity
//             tf32x3  on tensor cores, inputs split in two such parts, three products: 22 bits of
//                     an input, or its multiple of 2^-136 where that is coarser (below 2^-114)
// Accuracy  against the exact value, S = sum |alpha scale_a scale_b a b| + |beta c_in| + |bias| and
//           u = 2^-24: half an ulp of C's type plus E,
//             f32, fp32         E = u (4 + k) S; zero-mean random data: u max(8, sqrt(k) / 2) S
//             bf16, f16, f8     E = 2^-23 (3 + k / 2) S; random: 2^-23 max(2, sqrt(k) / 8) S
//               on GPUs 8.x     E = 2^-23 (3 + 5 k / 8) S; random: 2^-23 max(4, sqrt(k) / 4) S
//               f8 on GPUs 9.x  E = 2^-6 S; random: 2^-9 S. Tensor cores keep about 13 bits of a
//                               sum of f8; every 128 of k it is added to one in fp32
//             f32, tf32         E = 2^-10 S more than bf16
//             f32, tf32x3       at most 4 times the largest error of fp32, plus 2^-21 S, k <= 16384
//                               and inputs 0 or of at least 2^-110; below, see `math`
//           Tensor cores give a subnormal the exponent of their least normal value and cut off what
//           is small beside it. For them S has max(|a|, t) max(|b|, t) in place of |a b| where
//           neither is 0, with t = 2^-14 for f16 and f8 (2^-6 for e4m3 on GPUs 9.x), 2^-126 for
//           bf16 and tf32.
//           Sums are fp32 before they are scaled, so add 2^-149 (2 + k |alpha scale_a scale_b|) to
//           E (tf32x3: 3 k): of a = b = 2^-80 nothing is left, whatever alpha is.
//           8.x adds the products in blocks of 8 (tf32: 4) and keeps 24 bits of each, later GPUs
//           blocks of 16 (8) and 25 bits.
//           With a GeLU, E grows by 1.13 and gelu.h's own bound is added. Integers are exact while
//           all partial sums are below 2^24 (tf32: inputs of at most 11 bits; tf32x3: of at most 22
//           bits, one factor of each product of at most 11; f8 on GPUs 9.x: and those within each
//           128 of k below 2^13).
// Values    NaN propagates, relu(NaN) = NaN, relu(-inf) = 0; overflow gives inf. Subnormals are
//           kept, but for the small inputs of tf32 and tf32x3 above: of these, what is rounded to 0
//           gives NaN with an infinity. Nothing outside the operands influences a result.
// Bits      the same inputs give the same bits in every run, on any stream. A row's bits may depend
//           on the shape of the whole problem.
// In place  C_in may be C itself (and is, if beta is set and c_in is not): same pointer, strides
//           and type. Any other overlap of C's address range with an input, bias and scales
//           included, is refused.
// Traffic   least: A, B and (if beta is not 0) C_in read once, C written once.
// Scratch   on GPUs 9.x for all but fp32, see Strides: about the bytes of the operands that are
//           copied; matmul_workspace_size tells. Without a workspace they are allocated on the
//           stream. Two calls that may run at once need two workspaces.
// Calls     asynchronous on the stream, on the current device, safe from any thread, and may be
//           captured into a graph from the first call on.
// Errors    as in gelu.h: invalid_argument, unsupported (another mix of types, a device that no
//           kernel runs on), cuda_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "c_api.h"
#include "error.h"
#include "explain.h"
#include "matrix.h"

namespace libkernels {

enum class Activation : std::int32_t {
  none = LK_ACT_NONE,
  relu = LK_ACT_RELU,
  gelu_tanh = LK_ACT_GELU_TANH,
  gelu_erf = LK_ACT_GELU_ERF,
};

enum class Math : std::int32_t {
  fp32 = LK_MATH_FP32,
  tf32 = LK_MATH_TF32,
  tf32x3 = LK_MATH_TF32X3,
};

// One value per column of C, adjacent in device memory: constructed from their pointer.
struct Bias {
  const void* data = nullptr;
  lk_dtype dtype = 0;

  constexpr Bias() = default;
  constexpr Bias(std::nullptr_t) {}
  template <class T, DType Type = dtype_of<std::remove_const_t<T>>::value>
  constexpr Bias(T* p) : data(p), dtype(p == nullptr ? 0 : static_cast<lk_dtype>(Type)) {}
};

// Another C_in than C: a view of C's shape and type. Empty: C itself.
struct CIn {
  lk_cmatrix view{};
  bool given = false;

  constexpr CIn() = default;
  template <class V, std::enable_if_t<detail::view_rank_v<V> == 2, int> = 0>
  constexpr CIn(const V& v) : view(detail::input(v)), given(true) {}
};

// Several products at once: the p-th starts p strides (in elements) behind the views.
struct Batch {
  std::int64_t count = 0;
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
  std::int64_t c_stride = 0;
  std::int64_t c_in_stride = 0;  // if c_in is given; otherwise C's counts
  bool given = false;            // false: one product, the fields above mean nothing

  constexpr Batch() = default;
  constexpr Batch(std::int64_t n, std::int64_t a, std::int64_t b, std::int64_t c,
                  std::int64_t c_in = 0)
      : count(n), a_stride(a), b_stride(b), c_stride(c), c_in_stride(c_in), given(true) {}
};

struct MatmulOptions {
  float alpha = 1.0f;
  float beta = 0.0f;
  Activation activation = Activation::none;
  Math math = Math::fp32;
  Bias bias;                       // a device pointer to f32 or C's type
  const float* scale_a = nullptr;  // device pointers to one value; null: 1
  const float* scale_b = nullptr;
  CIn c_in;  // read if beta is not 0
  Batch batch;
  int max_sms = 0;                  // use at most this many SMs' worth of CTAs; 0: all
  bool pdl = false;                 // ignored by the kernels of this version
  void* workspace = nullptr;        // device scratch, 256-byte aligned; null: allocated if needed
  std::size_t workspace_bytes = 0;  // its size
};

namespace detail {

// `c_options(o)` holds pointers into `o`, which must outlive it.
inline lk_matmul_options c_options(const MatmulOptions& o) {
  lk_matmul_options c = with_call_options<lk_matmul_options>(o);
  c.alpha = o.alpha;
  c.has_alpha = 1;
  c.beta = o.beta;
  c.activation = static_cast<lk_activation>(o.activation);
  c.math = static_cast<lk_math>(o.math);
  c.bias = o.bias.data;
  c.bias_dtype = o.bias.dtype;
  c.scale_a = o.scale_a;
  c.scale_b = o.scale_b;
  c.c_in = o.c_in.given ? &o.c_in.view : nullptr;
  if (o.batch.given) {
    c.has_batch = 1;
    c.batch_count = o.batch.count;
    c.a_batch_stride = o.batch.a_stride;
    c.b_batch_stride = o.batch.b_stride;
    c.c_batch_stride = o.batch.c_stride;
    c.c_in_batch_stride = o.batch.c_in_stride;
  }
  return c;
}

// The views of a call in the C ABI's form.
struct MatmulViews {
  lk_cmatrix a, b;
  lk_matrix c;
};
template <class A, class B, class C>
MatmulViews matmul_views(const A& a, const B& b, const C& c) {
  static_assert(view_rank_v<A> == 2 && view_rank_v<B> == 2 && view_rank_v<C> == 2,
                "matmul: a, b and c are matrices; a vector has as_row() and as_column()");
  return {input(a), input(b), output(c)};
}

}  // namespace detail

// Enqueues C = act(alpha scale_a scale_b (A B) + beta C_in + bias) on `stream` (null: the legacy
// default stream). A and B are a MatrixView<T>, a MatrixView<const T> or an mdspan of rank 2; C
// likewise, with mutable elements.
template <class A, class B, class C>
void matmul(const A& a, const B& b, const C& c, const MatmulOptions& options = {},
            cudaStream_t stream = nullptr) {
  const detail::MatmulViews v = detail::matmul_views(a, b, c);
  const lk_matmul_options o = detail::c_options(options);
  throw_if_failed(lk_matmul(&v.a, &v.b, &v.c, &o, stream));
}

// matmul with the activation relu, whatever the options say.
template <class A, class B, class C>
void matmul_relu(const A& a, const B& b, const C& c, MatmulOptions options = {},
                 cudaStream_t stream = nullptr) {
  options.activation = Activation::relu;
  matmul(a, b, c, options, stream);
}

// Bytes of device scratch with which matmul(a, b, c, options) allocates nothing: 0 for most calls,
// but not for a K so deep that it is cut in parts of which each has its own sums, and not for what
// is copied first (Scratch, above).
template <class A, class B, class C>
std::size_t matmul_workspace_size(const A& a, const B& b, const C& c,
                                  const MatmulOptions& options = {}) {
  const detail::MatmulViews v = detail::matmul_views(a, b, c);
  const lk_matmul_options o = detail::c_options(options);
  std::size_t bytes = 0;
  throw_if_failed(lk_matmul_workspace_size(&v.a, &v.b, &v.c, &o, &bytes));
  return bytes;
}

// Which kernel matmul(a, b, c, options) would launch on the current device, and why (explain.h).
template <class A, class B, class C>
std::string matmul_explain(const A& a, const B& b, const C& c, const MatmulOptions& options = {}) {
  const detail::MatmulViews v = detail::matmul_views(a, b, c);
  const lk_matmul_options o = detail::c_options(options);
  return detail::read_explanation([&](char* buffer, std::size_t capacity, std::size_t* length) {
    return lk_matmul_explain(&v.a, &v.b, &v.c, &o, buffer, capacity, length);
  });
}

}  // namespace libkernels
