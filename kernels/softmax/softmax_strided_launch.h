// Softmax of views without unit column stride: the host code that its kernel files share.
//
// A kernel file G is a struct that names what it adds:
//   kMostCluster                     CTAs of a cluster at most, 1 for none
//   kConfigs[]                       its instantiations: one each mix of types
//   template <class Cfg> static KernelPointer kernel()
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/softmax/softmax_strided_plan.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

struct StridedConfig {
  DType x_type, y_type;
  int ctas_per_sm;  // of kTileMostThreads
};

template <class G>
struct StridedRow {
  using KernelPointer = void (*)(Params);
  static constexpr std::size_t kCount = std::size(G::kConfigs);

  // Calls f(Cfg) for the instantiation that serves the problem.
  template <class F>
  static cudaError_t with_instance(const Problem& p, F f) {
    std::size_t i = 0;
    for (; i < kCount; ++i) {
      if (G::kConfigs[i].x_type == p.x_type && G::kConfigs[i].y_type == p.y_type) break;
    }
    return with_config<kCount>(i, [&](auto index) {
      return f(std::integral_constant<StridedConfig, G::kConfigs[decltype(index)::value]>{});
    });
  }

  static Plan plan_of(const Problem& p) { return make_strided_plan(p, G::kMostCluster); }

  static const char* supports(const Problem& p, const DeviceProperties&) {
    return path_of(p) == Path::strided ? nullptr : "is for views without unit column strides";
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    Plan plan = plan_of(problem);
    plan.params.partials = static_cast<Partial*>(context.workspace);
    return with_instance(problem, [&](auto cfg) {
      ptx::LaunchShape shape{.grid = {},
                             .block = dim3(unsigned(plan.threads)),
                             .smem = strided_smem_bytes(plan, problem.x_type),
                             .cluster = dim3(unsigned(plan.cluster))};
      const auto run = [&](Stage stage, unsigned grid, const char* name) {
        plan.params.stage = stage;
        shape.grid = dim3(grid);
        if (name != nullptr) context.name_launch(name);
        return ptx::launch(G::template kernel<decltype(cfg)>(), shape, context.stream, plan.params);
      };
      const unsigned grid = grid_of(plan, context);
      if (!plan.two_launches()) return run(Stage::whole, grid, nullptr);
      cudaError_t error =
          run(Stage::partials, grid, "the first of its three launches, which reads the chunks");
      if (error != cudaSuccess) return error;
      const std::int64_t rows = combining_ctas(plan);
      error = run(Stage::combine, capped_grid(rows, context, plan.threads),
                  "the second of its three launches, which combines the chunks");
      if (error != cudaSuccess) return error;
      return run(Stage::finish, grid, "the third of its three launches, which writes y");
    });
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    const Plan plan = plan_of(problem);
    return describe_strided_plan(problem, plan, grid_of(plan, context));
  }

  static std::size_t workspace_bytes(const Problem& problem, const DeviceProperties&) {
    return plan_of(problem).workspace_bytes;
  }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    const Plan plan = plan_of(problem);
    return with_instance(problem, [&](auto cfg) {
      using Cfg = decltype(cfg);
      const cudaError_t error =
          kernel_resources(G::template kernel<Cfg>(), kTileMostThreads, Cfg::value.ctas_per_sm,
                           strided_smem_bytes(plan, problem.x_type), out);
      out->threads_per_cta = plan.threads;
      return error;
    });
  }

  static cudaError_t preload() {
    return for_each_config<kCount>([](auto index) {
      using Cfg = std::integral_constant<StridedConfig, G::kConfigs[decltype(index)::value]>;
      KernelResources ignored;
      return kernel_resources(G::template kernel<Cfg>(), kTileMostThreads, Cfg::value.ctas_per_sm,
                              0, &ignored);
    });
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
