// The backend of this build as an object.
#include "src/backend.h"

#include "include/libkernels/error.h"
#include "src/dispatch.h"
#include "src/gelu.h"
#include "src/registry.h"
#include "src/softmax.h"

namespace libkernels {
namespace {

// An operation that the C ABI reserves and that has no kernels yet.
[[noreturn]] void refuse_absent() {
  throw unsupported("this version of libkernels has no kernels for the operation");
}
template <class Call>
constexpr Functions<Call> absent() {
  return {[](const Call&) { refuse_absent(); }, [](const Call&) -> std::size_t { refuse_absent(); },
          [](const Call&) -> std::string { refuse_absent(); },
          [](const Call&) -> CallResources { refuse_absent(); }};
}

}  // namespace

#if defined(LK_EMULATE)
const Backend& emu_backend() {
#else
const Backend& cuda_backend() {
#endif
  static constexpr Backend backend{
      .name = LK_BACKEND_NAME,
      .device = &device,
      .kernels = &kernels,
      .preload = &preload,
      .gelu = {&op::gelu::run, &op::gelu::workspace, &op::gelu::explain, &op::gelu::resources},
      .softmax = {&op::softmax::run, &op::softmax::workspace, &op::softmax::explain,
                  &op::softmax::resources},
      .row_sum = absent<RowSumCall>(),
      .matmul = absent<MatmulCall>(),
  };
  return backend;
}

inline namespace LK_BACKEND {

#if defined(LK_EMULATE)
Device& device() { return emu_device(); }
#else
Device& device() { return cuda_device(); }
#endif

}  // namespace LK_BACKEND

}  // namespace libkernels
