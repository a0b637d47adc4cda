#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

static_assert(kMaxTensorRank == emulator::TensorLayout::kMaxRank);

inline cudaError_t encode_tiled(TensorMap* map, const TiledTensor& t) {
  emulator::TensorLayout layout;
  layout.rank = std::uint8_t(t.rank);
  layout.element_bytes = std::uint8_t(tensor_type_bytes(t.type));
  layout.swizzle = std::uint8_t(t.swizzle);
  layout.rounds_to_tf32 = t.type == TensorType::tf32;
  layout.base = reinterpret_cast<std::uintptr_t>(t.base);
  for (int i = 0; i + 1 < kMaxTensorRank; ++i) layout.strides[i] = t.strides[i];
  return emulator::encode_tensor_layout(map, layout, t.extents, t.box);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
