// The backend of this build as an object.
#include "src/backend.h"

#include "src/dispatch.h"
#include "src/gelu.h"
#include "src/matmul.h"
#include "src/registry.h"
#include "src/row_sum.h"
#include "src/softmax.h"

namespace libkernels {
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
      .gelu = Face<op::gelu::Host>::functions(),
      .softmax = Face<op::softmax::Host>::functions(),
      .row_sum = Face<op::row_sum::Host>::functions(),
      .matmul = Face<op::matmul::Host>::functions(),
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
