// Matmul with very few rows or columns on sm80: the instantiations of a type, and their launch.
#pragma once

#include <iterator>

#include "kernels/matmul/matmul_sm80_skinny.h"
#include "kernels/matmul/matmul_stream_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

template <DType kType>
struct StreamKernels {
  static constexpr std::size_t kCount = std::size(kStreamTiles);

  template <std::size_t kIndex>
  struct Kernel {
    static constexpr StreamTile kTile = kStreamTiles[kIndex];
    static constexpr StreamConfig kConfig{kType,       kTile.cols,  kTile.rows,
                                          kTile.chunk, kTile.depth, kTile.warps};
    using Cfg = std::integral_constant<StreamConfig, kConfig>;
    static constexpr std::size_t kSmem = sizeof(typename Stream<Cfg>::Smem);
    static constexpr auto kPointer = &matmul_sm80_skinny<Cfg>;
    static cudaError_t resources(KernelResources* out) {
      return kernel_resources(kPointer, kTile.threads(), 1, kSmem, out);
    }
  };

  static cudaError_t launch(const StreamPlan& plan, const LaunchContext& context) {
    return with_config<kCount>(std::size_t(plan.tile), [&](auto i) {
      using K = Kernel<decltype(i)::value>;
      const ptx::LaunchShape shape{
          .grid = dim3(capped_grid(plan.params.tiles, context, K::kTile.threads())),
          .block = dim3(unsigned(K::kTile.threads())),
          .smem = K::kSmem};
      return ptx::launch(K::kPointer, shape, context.stream, plan.params);
    });
  }

  static cudaError_t resources(int tile, KernelResources* out) {
    return with_config<kCount>(std::size_t(tile),
                               [&](auto i) { return Kernel<decltype(i)::value>::resources(out); });
  }

  static cudaError_t preload() {
    return for_each_config<kCount>([](auto i) {
      KernelResources ignored;
      return Kernel<decltype(i)::value>::resources(&ignored);
    });
  }

  static constexpr StreamKernelSet set() {
    return {.launch = &launch, .resources = &resources, .preload = &preload};
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
