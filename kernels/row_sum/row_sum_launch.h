// Row-sum: the host code that the generations share.
//
// A generation G is a struct that names what it adds:
//   kShapes[]       how lanes share a row, from short rows to long ones; the last one loops
//   template <DType, int shape, bool whole> static KernelUse unit_kernel()
//   template <DType, int vectors> static KernelUse staged_kernel()
//   template <DType, Path, int shape> static KernelUse strided_kernel()
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
struct Row {
  static constexpr int kShapeCount = int(std::size(G::kShapes));

  static Plan plan_of(const Problem& problem, void* workspace) {
    return make_plan(problem, G::kShapes, kShapeCount, workspace);
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
      switch (path) {
        case Path::unit:
        case Path::unit_staged:
          break;
        case Path::strided_vectors:
          return with_config<kStridedShapes>(std::size_t(shape), [&](auto s) {
            return f(G::template strided_kernel<kType, Path::strided_vectors, int(s)>());
          });
        case Path::strided_rows:
          return f(G::template strided_kernel<kType, Path::strided_rows, 0>());
        case Path::strided_cols:
          return f(G::template strided_kernel<kType, Path::strided_cols, 0>());
      }
      return with_config<std::size_t(kShapeCount)>(std::size_t(shape), [&](auto s) {
        constexpr int kShape = int(decltype(s)::value);
        if constexpr (G::kShapes[kShape].staged && size_of(kType) == 2) {
          constexpr int kVectors = G::kShapes[kShape].lanes * G::kShapes[kShape].vectors;
          if (path == Path::unit_staged) return f(G::template staged_kernel<kType, kVectors>());
        }
        return whole ? f(G::template unit_kernel<kType, kShape, true>())
                     : f(G::template unit_kernel<kType, kShape, false>());
      });
    });
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    const Plan plan = plan_of(problem, context.workspace);
    for (int i = 0; i < plan.count; ++i) {
      const Pass& pass = plan.passes[i];
      const cudaError_t error = with_kernel(
          pass.path, pass.shape, pass.params.whole, pass.x_type, [&](const KernelUse& use) {
            const ptx::LaunchShape shape{
                .grid = dim3(capped_grid(pass.ctas, context, pass.threads)),
                .block = dim3(unsigned(pass.threads)),
                .smem = use.smem};
            return ptx::launch(use.kernel, shape, context.stream, pass.params);
          });
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_plan(plan_of(problem, context.workspace), G::kShapes, context);
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
      for (const Path path : {Path::unit, Path::unit_staged, Path::strided_vectors,
                              Path::strided_rows, Path::strided_cols}) {
        const bool unit = path == Path::unit || path == Path::unit_staged;
        const int shapes = unit ? kShapeCount : path == Path::strided_vectors ? kStridedShapes : 1;
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
