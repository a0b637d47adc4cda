// extern "C" over the backend that this library is linked with.
#include "include/libkernels/c_api.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "include/libkernels/error.h"
#include "src/backend.h"
#include "src/error.h"
#include "src/registry.h"

namespace {

const libkernels::Backend& backend() {
#if defined(LK_EMULATE)
  return libkernels::emu_backend();
#else
  return libkernels::cuda_backend();
#endif
}

// Nothing may leave an extern "C" function but a status.
template <class Body>
lk_status guarded(const Body& body) noexcept {
  try {
    body();
    return LK_SUCCESS;
  } catch (const libkernels::error& e) {
    return libkernels::record_error(e.status(), e.what());
  } catch (const std::bad_alloc&) {
    return libkernels::record_error(LK_INTERNAL_ERROR, "libkernels: out of host memory");
  } catch (const std::exception& e) {
    return libkernels::record_error(LK_INTERNAL_ERROR, e.what());
  } catch (...) {
    return libkernels::record_error(LK_INTERNAL_ERROR, "libkernels: an unknown exception");
  }
}

void need(const void* pointer, const char* operation, const char* text) {
  if (pointer == nullptr) throw libkernels::invalid_argument(std::string(operation) + text);
}

// As snprintf does it.
void copy_text(const std::string& text, char* buffer, size_t capacity, size_t* length) {
  if (length != nullptr) *length = text.size();
  if (capacity == 0) return;
  const size_t n = text.size() < capacity ? text.size() : capacity - 1;
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
}

// The three functions of an operation.
template <class Call>
lk_status run(const libkernels::Functions<Call>& op, const std::type_identity_t<Call>& call) {
  return guarded([&] { op.run(call); });
}

template <class Call>
lk_status workspace_size(const char* name, const libkernels::Functions<Call>& op,
                         const std::type_identity_t<Call>& call, size_t* bytes) {
  return guarded([&] {
    need(bytes, name, "_workspace_size: bytes is null; a place for the result is needed");
    *bytes = op.workspace(call);
  });
}

template <class Call>
lk_status explain(const char* name, const libkernels::Functions<Call>& op,
                  const std::type_identity_t<Call>& call, char* buffer, size_t capacity,
                  size_t* length) {
  return guarded([&] {
    if (capacity != 0) need(buffer, name, "_explain: buffer is null, but capacity is not 0");
    copy_text(op.explain(call), buffer, capacity, length);
  });
}

}  // namespace

extern "C" {

const char* lk_status_name(lk_status status) { return libkernels::status_name(status); }

const char* lk_last_error_message(void) { return libkernels::last_error_message(); }

lk_status lk_gelu(const lk_cmatrix* x, const lk_matrix* y, const lk_gelu_options* options,
                  cudaStream_t stream) {
  return run(backend().gelu, {x, y, options, stream});
}

lk_status lk_gelu_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                 const lk_gelu_options* options, size_t* bytes) {
  return workspace_size("gelu", backend().gelu, {x, y, options}, bytes);
}

lk_status lk_gelu_explain(const lk_cmatrix* x, const lk_matrix* y, const lk_gelu_options* options,
                          char* buffer, size_t capacity, size_t* length) {
  return explain("gelu", backend().gelu, {x, y, options}, buffer, capacity, length);
}

lk_status lk_softmax(const lk_cmatrix* x, const lk_matrix* y, const lk_softmax_options* options,
                     cudaStream_t stream) {
  return run(backend().softmax, {x, y, options, stream});
}

lk_status lk_softmax_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                    const lk_softmax_options* options, size_t* bytes) {
  return workspace_size("softmax", backend().softmax, {x, y, options}, bytes);
}

lk_status lk_softmax_explain(const lk_cmatrix* x, const lk_matrix* y,
                             const lk_softmax_options* options, char* buffer, size_t capacity,
                             size_t* length) {
  return explain("softmax", backend().softmax, {x, y, options}, buffer, capacity, length);
}

lk_status lk_row_sum(const lk_cmatrix* x, const lk_matrix* y, const lk_row_sum_options* options,
                     cudaStream_t stream) {
  return run(backend().row_sum, {x, y, options, stream});
}

lk_status lk_row_sum_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                    const lk_row_sum_options* options, size_t* bytes) {
  return workspace_size("row_sum", backend().row_sum, {x, y, options}, bytes);
}

lk_status lk_row_sum_explain(const lk_cmatrix* x, const lk_matrix* y,
                             const lk_row_sum_options* options, char* buffer, size_t capacity,
                             size_t* length) {
  return explain("row_sum", backend().row_sum, {x, y, options}, buffer, capacity, length);
}

lk_status lk_matmul(const lk_cmatrix* a, const lk_cmatrix* b, const lk_matrix* c,
                    const lk_matmul_options* options, cudaStream_t stream) {
  return run(backend().matmul, {a, b, c, options, stream});
}

lk_status lk_matmul_workspace_size(const lk_cmatrix* a, const lk_cmatrix* b, const lk_matrix* c,
                                   const lk_matmul_options* options, size_t* bytes) {
  return workspace_size("matmul", backend().matmul, {a, b, c, options}, bytes);
}

lk_status lk_matmul_explain(const lk_cmatrix* a, const lk_cmatrix* b, const lk_matrix* c,
                            const lk_matmul_options* options, char* buffer, size_t capacity,
                            size_t* length) {
  return explain("matmul", backend().matmul, {a, b, c, options}, buffer, capacity, length);
}

size_t lk_kernel_count(void) { return libkernels::kernels().size(); }

lk_status lk_kernel_at(size_t index, const lk_kernel_info** info) {
  return guarded([&] {
    need(info, "kernel_at", ": info is null; a place for the result is needed");
    const auto kernels = libkernels::kernels();
    if (index >= kernels.size()) {
      throw libkernels::invalid_argument("kernel_at: index is " + std::to_string(index) +
                                         "; it is below lk_kernel_count(), " +
                                         std::to_string(kernels.size()));
    }
    *info = &kernels[index];
  });
}

const lk_version_info* lk_version(void) { return &libkernels::version_info(); }

lk_status lk_preload(lk_op op) {
  return guarded([&] { backend().preload(op); });
}

}  // extern "C"
