// Matmul, generation sm80, fp32: f32, f32 -> f32 by fused multiply-adds; no tensor cores.
//
// Each element of C is one chain of fmaf along K, in order. A thread keeps 8 x 8 sums (4 x 4 in the
// small tile): per k it loads 16 values of a stage for 64 products. Stages are [k][m] and [k][n];
// an operand in which K is adjacent is transposed on the way in.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm80.h"
#include "kernels/matmul/matmul_stage.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr int kGroup = 4;                // adjacent rows or columns of a thread
constexpr int kLanesM = 4, kLanesN = 8;  // of a warp
static_assert(kLanesM * kLanesN == kWarpThreads && kLanesM * kGroup == kBlockRows);

template <class Cfg>
struct Fma {
  static constexpr Tile kTile = Cfg::value.tile();
  static constexpr int kThreads = kTile.threads();
  static constexpr int kK = kTile.k_bytes / int(sizeof(float));
  static constexpr int kWarpM = kTile.m / kTile.warps_m;
  static constexpr int kWarpN = kTile.n / kTile.warps_n;
  static constexpr int kGroupsM = kWarpM / (kLanesM * kGroup);
  static constexpr int kGroupsN = kWarpN / (kLanesN * kGroup);
  static constexpr int kRows = kGroupsM * kGroup, kCols = kGroupsN * kGroup;  // of a thread
  using A = Side<kTile.m, kTile.k_bytes, sizeof(float), Cfg::value.a, kThreads>;
  using B = Side<kTile.n, kTile.k_bytes, sizeof(float), Cfg::value.b, kThreads>;
  using Sums = float[kRows][kCols];

  struct Stage {
    alignas(128) float a[kK][kTile.m];
    alignas(128) float b[kK][kTile.n];
  };
  union Smem {
    Stage stages[kTile.stages];
    float blocks[kTile.warps_m * kTile.warps_n][kBlockRows * kBlockPitch<kWarpN>];
  };
  static_assert(sizeof(Smem) == smem_bytes(kTile));
  static_assert(kTile.stages == 2);
};

// kGroups groups of four, `step` floats apart.
template <int kGroups>
LK_DEVICE void load_groups(float (&v)[kGroups * kGroup], const float* from, int step) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const uint4 w = ptx::ld_shared(reinterpret_cast<const uint4*>(from + g * step));
    v[g * kGroup] = bit_cast<float>(w.x);
    v[g * kGroup + 1] = bit_cast<float>(w.y);
    v[g * kGroup + 2] = bit_cast<float>(w.z);
    v[g * kGroup + 3] = bit_cast<float>(w.w);
  }
}

// sums += A B over one stage.
template <class Cfg>
LK_DEVICE void multiply_stage(const typename Fma<Cfg>::Stage& stage,
                              typename Fma<Cfg>::Sums& sums) {
  using T = Fma<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads, lane = int(threadIdx.x) % kWarpThreads;
  const int m = warp / T::kTile.warps_n * T::kWarpM + lane / kLanesN * kGroup;
  const int n = warp % T::kTile.warps_n * T::kWarpN + lane % kLanesN * kGroup;
#pragma unroll
  for (int k = 0; k < T::kK; ++k) {
    float a[T::kRows], b[T::kCols];
    load_groups<T::kGroupsM>(a, &stage.a[k][m], kLanesM * kGroup);
    load_groups<T::kGroupsN>(b, &stage.b[k][n], kLanesN * kGroup);
#pragma unroll
    for (int i = 0; i < T::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < T::kCols; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
    }
  }
}

// A group of rows of each lane, sixteen of the warp, at a time.
template <class Cfg>
LK_DEVICE void store_sums(const Params& p, typename Fma<Cfg>::Smem& smem, float scale,
                          std::int64_t batch, std::int64_t m0, std::int64_t n0,
                          typename Fma<Cfg>::Sums& sums) {
  using T = Fma<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads, lane = int(threadIdx.x) % kWarpThreads;
  float* block = smem.blocks[warp];  // [kBlockRows][kBlockPitch]
  const std::int64_t row0 = m0 + warp / T::kTile.warps_n * T::kWarpM;
  const std::int64_t col0 = n0 + warp % T::kTile.warps_n * T::kWarpN;
#pragma unroll 1
  for (int part = 0; part < T::kGroupsM; ++part) {
#pragma unroll
    for (int i = 0; i < T::kRows; ++i) {  // registers have no index at run time
      if (i / kGroup != part) continue;
#pragma unroll
      for (int g = 0; g < T::kGroupsN; ++g) {
        float* to = block + (lane / kLanesN * kGroup + i % kGroup) * kBlockPitch<T::kWarpN> +
                    (g * kLanesN + lane % kLanesN) * kGroup;
        const float* v = &sums[i][g * kGroup];
        ptx::st_shared(reinterpret_cast<uint4*>(to),
                       make_uint4(bit_cast<std::uint32_t>(v[0]), bit_cast<std::uint32_t>(v[1]),
                                  bit_cast<std::uint32_t>(v[2]), bit_cast<std::uint32_t>(v[3])));
      }
    }
    __syncwarp();
    store_block<kBlockRows, T::kWarpN>(p.epilogue, scale, block, batch, row0 + part * kBlockRows,
                                       col0);
    __syncwarp();
  }
}

template <class Cfg>
LK_DEVICE void multiply_tile(const Params& p, typename Fma<Cfg>::Smem& smem, const unsigned char* a,
                             const unsigned char* b, std::int64_t m0, std::int64_t n0,
                             std::int64_t k_tiles, typename Fma<Cfg>::Sums& sums) {
  using T = Fma<Cfg>;
  StagedCopy<typename T::A, int(sizeof(float)), true> copy_a;
  StagedCopy<typename T::B, int(sizeof(float)), true> copy_b;
  const auto load = [&](std::int64_t t) {
    copy_a.load(p.a, a, m0, p.m, t * T::kK, p.k);
    copy_b.load(p.b, b, n0, p.n, t * T::kK, p.k);
  };
  const auto store = [&](typename T::Stage& stage) {
    copy_a.store(reinterpret_cast<unsigned char*>(stage.a), p.a.type);
    copy_b.store(reinterpret_cast<unsigned char*>(stage.b), p.b.type);
  };
  load(0);
  store(smem.stages[0]);
  __syncthreads();
#pragma unroll 1
  for (std::int64_t t = 0; t < k_tiles; ++t) {
    const int read = int(t % 2);
    if (t + 1 < k_tiles) load(t + 1);
    multiply_stage<Cfg>(smem.stages[read], sums);
    if (t + 1 < k_tiles) store(smem.stages[1 - read]);
    __syncthreads();
  }
}

template <class Cfg>
__global__ void __launch_bounds__(Fma<Cfg>::kThreads, Cfg::value.ctas_per_sm)
    matmul_sm80_fma(const Params p) {
  using T = Fma<Cfg>;
  auto& smem = ptx::dynamic_smem<typename T::Smem>();
  const float scale = product_scale(p.epilogue);
  const std::int64_t k_tiles = (p.k + T::kK - 1) / T::kK;
  for (std::int64_t tile = blockIdx.x; tile < p.raster.tiles; tile += gridDim.x) {
    const TileIndex index = tile_at(tile, p.raster);
    const std::int64_t m0 = index.m * T::kTile.m, n0 = index.n * T::kTile.n;
    float sums[T::kRows][T::kCols] = {};
    if (k_tiles > 0) {
      multiply_tile<Cfg>(p, smem,
                         static_cast<const unsigned char*>(p.a.data) +
                             index.batch * p.a.batch_stride * std::int64_t(sizeof(float)),
                         static_cast<const unsigned char*>(p.b.data) +
                             index.batch * p.b.batch_stride * std::int64_t(sizeof(float)),
                         m0, n0, k_tiles, sums);
    }
    store_sums<Cfg>(p, smem, scale, index.batch, m0, n0, sums);
    __syncthreads();  // the blocks are read: the next tile fills stages
  }
}

struct FmaKernels {
  static constexpr std::size_t kCount = std::size(kFp32Configs) * 4;
  static constexpr Config config(std::size_t index) {
    return config_at(Arithmetic::fp32, Load::staged, index);
  }
  template <std::size_t kIndex>
  static KernelPointer pointer() {
    return &matmul_sm80_fma<std::integral_constant<Config, config(kIndex)>>;
  }
};

}  // namespace

const KernelSet sm80_fp32 = kernel_set<FmaKernels>();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
