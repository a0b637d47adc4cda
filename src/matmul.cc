#include "src/matmul.h"

#include <fmt/format.h>

#include <utility>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
    &sm80_skinny,  // very few rows or columns
#if defined(LK_HAVE_SM90)
    &sm90_skinny,  // few rows or columns, or a deep K
    &sm90,         // operands that tensor copies can read
    &sm90_repack,  // operands that they can read once copied
#endif
    &sm80,  // everything
};

std::string describe_matrix(const char* name, const Matrix& m, std::int64_t rows, std::int64_t cols,
                            std::int64_t batch) {
  return describe_view(name, m.type, rows, cols, m.row_stride, m.col_stride) +
         (batch > 1 ? fmt::format(", batch stride {}\n", m.batch_stride) : "\n");
}

const char* name(Activation a) {
  switch (a) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::gelu_erf:
      return "gelu_erf";
  }
  return "?";
}
const char* name(Math m) {
  switch (m) {
    case Math::fp32:
      return "fp32";
    case Math::tf32:
      return "tf32";
    case Math::tf32x3:
      return "tf32x3";
  }
  return "?";
}

}  // namespace

KernelTable<Problem> Host::table() { return kTable; }

std::string Host::describe(const Checked& call) {
  const Problem& p = call.problem;
  std::string text = fmt::format("matmul, {} x {} x {} (m, n, k)", p.m, p.n, call.k);
  if (call.options.has_batch != 0) text += fmt::format(", batch of {}", p.batch);
  if (p.a.type == DType::f32) text += fmt::format(", math {}", name(p.math));
  text += fmt::format(", activation {}\n", name(p.activation));
  text += describe_matrix("a", p.a, p.m, call.k, p.batch);
  text += describe_matrix("b", p.b, call.k, p.n, p.batch);
  text += describe_matrix("c", p.c, p.m, p.n, p.batch);
  if (p.c_in.data != nullptr) {
    text += p.c_in.data == p.c.data ? "c_in: c, in place\n"
                                    : describe_matrix("c_in", p.c_in, p.m, p.n, p.batch);
  }
  if (p.bias != nullptr) text += fmt::format("bias: {}\n", libkernels::name(p.bias_type));
  if (p.k == 0) text += "no product: k or alpha is 0\n";
  return text;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
