// Row-sum: the host code that the generations share.
//
// What it takes of a generation G is in row_sum_kernels.cuh, and so are the Kernels<G>.
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/row_sum/row_sum_plan.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

using KernelPointer = void (*)(Params);

struct KernelUse {
  KernelPointer kernel;
  int threads;
  int ctas_per_sm;
  std::size_t smem;
};

inline constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

template <class G>
struct Kernels;

template <class G>
struct Row {
  static constexpr int kShapeCount = int(std::size(G::kShapes));

  static Plan plan_of(const Problem& problem, void* workspace, int sm_count = 0) {
    return make_plan(problem, G::kShapes, kShapeCount, workspace, sm_count * kStridedCtasPerSm);
  }

  static const char* supports(const Problem& problem, const DeviceProperties&) {
    for (const DType type : kTypes) {
      if (type == problem.x_type) return nullptr;
    }
    return "has no such type";
  }

  // Calls f(KernelUse) for the instantiation that a pass takes.
  template <class F>
  static cudaError_t with_kernel(Path path, int shape, bool whole, DType x_type, F f) {
    std::size_t type = 0;
    while (type < std::size(kTypes) && kTypes[type] != x_type) ++type;
    return with_config<std::size(kTypes)>(type, [&](auto t) {
      constexpr DType kType = kTypes[decltype(t)::value];
      using K = Kernels<G>;
      switch (path) {
        case Path::unit:
        case Path::unit_staged:
          break;
        case Path::unit_row:
          return with_config<kRowShapes>(
              std::size_t(shape), [&](auto s) { return f(K::template row<kType, int(s)>()); });
        case Path::strided_vectors:
          return with_config<kStridedShapes>(std::size_t(shape), [&](auto s) {
            // Of one misaligned vector no lane would have a neighbour.
            constexpr int kShape = int(s) == 0 ? 2 : int(s);
            return f(K::template strided<kType, Path::strided_vectors, kShape>());
          });
        case Path::strided_rows:
          return f(K::template strided<kType, Path::strided_rows, 2>());
        case Path::strided_cols:
          return f(K::template strided<kType, Path::strided_cols, 2>());
      }
      return with_config<std::size_t(kShapeCount)>(std::size_t(shape), [&](auto s) {
        constexpr int kShape = int(decltype(s)::value);
        if constexpr (G::kShapes[kShape].staged > 0) {
          if (path == Path::unit_staged) return f(K::template staged<kType, kShape>());
        }
        return whole ? f(K::template unit<kType, kShape, true>())
                     : f(K::template unit<kType, kShape, false>());
      });
    });
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    Plan plan = plan_of(problem, context.workspace, context.properties.sm_count);
    for (int i = 0; i < plan.count; ++i) {
      Pass& pass = plan.passes[i];
      const cudaError_t error = with_kernel(
          pass.path, pass.shape, pass.params.whole, pass.x_type, [&](const KernelUse& use) {
            const ptx::LaunchShape shape{
                .grid = dim3(capped_grid(pass.ctas, context, pass.threads)),
                .block = dim3(unsigned(pass.threads)),
                .smem = use.smem,
                .pdl = G::kPdl && context.pdl};
            // The trigger slows the launch of CTAs, and in a grid of several waves dependents could
            // not start before the last one anyway.
            const std::int64_t wave = std::int64_t{use.ctas_per_sm} * context.properties.sm_count;
            pass.params.dependent = shape.pdl;
            pass.params.trigger_early = shape.pdl && shape.grid.x <= wave;
            return ptx::launch(use.kernel, shape, context.stream, pass.params);
          });
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_plan(plan_of(problem, context.workspace, context.properties.sm_count),
                         G::kShapes, context, G::kPdl && context.pdl);
  }

  static std::size_t workspace_bytes(const Problem& problem, const DeviceProperties&) {
    return std::size_t(plan_of(problem, nullptr).workspace_bytes);
  }

  static cudaError_t resources_of(const KernelUse& use, KernelResources* out) {
    return kernel_resources(use.kernel, use.threads, use.ctas_per_sm, use.smem, out);
  }
  // Of the first pass, which reads x.
  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    const Pass& pass = plan_of(problem, nullptr).passes[0];
    return with_kernel(pass.path, pass.shape, pass.params.whole, pass.x_type,
                       [&](const KernelUse& use) { return resources_of(use, out); });
  }

  static cudaError_t preload() {
    const auto load = [](const KernelUse& use) {
      KernelResources ignored;
      return resources_of(use, &ignored);
    };
    for (const DType type : kTypes) {
      for (const Path path : {Path::unit, Path::unit_row, Path::unit_staged, Path::strided_vectors,
                              Path::strided_rows, Path::strided_cols}) {
        const int shapes = path == Path::unit || path == Path::unit_staged ? kShapeCount
                           : path == Path::unit_row                        ? kRowShapes
                           : path == Path::strided_vectors                 ? kStridedShapes
                                                                           : 1;
        for (int shape = 0; shape < shapes; ++shape) {
          for (const bool whole : {true, false}) {
            const cudaError_t error = with_kernel(path, shape, whole, type, load);
            if (error != cudaSuccess) return error;
          }
        }
      }
    }
    return cudaSuccess;
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
