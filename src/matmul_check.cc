// The argument checks of matmul.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "include/libkernels/error.h"
#include "src/check.h"
#include "src/matmul.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr const char* kOp = Host::kName;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;  // of a view, exclusive (c_api.h)

template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(fmt::format_string<Args...> format,
                                                   Args&&... args) {
  throw invalid_argument("matmul: " + fmt::format(format, std::forward<Args>(args)...));
}

bool is_offered(DType a, DType b, DType c) {
  if (is_f8(a) && is_f8(b)) return c == DType::f16 || c == DType::bf16 || c == DType::f32;
  if (a != b) return false;
  if (a == DType::f32) return c == DType::f32;
  return (a == DType::f16 || a == DType::bf16) && (c == a || c == DType::f32);
}

void check_types(DType a, DType b, DType c) {
  if (is_offered(a, b, c)) return;
  throw unsupported(fmt::format(
      "matmul: a is {}, b is {} and c is {}; offered are f32, f32 -> f32; f16, f16 -> f16 or f32; "
      "bf16, bf16 -> bf16 or f32; and f8_e4m3 or f8_e5m2, each -> f16, bf16 or f32",
      name(a), name(b), name(c)));
}

lk_matmul_options options_of(const MatmulCall& call) {
  lk_matmul_options o = checked_options(kOp, call.options);
  if (o.has_alpha != 0 && o.has_alpha != 1) refuse("options.has_alpha is {}; 0 or 1", o.has_alpha);
  if (o.has_alpha == 0 && o.alpha != 0) {
    refuse("options.alpha is {} with options.has_alpha 0; it is read only with has_alpha 1",
           o.alpha);
  }
  if (o.has_alpha == 0) o.alpha = 1.0f;
  if (o.activation < LK_ACT_NONE || o.activation > LK_ACT_GELU_ERF) {
    refuse(
        "options.activation is {}; 0 (LK_ACT_NONE), 1 (LK_ACT_RELU), 2 (LK_ACT_GELU_TANH) or 3 "
        "(LK_ACT_GELU_ERF)",
        o.activation);
  }
  if (o.math < LK_MATH_FP32 || o.math > LK_MATH_TF32X3) {
    refuse("options.math is {}; 0 (LK_MATH_FP32), 1 (LK_MATH_TF32) or 2 (LK_MATH_TF32X3)", o.math);
  }
  if (o.has_batch != 0 && o.has_batch != 1) refuse("options.has_batch is {}; 0 or 1", o.has_batch);
  const std::pair<const char*, std::int64_t> batch[] = {{"batch_count", o.batch_count},
                                                        {"a_batch_stride", o.a_batch_stride},
                                                        {"b_batch_stride", o.b_batch_stride},
                                                        {"c_batch_stride", o.c_batch_stride},
                                                        {"c_in_batch_stride", o.c_in_batch_stride}};
  for (const auto& [field, value] : batch) {
    if (o.has_batch == 0 && value != 0) {
      refuse("options.{} is {} with options.has_batch 0; it is read only with has_batch 1", field,
             value);
    }
  }
  if (o.batch_count < 0) refuse("options.batch_count is {}; it is >= 0", o.batch_count);
  for (const auto& [field, value] : batch) {
    if (o.batch_count > 1 && value < 0) {
      refuse("options.{} is {} with {} products; strides are >= 0", field, value, o.batch_count);
    }
  }
  if (o.has_batch == 0) o.batch_count = 1;
  if (o.c_in == nullptr && o.c_in_batch_stride != 0) {
    refuse(
        "options.c_in_batch_stride is {} with options.c_in null; C_in is c then, with its batch "
        "stride, and this is 0",
        o.c_in_batch_stride);
  }
  return o;
}

// The operand with the bytes of its whole batch.
Operand with_batch(Operand v, std::int64_t count, std::int64_t stride) {
  if (v.empty() || count <= 1) return v;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count - 1, stride, &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t(size_of(v.dtype)), &bytes) ||
      __builtin_add_overflow(bytes, v.bytes, &bytes) || bytes >= kMostBytes ||
      reinterpret_cast<std::uintptr_t>(v.data) + std::uint64_t(bytes) <
          reinterpret_cast<std::uintptr_t>(v.data)) {
    refuse(
        "the batch of {} is too large: {} products with batch stride {}; it spans fewer than 2^56 "
        "bytes from the first to the last",
        v.name, count, stride);
  }
  v.bytes = bytes;
  return v;
}

// No two products of C share an element: each of the three strides, taken in order of size, steps
// over all that the smaller ones reach. (Strides that interleave otherwise are refused: whether
// three of them meet has no short answer.)
void check_batch_of_c(const Operand& c, std::int64_t count, std::int64_t stride) {
  if (c.empty() || count <= 1) return;
  std::pair<std::int64_t, std::int64_t> dims[] = {
      {c.row_stride, c.rows}, {c.col_stride, c.cols}, {stride, count}};
  std::sort(std::begin(dims), std::end(dims));
  std::int64_t reach = 0;
  for (const auto& [step, extent] : dims) {
    if (extent <= 1) continue;
    if (step <= reach) {
      refuse(
          "options.c_batch_stride is {} with {} products of {} x {} elements, strides {} and {}; "
          "the products of an output must not overlap, and each stride must step over all that "
          "the smaller ones reach",
          stride, count, c.rows, c.cols, c.row_stride, c.col_stride);
    }
    reach += (extent - 1) * step;
  }
}

Operand bias_operand(const lk_matmul_options& o, const Operand& c) {
  if (o.bias == nullptr && o.bias_dtype != 0) {
    refuse("options.bias is null with options.bias_dtype {}; null goes with 0", o.bias_dtype);
  }
  const lk_cmatrix view{
      o.bias, o.bias == nullptr ? LK_F32 : o.bias_dtype, o.bias == nullptr ? 0 : 1, c.cols, c.cols,
      1};
  const Operand bias = check_input(kOp, "options.bias", &view);
  if (bias.dtype != DType::f32 && bias.dtype != c.dtype) {
    throw unsupported(
        fmt::format("matmul: options.bias is {} with c {}; offered are f32 and c's type",
                    name(bias.dtype), name(c.dtype)));
  }
  return bias;
}

Operand scale_operand(const char* name, const float* scale) {
  const lk_cmatrix view{scale, LK_F32, scale == nullptr ? 0 : 1, 1, 1, 1};
  return check_input(kOp, name, &view);
}

// C_in: C itself unless the options name another.
Operand c_in_operand(const lk_matmul_options& o, const Operand& c, std::int64_t* batch_stride) {
  *batch_stride = o.c_in == nullptr ? o.c_batch_stride : o.c_in_batch_stride;
  if (o.c_in == nullptr) return c;
  const Operand c_in =
      with_batch(check_input(kOp, "options.c_in", o.c_in), o.batch_count, *batch_stride);
  check_same_shape(c_in, c);
  if (c_in.dtype != c.dtype) {
    throw unsupported(fmt::format("matmul: options.c_in is {} and c is {}; they have one type",
                                  name(c_in.dtype), name(c.dtype)));
  }
  return c_in;
}

Matrix matrix(const Operand& v, std::int64_t batch_stride) {
  return {v.data, v.dtype, v.row_stride, v.col_stride, batch_stride};
}

void check_shapes(const Operand& a, const Operand& b, const Operand& c) {
  if (a.cols == b.rows && a.rows == c.rows && b.cols == c.cols) return;
  refuse("a is {} x {}, b is {} x {} and c is {} x {}; m x k, k x n and m x n are needed", a.rows,
         a.cols, b.rows, b.cols, c.rows, c.cols);
}

}  // namespace

Host::Checked Host::checked(const MatmulCall& call) {
  const lk_matmul_options o = options_of(call);
  const std::int64_t batch = o.batch_count;
  const Operand a = with_batch(check_input(kOp, "a", call.a), batch, o.a_batch_stride);
  const Operand b = with_batch(check_input(kOp, "b", call.b), batch, o.b_batch_stride);
  const Operand one_c = check_output(kOp, "c", call.c);
  check_shapes(a, b, one_c);
  check_types(a.dtype, b.dtype, one_c.dtype);
  check_batch_of_c(one_c, batch, o.c_batch_stride);
  const Operand c = with_batch(one_c, batch, o.c_batch_stride);

  std::int64_t c_in_batch_stride = 0;
  const Operand c_in = c_in_operand(o, c, &c_in_batch_stride);
  const Operand bias = bias_operand(o, c);
  const Operand scale_a = scale_operand("options.scale_a", o.scale_a);
  const Operand scale_b = scale_operand("options.scale_b", o.scale_b);
  for (const Operand* input : {&a, &b, &bias, &scale_a, &scale_b}) {
    check_disjoint(c, *input, InPlace::refused);
  }
  const bool one_place = batch <= 1 || c_in_batch_stride == o.c_batch_stride;
  check_disjoint(c, c_in, one_place ? InPlace::allowed : InPlace::refused);
  for (const Operand* v : {&a, &b, &c, &c_in, &bias, &scale_a, &scale_b}) {
    check_workspace_apart(o.call, *v);
    if (costly_checks() && batch > 0) check_memory(*v, device());
  }

  const bool product = o.alpha != 0 && a.cols != 0;  // a NaN for alpha counts
  Problem p{.a = matrix(a, o.a_batch_stride),
            .b = matrix(b, o.b_batch_stride),
            .c = matrix(c, o.c_batch_stride),
            .c_in = matrix(c_in, c_in_batch_stride),
            .m = c.rows,
            .n = c.cols,
            .k = product ? a.cols : 0,
            .batch = batch,
            .alpha = o.alpha,
            .beta = o.beta,
            .bias = o.bias,
            .bias_type = bias.dtype,
            .scale_a = o.scale_a,
            .scale_b = o.scale_b,
            .activation = static_cast<Activation>(o.activation),
            .math = static_cast<Math>(o.math),
            .device = nullptr};
  if (o.beta == 0) p.c_in.data = nullptr;
  return {.problem = p, .options = o, .k = a.cols, .empty = c.empty() || batch == 0};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
