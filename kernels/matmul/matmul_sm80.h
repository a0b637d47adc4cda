// Matmul on sm80: the translation units behind matmul_sm80.cu, one an arithmetic and load, so that
// none takes long to compile.
#pragma once

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_tiles.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

using KernelPointer = void (*)(Params);

// The kernels of a translation unit.
struct KernelSet {
  KernelPointer (*find)(const Variant& variant);
  cudaError_t (*preload)();  // of all
};

extern const KernelSet sm80_f16, sm80_f16_staged, sm80_bf16, sm80_bf16_staged, sm80_f8, sm80_tf32,
    sm80_tf32_staged, sm80_tf32x3, sm80_tf32x3_staged, sm80_fp32;

// Of K, which has kCount kernels, four layouts for each tile: pointer<index>() and config(index).
template <class K>
constexpr KernelSet kernel_set() {
  return {.find =
              [](const Variant& v) {
                const int index =
                    v.tile * 4 + (v.a == Major::mn ? 2 : 0) + (v.b == Major::mn ? 1 : 0);
                KernelPointer found = nullptr;
                static_cast<void>(with_config<K::kCount>(std::size_t(index), [&](auto i) {
                  found = K::template pointer<decltype(i)::value>();
                  return cudaSuccess;
                }));
                return found;
              },
          .preload =
              [] {
                return for_each_config<K::kCount>([](auto i) {
                  constexpr Tile kTile = K::config(decltype(i)::value).tile();
                  KernelResources ignored;
                  return kernel_resources(K::template pointer<decltype(i)::value>(),
                                          kTile.threads(), kTile.ctas_per_sm, 0, &ignored);
                });
              }};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
