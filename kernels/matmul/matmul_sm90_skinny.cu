// Matmul with few rows or columns, generation sm90.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias), m or n at most 64
//
// Shapes    A [m, k], B [k, n], a unit stride in each, and address, other stride and batch stride
//           multiples of 16 bytes; C and C_in any strides; batch. Others: matmul_sm80.
// Types     f16, bf16: tensor cores, fp32 sums. f8, the two mixed or not, with K adjacent and
//           m or n at most 32, as in matmul_sm90.cu.
// Numerics  K is cut in parts, one a CTA of a cluster, which add up in the order of ranks. How many
//           depends on the shape and the device: so do an element's bits. No atomics.
// Floor     m k + k n + m n elements, of which nearly all are the larger operand's: 117 MB for
//           14336 x 4096 of bf16, which a plain sum of its elements reads in 27 us (H200).
//
// The kernel is in matmul_skinny_sm90.cuh; the plan in matmul_skinny_plan.h.
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_sm90_skinny.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

const SkinnyKernelSet& set_of(const Problem& p) {
  return is_f8(p.a.type)          ? sm90_skinny_f8
         : p.a.type == DType::f16 ? sm90_skinny_f16
                                  : sm90_skinny_bf16;
}

SkinnyPlan plan_of(const Problem& p, const DeviceProperties& device) {
  return make_skinny_plan(p, device, device.sm_count);
}

// Those of D's rows row .. row + 3 that exist.
LK_DEVICE void finish_rows(const SkinnyCombineParams& p, float scale, float (&v)[kEpilogueVector],
                           std::int64_t batch, std::int64_t row, std::int64_t col) {
  const Epilogue& e = p.epilogue;
  const int valid = int(p.rows - row < kEpilogueVector ? p.rows - row : kEpilogueVector);
  if (p.cols_by_rows && e.wide) {
    float bias[kEpilogueVector] = {};
    if (e.bias != nullptr && !e.bias_on_rows) {
      load_columns(bias, e.bias, row, 1, valid, e.bias_type, false);
    }
    finish(e, scale, v, bias, batch, col, row, valid);
    return;
  }
#pragma unroll
  for (int j = 0; j < kEpilogueVector; ++j) {
    if (j >= valid) break;
    const std::int64_t e_row = p.cols_by_rows ? col : row + j;
    const std::int64_t e_col = p.cols_by_rows ? row + j : col;
    float one[1] = {v[j]}, bias[1] = {};
    if (e.bias != nullptr && !e.bias_on_rows)
      load_columns(bias, e.bias, e_col, 1, 1, e.bias_type, false);
    finish(e, scale, one, bias, batch, e_row, e_col, 1);
  }
}

// ---- Sums in scratch ---------------------------------------------------------------------------

constexpr int kCombineThreads = 64;  // many CTAs: what counts is the latency
constexpr int kCombineBatch = 16;    // splits loaded at once

// Four rows of D in one column: the splits in their order, then the epilogue.
__global__ void __launch_bounds__(kCombineThreads)
    matmul_sm90_skinny_combine(const SkinnyCombineParams p) {
  const float scale = product_scale(p.epilogue);
  // Few enough for 32 bits: there are three parts of K or more to an SM (refuse_skinny).
  const auto across = unsigned(p.pitch) / kEpilogueVector, cols = unsigned(p.cols);
  const unsigned items = across * cols * unsigned(p.batch), step = gridDim.x * kCombineThreads;
  ptx::griddepcontrol_wait();
  for (unsigned i = blockIdx.x * kCombineThreads + threadIdx.x; i < items; i += step) {
    const unsigned line = i / across, row = (i - line * across) * kEpilogueVector;
    const unsigned batch = line / cols, col = line - batch * cols;
    const std::int64_t of_split = p.cols * p.pitch;
    const float* from = p.sums + (std::int64_t(batch) * p.splits * p.cols + col) * p.pitch + row;
    float v[kEpilogueVector] = {};
    for (int first = 0; first < p.splits; first += kCombineBatch) {
      uint4 u[kCombineBatch];
#pragma unroll
      for (int j = 0; j < kCombineBatch; ++j) {
        const int s = first + j < p.splits ? first + j : first;
        u[j] = ptx::ld_global(reinterpret_cast<const uint4*>(from + s * of_split));
      }
#pragma unroll
      for (int j = 0; j < kCombineBatch; ++j) {
        if (first + j >= p.splits) break;
        const std::uint32_t theirs[] = {u[j].x, u[j].y, u[j].z, u[j].w};
#pragma unroll
        for (int i = 0; i < kEpilogueVector; ++i) {
          const float t = bit_cast<float>(theirs[i]);
          v[i] = first + j == 0 ? t : v[i] + t;
        }
      }
    }
    finish_rows(p, scale, v, batch, row, col);
  }
}

cudaError_t launch_combine(const SkinnyCombineParams& params, const LaunchContext& context) {
  const std::int64_t items = params.pitch / kEpilogueVector * params.cols * params.batch;
  const ptx::LaunchShape shape{
      .grid = dim3(capped_grid((items - 1) / kCombineThreads + 1, context, kCombineThreads)),
      .block = dim3(kCombineThreads),
      .pdl = true};
  return ptx::launch(&matmul_sm90_skinny_combine, shape, context.stream, params);
}

struct Row {
  static const char* supports(const Problem& problem, const DeviceProperties& device) {
    return refuse_skinny(problem, device);
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    SkinnyPlan plan = make_skinny_plan(problem, context.properties, context.max_sms);
    const bool split = plan.params.splits > 1;
    if (split) {
      plan.params.epilogue.c = context.workspace;
      plan.combine.sums = static_cast<const float*>(context.workspace);
      context.name_launch("products of parts of k");
    }
    const cudaError_t error = set_of(problem).launch(plan, context.stream);
    if (error != cudaSuccess || !split) return error;
    context.name_launch("their sum");
    return launch_combine(plan.combine, context);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_skinny_plan(make_skinny_plan(problem, context.properties, context.max_sms));
  }

  static std::size_t workspace_bytes(const Problem& problem, const DeviceProperties& device) {
    return make_skinny_plan(problem, device, device.sm_count).scratch_bytes;
  }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    return set_of(problem).resources(plan_of(problem, *problem.device), out);
  }

  static cudaError_t preload() {
    KernelResources ignored;
    cudaError_t error =
        kernel_resources(&matmul_sm90_skinny_combine, kCombineThreads, 1, 0, &ignored);
    if (error != cudaSuccess) return error;
    for (const SkinnyKernelSet* set : {&sm90_skinny_f16, &sm90_skinny_bf16, &sm90_skinny_f8}) {
      error = set->preload();
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
};

}  // namespace

const KernelRow<Problem> sm90_skinny = row_of<Row>("matmul_sm90_skinny", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
