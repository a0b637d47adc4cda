// Matmul on sm90: the translation units behind matmul_sm90.cu, one an arithmetic and a layout of A,
// so that none takes long to compile.
#pragma once

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_tiles_sm90.h"
#include "kernels/ptx/tensor_map.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct ArgumentsSm90 {
  ptx::TensorMap a, b, c;
  ParamsSm90 p;
};

using KernelPointerSm90 = void (*)(ArgumentsSm90);

// The kernels of a translation unit.
struct KernelSetSm90 {
  KernelPointerSm90 (*find)(const VariantSm90& variant);
  cudaError_t (*preload)();  // of all
};

extern const KernelSetSm90 sm90_bf16, sm90_bf16_mn, sm90_f16, sm90_f16_mn, sm90_e4m3, sm90_e5m2,
    sm90_tf32, sm90_tf32_mn, sm90_tf32x3, sm90_tf32x3_mn;

// Enqueues the kernel that the plan names. `after_copy`: A or B is what the kernel before writes,
// which a product of one
// wave need not wait for to start.
cudaError_t launch_sm90(const PlanSm90& plan, const LaunchContext& context,
                        bool after_copy = false);

// Of K, which has kCount kernels, so many for each tile (config_sm90_at): pointer<index>() and
// config(index).
template <class K>
constexpr KernelSetSm90 kernel_set_sm90() {
  return {.find =
              [](const VariantSm90& v) {
                const bool second = v.b == Major::mn || v.type_b == DType::f8_e5m2;
                const std::size_t index =
                    std::size_t(v.tile) * kernels_of_tile(v.arithmetic) + (second ? 1 : 0);
                KernelPointerSm90 found = nullptr;
                static_cast<void>(with_config<K::kCount>(index, [&](auto i) {
                  found = K::template pointer<decltype(i)::value>();
                  return cudaSuccess;
                }));
                return found;
              },
          .preload =
              [] {
                return for_each_config<K::kCount>([](auto i) {
                  constexpr TileSm90 kTile = K::config(decltype(i)::value).tile();
                  KernelResources ignored;
                  return kernel_resources(K::template pointer<decltype(i)::value>(),
                                          kTile.threads(), 1, 0, &ignored);
                });
              }};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
