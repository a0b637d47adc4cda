#include "src/registry.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "include/libkernels/error.h"
#include "src/check.h"
#include "src/dispatch.h"
#include "src/gelu.h"
#include "src/matmul.h"
#include "src/row_sum.h"
#include "src/softmax.h"

#if !defined(LK_VERSION_MAJOR) || !defined(LK_ARCHS)
#error "src/CMakeLists.txt defines the version and the generations built"
#endif

namespace libkernels::inline LK_BACKEND {
namespace {

// One operation, its table reduced to what does not depend on its Problem.
struct Operation {
  lk_op op;
  const char* name;
  void (*append)(std::vector<lk_kernel_info>* kernels);
  void (*preload)(const DeviceProperties& properties);
};

template <class Host>
constexpr Operation operation() {
  return {.op = Host::kId,
          .name = Host::kName,
          .append =
              [](std::vector<lk_kernel_info>* kernels) {
                for (const auto* row : Host::table()) {
                  kernels->push_back({row->name, Host::kId, static_cast<std::int32_t>(row->arch),
                                      LK_BACKEND_NAME});
                }
              },
          .preload =
              [](const DeviceProperties& properties) {
                for (const auto* row : Host::table()) {
                  if (!runs_on(row->arch, properties.cc_major, properties.cc_minor)) continue;
                  const cudaError_t error = row->preload();
                  if (error != cudaSuccess) refuse_load(Host::kId, row->name, error);
                }
              }};
}

// One line an operation, in the order of their numbers.
constexpr Operation kOperations[] = {
    operation<op::gelu::Host>(),
    operation<op::softmax::Host>(),
    operation<op::row_sum::Host>(),
    operation<op::matmul::Host>(),
};

[[noreturn]] void refuse_operation(lk_op op) {
  std::string known;
  for (const Operation& o : kOperations) known += fmt::format(", {} ({})", o.op, o.name);
  throw invalid_argument(
      fmt::format("preload: {} is no operation; there are 0 (all){}", op, known));
}

}  // namespace

std::span<const lk_kernel_info> kernels() {
  // Never destroyed: the C ABI promises that the entries live as long as the program.
  static const auto& list = *new std::vector<lk_kernel_info>([] {
    std::vector<lk_kernel_info> l;
    for (const Operation& o : kOperations) o.append(&l);
    return l;
  }());
  return list;
}

const char* op_name(lk_op op) {
  for (const Operation& o : kOperations) {
    if (o.op == op) return o.name;
  }
  return nullptr;
}

const lk_version_info& version_info() {
  static constexpr lk_version_info info{LK_VERSION_MAJOR, LK_VERSION_MINOR, LK_VERSION_PATCH,
                                        LK_ARCHS,         LK_BACKEND_NAME,  CUDART_VERSION};
  return info;
}

void preload(lk_op op) {
  check_environment("preload");
  if (op != LK_OP_ALL && op_name(op) == nullptr) refuse_operation(op);
  for (const Operation& o : kOperations) {
    if (op == LK_OP_ALL || op == o.op) o.preload(current_device(o.op));
  }
}

}  // namespace libkernels::inline LK_BACKEND
