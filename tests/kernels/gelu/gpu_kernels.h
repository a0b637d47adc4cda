// Device code of the tests that need a GPU. Plain CUDA, not behind the front door.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "include/libkernels/c_api.h"

namespace libkernels::test {

// x[i] = the fp32 value with the bits first + i.
cudaError_t fill_with_bit_patterns(float* x, std::uint32_t first, std::size_t n,
                                   cudaStream_t stream);

// What a comparison with the fp64 reference saw.
struct SweepResult {
  unsigned long long violations;  // results outside of the contract's bound
  unsigned first_violation;       // bits of the least such input (as an unsigned number)
  float largest_ulps;             // over x >= -1
  float largest_of_bound;         // error / bound over x < -1
};
// Adds y[i] against gelu(x[i]), in fp64, to *result (device memory, zero but first_violation ~0u).
cudaError_t compare_with_reference(const float* x, const float* y, std::size_t n, lk_gelu_form form,
                                   SweepResult* result, cudaStream_t stream);

// Spins for `milliseconds` and then sets n 16-bit words to `value`.
cudaError_t spin_then_fill(std::uint16_t* p, std::uint16_t value, std::size_t n, int milliseconds,
                           cudaStream_t stream);

}  // namespace libkernels::test
