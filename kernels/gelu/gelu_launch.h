// GeLU: the host code that the generations share.
//
// A generation G is a struct that names what it adds:
//   kConfigs[]                       its instantiations, all of one kThreads and kWindowBytes
//   kPdl                             its kernels wait for a prerequisite grid (griddepcontrol)
//   kStrided                         it has a kernel for the strided path
//   template <class Cfg> static KernelPointer kernel(Path), null for a path that it does not take
#pragma once

#include <cstddef>
#include <iterator>
#include <limits>

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/gelu/gelu_plan.h"
#include "kernels/gelu/gelu_window.cuh"

namespace libkernels::inline LK_BACKEND::op::gelu {

using KernelPointer = void (*)(Params);

// The entry of kConfigs[] that serves the problem; N if none does.
template <std::size_t N>
std::size_t find_config(const Config (&configs)[N], const Problem& p) {
  std::size_t i = 0;
  while (i < N && !(configs[i].x_type == p.x_type && configs[i].y_type == p.y_type &&
                    configs[i].form == p.form)) {
    ++i;
  }
  return i;
}

template <class G>
struct Row {
  static constexpr std::size_t kCount = std::size(G::kConfigs);
  static constexpr int kThreads = G::kConfigs[0].threads;
  static constexpr int kWindowBytes = G::kConfigs[0].window_bytes;

  static Shape shape_of(const Problem& problem, const LaunchContext& context) {
    constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
    const Config& config = G::kConfigs[find_config(G::kConfigs, problem)];
    return {.threads = kThreads,
            .window_bytes = kWindowBytes,
            .pairs = config.pairs,
            .most_ctas = capped_grid(kAll, context, kThreads),
            .resident_ctas = std::int64_t{config.ctas_per_sm} * context.properties.sm_count};
  }

  static const char* supports(const Problem& problem, const DeviceProperties&) {
    if (find_config(G::kConfigs, problem) == kCount) return "has no such mix of types";
    if (!G::kStrided && path_of(normalised(problem)) == Path::strided) {
      return "needs unit strides along the same dimension of x and y";
    }
    return nullptr;
  }

  // Calls f(kernel, config) for the instantiation that serves the problem.
  template <class F>
  static cudaError_t with_kernel(const Problem& problem, Path path, F f) {
    return with_config<kCount>(find_config(G::kConfigs, problem), [&](auto index) {
      using Cfg = std::integral_constant<Config, G::kConfigs[decltype(index)::value]>;
      return f(G::template kernel<Cfg>(path), Cfg::value);
    });
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    const Shape shape = shape_of(problem, context);
    Plan plan = make_plan(problem, shape);
    const ptx::LaunchShape grid{.grid = dim3(capped_grid(plan.ctas, context, kThreads)),
                                .block = dim3(kThreads),
                                .pdl = G::kPdl && context.pdl};
    // In a grid of several waves the dependents could not start before the last one anyway, and the
    // trigger slows the launch of CTAs: 2^28 bf16 elements take 316 us with it, 253 without (H200,
    // 2026-11-30).
    plan.params.trigger_early = grid.pdl && grid.grid.x <= shape.resident_ctas;
    return with_kernel(problem, plan.path, [&](KernelPointer kernel, const Config&) {
      return ptx::launch(kernel, grid, context.stream, plan.params);
    });
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    const Shape shape = shape_of(problem, context);
    return describe_plan(problem, make_plan(problem, shape), shape, context,
                         G::kPdl && context.pdl);
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    return with_kernel(
        problem, path_of(normalised(problem)), [&](KernelPointer kernel, const Config& config) {
          return kernel_resources(kernel, config.threads, config.ctas_per_sm, 0, out);
        });
  }

  static cudaError_t preload() {
    return for_each_config<kCount>([](auto index) {
      using Cfg = std::integral_constant<Config, G::kConfigs[decltype(index)::value]>;
      for (const Path path :
           {Path::singles, Path::pairs, Path::one_row, Path::rows, Path::strided}) {
        const KernelPointer kernel = G::template kernel<Cfg>(path);
        if (kernel == nullptr) continue;
        KernelResources ignored;
        const cudaError_t error =
            kernel_resources(kernel, kThreads, Cfg::value.ctas_per_sm, 0, &ignored);
        if (error != cudaSuccess) return error;
      }
      return cudaSuccess;
    });
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::gelu
