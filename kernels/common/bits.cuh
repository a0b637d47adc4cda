// The bits of a value as another type of the same size. Costs nothing on a GPU.
#pragma once

#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

template <class To, class From>
LK_DEVICE To bit_cast(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);  // std::bit_cast is a host function to nvcc
}

}  // namespace libkernels::inline LK_BACKEND
