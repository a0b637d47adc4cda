#include "src/matmul.h"

#include <fmt/format.h>

#include <utility>

#include "include/libkernels/error.h"
#include "src/check.h"
#include "src/matmul_check.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
    &sm80,
};

std::string describe_matrix(const char* name, const Matrix& m, std::int64_t rows, std::int64_t cols,
                            std::int64_t batch) {
  return fmt::format("{}: {}, {} x {}, strides {} and {}{}\n", name, libkernels::name(m.type), rows,
                     cols, m.row_stride, m.col_stride,
                     batch > 1 ? fmt::format(", batch stride {}", m.batch_stride) : "");
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

std::string describe_problem(const Call& call) {
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

}  // namespace

KernelTable<Problem> table() { return kTable; }

void run(const MatmulCall& call) {
  const Call c = checked(call);
  if (c.empty) return;
  const DeviceProperties& properties = current_device(LK_OP_MATMUL);
  const auto& row = choose(LK_OP_MATMUL, table(), c.problem, properties, call.pin, nullptr);
  launch(LK_OP_MATMUL, row, c.problem, properties, c.options.call, call.stream);
}

std::size_t workspace(const MatmulCall& call) {
  const Call c = checked(call);
  if (c.empty) return 0;
  const DeviceProperties& properties = current_device(LK_OP_MATMUL);
  return choose(LK_OP_MATMUL, table(), c.problem, properties, call.pin, nullptr)
      .workspace_bytes(c.problem, properties);
}

std::string explain(const MatmulCall& call) {
  const Call c = checked(call);
  const std::string problem = describe_problem(c);
  if (c.empty) return problem + "no elements: nothing is launched\n";
  return problem + explain_dispatch(LK_OP_MATMUL, table(), c.problem, c.options.call, call.pin);
}

CallResources resources(const MatmulCall& call) {
  Call c = checked(call);
  if (c.empty) throw invalid_argument("matmul: no kernel runs for a problem without elements");
  const DeviceProperties& properties = current_device(LK_OP_MATMUL);
  c.problem.device = &properties;
  const auto& row = choose(LK_OP_MATMUL, table(), c.problem, properties, call.pin, nullptr);
  return call_resources(LK_OP_MATMUL, row, c.problem);
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
