// The tables that the .cu files of bench/ define, once per backend.
#pragma once

#include "bench/contestants.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::bench_device {

std::span<const bench::CopyKernel> copy_kernels();
extern const bench::GeluBaseline kGeluUnfused;
extern const bench::GeluBaseline kGeluNaive;
cudaError_t compare(const bench::CompareCall& call);

}  // namespace libkernels::inline LK_BACKEND::bench_device
