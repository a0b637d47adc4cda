// One backend as an object: how lkbench and the tests, which hold both backends in one binary,
// choose between them at run time. The C ABI is this same object behind extern "C" functions
// (src/c_api.cc), bound to one backend when the library is linked.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "include/libkernels/c_api.h"
#include "src/device.h"

namespace libkernels {

// What the kernel of a call takes of an SM and how it would be launched: for occupancy and waves.
struct CallResources {
  const char* kernel;  // its name
  int threads_per_cta;
  int registers;         // per thread: the compiler's count, or the launch bounds' limit
  bool registers_exact;  // which of the two
  std::size_t smem_bytes;
  std::size_t local_bytes;
};

// An operation's call. `options` may be null: defaults. `pin` names the kernel that must run; null:
// walk the table.
struct GeluCall {
  const lk_cmatrix* x;
  const lk_matrix* y;
  const lk_gelu_options* options;
  cudaStream_t stream = nullptr;
  const char* pin = nullptr;
};

struct SoftmaxCall {
  const lk_cmatrix* x;
  const lk_matrix* y;
  const lk_softmax_options* options;
  cudaStream_t stream = nullptr;
  const char* pin = nullptr;
};

struct RowSumCall {
  const lk_cmatrix* x;
  const lk_matrix* y;
  const lk_row_sum_options* options;
  cudaStream_t stream = nullptr;
  const char* pin = nullptr;
};

struct MatmulCall {
  const lk_cmatrix* a;
  const lk_cmatrix* b;
  const lk_matrix* c;
  const lk_matmul_options* options;
  cudaStream_t stream = nullptr;
  const char* pin = nullptr;
};

// The functions of one operation.
template <class Call>
struct Functions {
  void (*run)(const Call& call);
  std::size_t (*workspace)(const Call& call);
  std::string (*explain)(const Call& call);
  CallResources (*resources)(const Call& call);
};

// Every member throws exceptions of include/libkernels/error.h and nothing else (but bad_alloc).
struct Backend {
  const char* name;  // "cuda" or "emu"
  Device& (*device)();
  std::span<const lk_kernel_info> (*kernels)();
  void (*preload)(lk_op op);

  Functions<GeluCall> gelu;
  Functions<SoftmaxCall> softmax;
  Functions<RowSumCall> row_sum;
  Functions<MatmulCall> matmul;
};

// Each defined where its backend is linked.
const Backend& cuda_backend();
const Backend& emu_backend();

}  // namespace libkernels
