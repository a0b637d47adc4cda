// Matmul, generation sm90: Hopper's tensor cores, for operands that its copy engine can read.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias)
//
// Shapes    as matmul_sm80.cu, but A and B each have a unit stride, and address, other stride and
//           batch stride in multiples of 16 bytes; k >= 1. Any C and C_in. What is not so,
//           sm90_repack copies or sm80 takes.
//           f32: K is adjacent in A or in B. f8: in both.
// Types     f16, bf16: fp32 sums in wgmma. f32: the same, as tf32, rounded to nearest, ties to
//           even; or as tf32x3 (matmul_split_sm90.cuh). f8, the two mixed or not: wgmma keeps about
//           13 bits of a sum, which is added to one in fp32 every 128 of K.
// Numerics  Sums run along K in one order, whatever the tile. No atomics.
// Floor     2 m n k FLOP, at most 4096 (f8: 8192; tf32: 2048, three times those of tf32x3) a clock
//           and SM; m k + k n + m n elements (with beta: 2 m n).
//           Each tile reads its rows of A and columns of B once, most of them out of the L2
//           (matmul_raster.h): a tile of 128 x 256 has 85 FLOP for each byte of them.
//
// The kernel is in matmul_wgmma_sm90.cuh; the plan in matmul_plan_sm90.h.
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_sm90.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

const KernelSetSm90& set_of(const VariantSm90& v) {
  if (v.type_a == DType::f8_e4m3) return sm90_e4m3;
  if (v.type_a == DType::f8_e5m2) return sm90_e5m2;
  const bool k = v.a == Major::k;
  if (v.arithmetic == Arithmetic::tf32) return k ? sm90_tf32 : sm90_tf32_mn;
  if (v.arithmetic == Arithmetic::tf32x3) return k ? sm90_tf32x3 : sm90_tf32x3_mn;
  if (v.arithmetic == Arithmetic::bf16) return k ? sm90_bf16 : sm90_bf16_mn;
  return k ? sm90_f16 : sm90_f16_mn;
}

// tf32 is rounded on the way into shared memory, and tf32x3's hi and lo are made there.
ptx::TensorType tensor_type(DType t, Arithmetic arithmetic) {
  return t == DType::f32
             ? arithmetic == Arithmetic::tf32 ? ptx::TensorType::tf32 : ptx::TensorType::f32
         : is_f8(t)         ? ptx::TensorType::u8
         : t == DType::bf16 ? ptx::TensorType::bf16
                            : ptx::TensorType::f16;
}

// Boxes are what one copy moves: rows of K, or, where M or N is adjacent, a block of those.
cudaError_t encode(ptx::TensorMap* map, Arithmetic arithmetic, const Operand& o, Major major,
                   std::int64_t mn, std::int64_t k, std::int64_t batch, int rows) {
  const auto element = std::uint64_t(size_of(o.type));
  const auto k_box = std::uint32_t(kStageBytes / element);
  const bool k_major = major == Major::k;
  // A stride that is never stepped is any valid one.
  const auto stride = [&](std::int64_t elements) {
    return elements == 0 ? std::uint64_t(kStageBytes) : std::uint64_t(elements) * element;
  };
  return ptx::encode_tiled(
      map, {.base = o.data,
            .type = tensor_type(o.type, arithmetic),
            .rank = 3,
            .extents = {std::uint64_t(k_major ? k : mn), std::uint64_t(k_major ? mn : k),
                        std::uint64_t(o.batch_stride != 0 ? batch : 1)},
            .strides = {stride(k_major ? o.mn_stride : o.k_stride), stride(o.batch_stride)},
            .box = {k_box, k_major ? std::uint32_t(rows) : k_box, 1},
            .swizzle = ptx::Swizzle::b128,
            .promotion = ptx::L2Promotion::b256});
}

// Boxes are the rows and columns of C that a warp stores at once.
cudaError_t encode_c(ptx::TensorMap* map, const PlanSm90& plan) {
  const Epilogue& e = plan.params.epilogue;
  const auto element = std::uint64_t(size_of(e.type));
  const auto stride = [&](std::int64_t elements, bool stepped) {
    return stepped ? std::uint64_t(elements) * element : std::uint64_t(kStageBytes);
  };
  const int columns = part_cols(plan.tile);
  return ptx::encode_tiled(
      map, {.base = e.c,
            .type = tensor_type(e.type, plan.variant.arithmetic),
            .rank = 3,
            .extents = {std::uint64_t(e.cols), std::uint64_t(e.rows), std::uint64_t(plan.batch)},
            .strides = {stride(e.row_stride, e.rows > 1), stride(e.batch_stride, plan.batch > 1)},
            .box = {std::uint32_t(columns), std::uint32_t(kWarpRows), 1},
            .swizzle = part_swizzle(columns)});
}

}  // namespace

cudaError_t launch_sm90(const PlanSm90& plan, const LaunchContext& context, bool after_copy) {
  const TileSm90& t = plan.tile;
  ArgumentsSm90 args;
  args.p = plan.params;
  cudaError_t error = encode(&args.a, plan.variant.arithmetic, plan.a, plan.variant.a, plan.m,
                             plan.k, plan.batch, t.m);
  if (error != cudaSuccess) return error;
  error = encode(&args.b, plan.variant.arithmetic, plan.b, plan.variant.b, plan.n, plan.k,
                 plan.batch, t.n);
  if (error != cudaSuccess) return error;
  if (plan.params.finish == Finish::tensor) {
    error = encode_c(&args.c, plan);
    if (error != cudaSuccess) return error;
  }
  // CTAs that start one by one, as the copies end, share less in the L2: of products that take more
  // than a wave, 8191^3 takes 2134 us so and 2012 after the copies; 2047^3 1 us less (H200,
  // 2026-12-01).
  const ptx::LaunchShape shape{.grid = dim3(grid_sm90(plan, context.max_sms)),
                               .block = dim3(unsigned(t.threads())),
                               .smem = smem_bytes(t, plan.variant.arithmetic),
                               .pdl = after_copy && plan.params.raster.tiles <= context.max_sms};
  return ptx::launch(set_of(plan.variant).find(plan.variant), shape, context.stream, args);
}

namespace {

struct Row {
  static const char* supports(const Problem& p, const DeviceProperties&) { return why_not_sm90(p); }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    return launch_sm90(make_plan_sm90(problem, context.properties), context);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_plan_sm90(problem, context);
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    const PlanSm90 plan = make_plan_sm90(problem, *problem.device);
    return kernel_resources(set_of(plan.variant).find(plan.variant), plan.tile.threads(), 1,
                            smem_bytes(plan.tile, plan.variant.arithmetic), out);
  }

  static cudaError_t preload() {
    for (const KernelSetSm90* set :
         {&sm90_bf16, &sm90_bf16_mn, &sm90_f16, &sm90_f16_mn, &sm90_e4m3, &sm90_e5m2, &sm90_tf32,
          &sm90_tf32_mn, &sm90_tf32x3, &sm90_tf32x3_mn}) {
      const cudaError_t error = set->preload();
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
};

}  // namespace

const KernelRow<Problem> sm90 = row_of<Row>("matmul_sm90", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
