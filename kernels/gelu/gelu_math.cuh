// GeLU of one fp32 value, both forms, on every generation.
#pragma once

#include "kernels/common/bits.cuh"
#include "kernels/gelu/gelu.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

// placeholder until the study lands
LK_DEVICE float gelu_tanh(float x) {
  const float u = 0.79788456f * fmaf(0.044715f * x * x, x, x);
  const float h = ptx::ex2_approx_f32(-fabsf(u) * 1.4426950408889634f);
  const float d = ptx::rcp_approx_f32(fmaf(h, h, 1.0f));
  return x >= 0 ? x * d : (x * h) * h * d;
}
LK_DEVICE float gelu_erf(float x) { return gelu_tanh(x); }

template <Form F>
LK_DEVICE float evaluate(float x) {
  if constexpr (F == Form::tanh) {
    return gelu_tanh(x);
  } else {
    return gelu_erf(x);
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
