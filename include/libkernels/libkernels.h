// Everything: the operations, and what the library tells of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch.h"
#include "c_api.h"
#include "dtype.h"
#include "error.h"
#include "explain.h"
#include "gelu.h"
#include "matmul.h"
#include "matrix.h"
#include "row_sum.h"
#include "softmax.h"

namespace libkernels {

enum class Op : std::int32_t {
  all = LK_OP_ALL,
  gelu = LK_OP_GELU,
  softmax = LK_OP_SOFTMAX,
  row_sum = LK_OP_ROW_SUM,
  matmul = LK_OP_MATMUL,
};

struct KernelInfo {
  const char* name;  // "gelu_sm80": what LIBKERNELS_FORCE takes
  Op op;
  Arch arch;            // the generation it was written for
  const char* backend;  // "cuda", or "emu" in the emulated build
};

// The version of the linked library (not of this header), the generations built into it
// ("80;90;100"), its backend, and the CUDA toolkit it was compiled with. Never fails.
inline const lk_version_info& version() { return *lk_version(); }

// The compiled kernels in dispatch order: of one operation, the first that can run is taken.
inline std::vector<KernelInfo> kernels() {
  std::vector<KernelInfo> list;
  for (std::size_t i = 0; i < lk_kernel_count(); ++i) {
    const lk_kernel_info* info = nullptr;
    throw_if_failed(lk_kernel_at(i, &info));
    list.push_back(
        {info->name, static_cast<Op>(info->op), static_cast<Arch>(info->arch), info->backend});
  }
  return list;
}

// Loads the kernels of `op` that can run on the current device, so that later calls load nothing
// lazily. Not to be called during stream capture.
inline void preload(Op op = Op::all) { throw_if_failed(lk_preload(static_cast<lk_op>(op))); }

}  // namespace libkernels
