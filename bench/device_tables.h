// The tables that the .cu files of bench/ define, once per backend.
#pragma once

#include "bench/contestants.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::bench_device {

std::span<const bench::StreamKernel> copy_kernels();
std::span<const bench::StreamKernel> read_kernels();
std::span<const bench::StreamKernel> write_kernels();
std::span<const bench::MathKernel> math_kernels();
cudaError_t spin(const bench::SpinCall& call);
extern const bench::GeluBaseline kGeluUnfused;
extern const bench::GeluBaseline kGeluNaive;
cudaError_t compare(const bench::CompareCall& call);

}  // namespace libkernels::inline LK_BACKEND::bench_device
