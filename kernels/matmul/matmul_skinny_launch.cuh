// Matmul with few rows or columns on sm90: the instantiations of a type, and their launch.
#pragma once

#include "kernels/matmul/matmul_skinny_sm90.cuh"
#include "kernels/matmul/matmul_sm90_skinny.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Tiles, times four layouts; of f8, where K is adjacent, four mixes.
template <DType kType>
struct SkinnyKernels {
  static constexpr bool kIsF8 = is_f8(kType);
  static constexpr std::size_t kCount = std::size_t(skinny_tiles(kType)) * 4;

  template <std::size_t kIndex>
  struct Kernel {
    static constexpr SkinnyTile kTile = kSkinnyTiles[kIndex / 4];
    static constexpr DType kW = kIsF8 && (kIndex & 2) ? DType::f8_e5m2 : kType;
    static constexpr DType kX = kIsF8 && (kIndex & 1) ? DType::f8_e5m2 : kType;
    static constexpr SkinnyConfig kConfig{kW,
                                          kX,
                                          kIndex & 2 && !kIsF8 ? ptx::Major::mn : ptx::Major::k,
                                          kIndex & 1 && !kIsF8 ? ptx::Major::mn : ptx::Major::k,
                                          kTile.rows,
                                          kTile.cols,
                                          kTile.groups,
                                          kTile.sharers,
                                          kTile.stages,
                                          kTile.ctas_per_sm};
    using Cfg = std::integral_constant<SkinnyConfig, kConfig>;
    static constexpr std::size_t kSmem = sizeof(typename Skinny<Cfg>::Smem);
    static constexpr auto kPointer = &matmul_sm90_skinny<Cfg>;
    static cudaError_t resources(KernelResources* out) {
      return kernel_resources(kPointer, kTile.threads(), kTile.ctas_per_sm, kSmem, out);
    }
  };

  static std::size_t index_of(const SkinnyPlan& plan) {
    const auto is_second = [](DType type, ptx::Major major) {
      return kIsF8 ? type == DType::f8_e5m2 : major == ptx::Major::mn;
    };
    return std::size_t(plan.tile_index) * 4 + (is_second(plan.w_type, plan.w_major) ? 2 : 0) +
           (is_second(plan.x_type, plan.x_major) ? 1 : 0);
  }

  static cudaError_t launch(SkinnyPlan& plan, cudaStream_t stream) {
    cudaError_t error = ptx::encode_tiled(&plan.params.w, plan.w);
    if (error != cudaSuccess) return error;
    error = ptx::encode_tiled(&plan.params.x, plan.x);
    if (error != cudaSuccess) return error;
    return with_config<kCount>(index_of(plan), [&](auto i) {
      using K = Kernel<decltype(i)::value>;
      const ptx::LaunchShape shape{.grid = dim3(unsigned(plan.clusters * plan.ctas)),
                                   .block = dim3(unsigned(K::kTile.threads())),
                                   .smem = K::kSmem,
                                   .cluster = dim3(unsigned(plan.ctas))};
      return ptx::launch(K::kPointer, shape, stream, plan.params);
    });
  }

  static cudaError_t resources(const SkinnyPlan& plan, KernelResources* out) {
    return with_config<kCount>(index_of(plan),
                               [&](auto i) { return Kernel<decltype(i)::value>::resources(out); });
  }

  static cudaError_t preload() {
    return for_each_config<kCount>([](auto i) {
      KernelResources ignored;
      return Kernel<decltype(i)::value>::resources(&ignored);
    });
  }

  static constexpr SkinnyKernelSet set() {
    return {.launch = &launch, .resources = &resources, .preload = &preload};
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
