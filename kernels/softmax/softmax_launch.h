// Softmax: the host code that the kernel files share.
//
// A kernel file G is a struct that names what it adds:
//   kTakes                           which problems are not its: "needs ..."
//   kConfigs[]                       its instantiations: one each mix of types, path and windows
//   template <class Cfg> static KernelPointer kernel(Stage)
//   template <class Cfg> static std::size_t smem(const Plan&)    bytes of shared memory
//   static Plan plan(const Problem&)
#pragma once

#include <cstddef>
#include <iterator>

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/softmax/softmax_plan.h"
#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

using KernelPointer = void (*)(Params);

template <class G>
struct Row {
  static constexpr std::size_t kCount = std::size(G::kConfigs);

  // The first entry of kConfigs[] that serves the problem; kCount if none does.
  static std::size_t find_config(const Problem& p, const Plan& plan) {
    std::size_t i = 0;
    for (; i < kCount; ++i) {
      const Config& c = G::kConfigs[i];
      if (c.x_type == p.x_type && c.y_type == p.y_type && c.path == plan.path &&
          c.windows == plan.windows && c.aligned == plan.aligned && c.threads >= plan.threads) {
        break;
      }
    }
    return i;
  }

  // Calls f(Cfg) for the instantiation that serves the problem.
  template <class F>
  static cudaError_t with_instance(const Problem& problem, const Plan& plan, F f) {
    return with_config<kCount>(find_config(problem, plan), [&](auto index) {
      return f(std::integral_constant<Config, G::kConfigs[decltype(index)::value]>{});
    });
  }

  static Plan plan_of(const Problem& problem, const LaunchContext& context) {
    Plan plan = G::plan(problem);
    plan.params.partials = static_cast<Partial*>(context.workspace);
    plan.params.lag = lag_of(problem, plan, context.properties);
    return plan;
  }

  static const char* supports(const Problem& problem, const DeviceProperties&) {
    return find_config(problem, G::plan(problem)) == kCount ? G::kTakes : nullptr;
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    const Plan plan = plan_of(problem, context);
    return with_instance(problem, plan, [&](auto cfg) {
      using Cfg = decltype(cfg);
      const auto run = [&](Stage stage, unsigned grid) {
        const ptx::LaunchShape shape{.grid = dim3(grid),
                                     .block = dim3(unsigned(plan.threads)),
                                     .smem = G::template smem<Cfg>(plan),
                                     .cluster = dim3(unsigned(plan.cluster))};
        return ptx::launch(G::template kernel<Cfg>(stage), shape, context.stream, plan.params);
      };
      if (plan.two_launches()) {
        context.name_launch("the first of its two launches, which clears scratch");
        const cudaError_t error = run(Stage::clear, clearing_grid(plan, context));
        if (error != cudaSuccess) return error;
        context.name_launch("the second of its two launches");
      }
      return run(Stage::whole, grid_of(plan, context));
    });
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    const Plan plan = plan_of(problem, context);
    std::size_t smem = 0;
    static_cast<void>(with_instance(problem, plan, [&](auto cfg) {
      smem = G::template smem<decltype(cfg)>(plan);
      return cudaSuccess;
    }));
    return describe_plan(problem, plan, smem, context);
  }

  static std::size_t workspace_bytes(const Problem& problem, const DeviceProperties&) {
    return G::plan(problem).workspace_bytes;
  }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    const Plan plan = G::plan(problem);
    return with_instance(problem, plan, [&](auto cfg) {
      using Cfg = decltype(cfg);
      const cudaError_t error =
          kernel_resources(G::template kernel<Cfg>(Stage::whole), Cfg::value.threads,
                           Cfg::value.ctas_per_sm, G::template smem<Cfg>(plan), out);
      out->threads_per_cta = plan.threads;
      return error;
    });
  }

  static cudaError_t preload() {
    return for_each_config<kCount>([](auto index) {
      using Cfg = std::integral_constant<Config, G::kConfigs[decltype(index)::value]>;
      for (const Stage stage : {Stage::whole, Stage::clear}) {
        KernelResources ignored;
        const cudaError_t error =
            kernel_resources(G::template kernel<Cfg>(stage), Cfg::value.threads,
                             Cfg::value.ctas_per_sm, 0, &ignored);
        if (error != cudaSuccess) return error;
      }
      return cudaSuccess;
    });
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
