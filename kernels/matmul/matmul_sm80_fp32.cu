// Matmul, generation sm80, fp32: f32, f32 -> f32 by fused multiply-adds; no tensor cores.
//
// Each element of C is one chain of fmaf along K, in order. A thread keeps up to 8 x 16 sums: per k
// it loads 24 values of a stage for 128 products, one k ahead. Stages are [k][m] and [k][n], filled
// by cp.async: 16 bytes at a time where M or N is adjacent and aligned, else element by element (so
// is an operand with K adjacent).
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm80.h"
#include "kernels/matmul/matmul_stage.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr int kGroup = 4;  // adjacent rows or columns of a thread: what an access of 16 bytes takes

// The lanes of a warp form kLanesM x kLanesN. Lanes next to each other, and those at a distance of
// two, share an address of either operand, so that half a warp's 16-byte loads are one pass.
template <class Cfg>
struct Fma {
  static constexpr Tile kTile = Cfg::value.tile();
  static constexpr int kThreads = kTile.threads();
  static constexpr int kK = kTile.k_bytes / int(sizeof(float));
  static constexpr int kWarpM = kTile.m / kTile.warps_m;
  static constexpr int kWarpN = kTile.n / kTile.warps_n;
  static constexpr int kLanesM = kWarpM >= 64 && kWarpN <= 64 ? 8 : 4;
  static constexpr int kLanesN = kWarpThreads / kLanesM;
  static constexpr int kGroupsM = kWarpM / (kLanesM * kGroup);
  static constexpr int kGroupsN = kWarpN / (kLanesN * kGroup);
  static constexpr int kRows = kGroupsM * kGroup, kCols = kGroupsN * kGroup;  // of a thread
  static LK_DEVICE int lane_m() {
    const int lane = int(threadIdx.x) % kWarpThreads;
    return kLanesM == 4 ? lane / 16 * 2 + lane % 2 : lane / 2 % 8;
  }
  static LK_DEVICE int lane_n() {
    const int lane = int(threadIdx.x) % kWarpThreads;
    return kLanesM == 4 ? lane / 2 % 8 : lane / 16 * 2 + lane % 2;
  }
  static constexpr int kPitchA = kTile.m + (Cfg::value.a == Major::k ? kFmaPadding : 0);
  static constexpr int kPitchB = kTile.n + (Cfg::value.b == Major::k ? kFmaPadding : 0);
  using Sums = float[kRows][kCols];

  struct Stage {
    alignas(128) float a[kK * (kTile.m + kFmaPadding)];  // [kK][kPitchA]
    alignas(128) float b[kK * (kTile.n + kFmaPadding)];  // [kK][kPitchB]
  };
  union Smem {
    Stage stages[kTile.stages];
    float blocks[kTile.warps_m * kTile.warps_n][kBlockRows * kBlockPitch<kWarpN>];
  };
  static_assert(sizeof(Smem) == smem_bytes(Arithmetic::fp32, kTile));
};

// Of one operand: what a thread copies to each stage.
template <int kMn, int kK, int kPitch, Major kMajor, int kThreads>
struct FmaCopy {
  // Major k: 8 of K by kThreads / 8 rows at a time. mn: rows of kMn, four elements a thread.
  static constexpr int kLanesK = 8;
  static constexpr int kRowsAtOnce =
      kMajor == Major::k ? kThreads / kLanesK : kThreads * kGroup / kMn;
  static constexpr int kPasses = kMajor == Major::k ? kMn / kRowsAtOnce : kK / kRowsAtOnce;
  static constexpr int kChunks = kMn / kGroup;
  static_assert(kMajor == Major::k ? kMn % kRowsAtOnce == 0 && kK == kLanesK
                                   : kK % kRowsAtOnce == 0 && kPasses > 0);

  const unsigned char* src;
  std::int64_t mn_bytes, k_bytes;
  int k, mn;        // of the first element
  unsigned inside;  // a bit a pass (major k) or an element (mn), is it in the matrix?
  bool wide;

  LK_DEVICE void start(const Operand& o, const unsigned char* data, std::int64_t mn0,
                       std::int64_t mn_extent) {
    const int id = int(threadIdx.x);
    wide = kMajor == Major::mn && o.wide;
    mn_bytes = o.mn_stride * std::int64_t(sizeof(float));
    k_bytes = o.k_stride * std::int64_t(sizeof(float));
    k = kMajor == Major::k ? id % kLanesK : id / kChunks;
    mn = kMajor == Major::k ? id / kLanesK : id % kChunks * (wide ? kGroup : 1);
    src = data + (mn0 + mn) * mn_bytes + k * k_bytes;
    const int step = kMajor == Major::k ? kRowsAtOnce : wide ? 1 : kChunks;
    inside = 0;
#pragma unroll
    for (int i = 0; i < (kMajor == Major::k ? kPasses : kGroup); ++i) {
      inside |= unsigned(mn0 + mn + i * step < mn_extent) << i;
    }
  }

  // The next stage [kK][kPitch], of whose K k_left elements exist. Zeros stand for the others.
  // kWhole: all of it exists; a copy with a size costs six instructions more.
  template <bool kWhole>
  LK_DEVICE void copy(float* stage, int k_left) {
    if constexpr (kMajor == Major::k) {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) {
        copy_element<kWhole>(stage + k * kPitch + mn + i * kRowsAtOnce,
                             src + i * kRowsAtOnce * mn_bytes,
                             (inside >> i & 1u) != 0 && k < k_left);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) {
        float* to = stage + (k + i * kRowsAtOnce) * kPitch + mn;
        const unsigned char* from = src + i * kRowsAtOnce * k_bytes;
        const unsigned in = k + i * kRowsAtOnce < k_left ? inside : 0u;
        if constexpr (kWhole) {
          ptx::cp_async_cg_shared_global(to, from);
        } else if (wide) {
          const unsigned count = (in & 1) + (in >> 1 & 1) + (in >> 2 & 1) + (in >> 3 & 1);
          ptx::cp_async_cg_shared_global(to, from, 4 * count);
        } else {
#pragma unroll
          for (int turn = 0; turn < kGroup; ++turn) {
            // Of two rows that a warp writes, one begins with the other half of the banks.
            const int e = kChunks < kWarpThreads ? turn ^ (k & 1) : turn;
            copy_element<false>(to + e * kChunks, from + e * kChunks * mn_bytes,
                                (in >> e & 1u) != 0);
          }
        }
      }
    }
    src += kK * k_bytes;
  }
  template <bool kWhole>
  static LK_DEVICE void copy_element(float* to, const unsigned char* from, bool in) {
    if constexpr (kWhole) {
      ptx::cp_async_ca_shared_global<4>(to, from);
    } else {
      ptx::cp_async_ca_shared_global<4>(to, from, in ? 4u : 0u);
    }
  }
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

// sums += a b, in an order in which each product shares a factor with the one before: registers are
// read twice a clock, and a factor that stays is not read again.
template <int kRows, int kCols>
LK_DEVICE void multiply(const float (&a)[kRows], const float (&b)[kCols],
                        float (&sums)[kRows][kCols]) {
  constexpr int kBlock = kCols < 8 ? kCols : 8;
#pragma unroll
  for (int j0 = 0; j0 < kCols; j0 += kBlock) {
#pragma unroll
    for (int ii = 0; ii < kRows; ++ii) {
      const int i = j0 / kBlock % 2 == 0 ? ii : kRows - 1 - ii;
#pragma unroll
      for (int jj = 0; jj < kBlock; ++jj) {
        const int j = j0 + (ii % 2 == 0 ? jj : kBlock - 1 - jj);
        sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
  }
}

// A group of rows of each lane, sixteen of the warp, at a time, in an order in which the lanes that
// store together meet different banks.
template <class Cfg>
LK_DEVICE void store_sums(const Params& p, typename Fma<Cfg>::Smem& smem, float scale,
                          std::int64_t batch, std::int64_t m0, std::int64_t n0,
                          typename Fma<Cfg>::Sums& sums) {
  using T = Fma<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane_m = T::lane_m(), lane_n = T::lane_n();
  float* block = smem.blocks[warp];  // [kBlockRows][kBlockPitch]
  const std::int64_t row0 = m0 + warp / T::kTile.warps_n * T::kWarpM;
  const std::int64_t col0 = n0 + warp % T::kTile.warps_n * T::kWarpN;
  constexpr int kLanes16 = kBlockRows / kGroup;
  constexpr int kParts = T::kWarpM / kBlockRows;
#pragma unroll 1
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int i = 0; i < T::kRows; ++i) {  // registers have no index at run time
      if ((i / kGroup * T::kLanesM + lane_m) / kLanes16 != part) continue;
#pragma unroll
      for (int g = 0; g < T::kGroupsN; ++g) {
        float* to = block +
                    (i % kGroup * kGroup + lane_m % 2 * 2 + lane_m % kLanes16 / 2) *
                        kBlockPitch<T::kWarpN> +
                    (g * T::kLanesN + lane_n) * kGroup;
        // Scaled here: were the sums themselves stored in fours, the compiler would keep them in
        // aligned fours, each in the register bank of the value of B that it meets.
        const float* v = &sums[i][g * kGroup];
        ptx::st_shared(
            reinterpret_cast<uint4*>(to),
            make_uint4(bit_cast<std::uint32_t>(scale * v[0]), bit_cast<std::uint32_t>(scale * v[1]),
                       bit_cast<std::uint32_t>(scale * v[2]),
                       bit_cast<std::uint32_t>(scale * v[3])));
      }
    }
    __syncwarp();
    store_block<kBlockRows, T::kWarpN, RowOrder::by_fours>(p.epilogue, 1.0f, block, batch,
                                                           row0 + part * kBlockRows, col0);
    __syncwarp();
  }
}

template <class Cfg>
LK_DEVICE void multiply_tile(const Params& p, typename Fma<Cfg>::Smem& smem, const unsigned char* a,
                             const unsigned char* b, std::int64_t m0, std::int64_t n0,
                             std::int64_t k_tiles, typename Fma<Cfg>::Sums& sums) {
  using T = Fma<Cfg>;
  constexpr int kStages = T::kTile.stages;
  constexpr int kAhead = kStages - 1;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int m = warp / T::kTile.warps_n * T::kWarpM + T::lane_m() * kGroup;
  const int n = warp % T::kTile.warps_n * T::kWarpN + T::lane_n() * kGroup;
  FmaCopy<T::kTile.m, T::kK, T::kPitchA, Cfg::value.a, T::kThreads> copy_a;
  FmaCopy<T::kTile.n, T::kK, T::kPitchB, Cfg::value.b, T::kThreads> copy_b;
  copy_a.start(p.a, a, m0, p.m);
  copy_b.start(p.b, b, n0, p.n);
  std::int64_t k_left = p.k;
  int write = 0;
  const auto fill = [&](auto whole) {
    constexpr bool kWhole = decltype(whole)::value;
    if (kWhole || k_left > 0) {
      const int k = kWhole ? T::kK : clipped(k_left, T::kK);
      copy_a.template copy<kWhole>(smem.stages[write].a, k);
      copy_b.template copy<kWhole>(smem.stages[write].b, k);
      k_left -= T::kK;
    }
    ptx::cp_async_commit_group();
    write = write + 1 == kStages ? 0 : write + 1;
  };
#pragma unroll
  for (int s = 0; s < kAhead; ++s) fill(std::false_type{});
  ptx::cp_async_wait_group<kAhead - 1>();
  __syncthreads();
  int read = 0;
  float fa[2][T::kRows], fb[2][T::kCols];
  load_groups<T::kGroupsM>(fa[0], &smem.stages[0].a[m], T::kLanesM * kGroup);
  load_groups<T::kGroupsN>(fb[0], &smem.stages[0].b[n], T::kLanesN * kGroup);
  // Two of K at a time: all of a stage unrolled where it counts.
  const auto iterate = [&](std::int64_t tiles, auto whole) {
    constexpr bool kWhole = decltype(whole)::value;
    [[maybe_unused]] constexpr int kUnroll = kWhole ? T::kK / 2 : 1;
#pragma unroll 1
    for (; tiles > 0; --tiles) {
#pragma unroll kUnroll
      for (int k0 = 0; k0 < T::kK; k0 += 2) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          int next = k0 + h + 1;
          if (next == T::kK) {  // its values are loaded: this stage is read
            ptx::cp_async_wait_group<kAhead - 1>();
            __syncthreads();
            read = read + 1 == kStages ? 0 : read + 1;
            next = 0;
          }
          if (kWhole || next != 0 || tiles > 1) {
            load_groups<T::kGroupsM>(fa[1 - h], &smem.stages[read].a[next * T::kPitchA + m],
                                     T::kLanesM * kGroup);
            load_groups<T::kGroupsN>(fb[1 - h], &smem.stages[read].b[next * T::kPitchB + n],
                                     T::kLanesN * kGroup);
          }
          if (k0 + h == 0) fill(whole);  // the stage of the tile before
          multiply(fa[h], fb[h], sums);
        }
      }
    }
  };
  const bool inside = m0 + T::kTile.m <= p.m && n0 + T::kTile.n <= p.n &&
                      (Cfg::value.a == Major::k || p.a.wide) &&
                      (Cfg::value.b == Major::k || p.b.wide);
  const std::int64_t whole = inside ? p.k / T::kK - kAhead : 0;
  if (whole > 0) {
    iterate(whole, std::true_type{});
    k_tiles -= whole;
  }
  iterate(k_tiles, std::false_type{});
}

template <class Cfg>
__global__ void __launch_bounds__(Fma<Cfg>::kThreads, Cfg::value.ctas_per_sm)
    matmul_sm80_fma(const Params p) {
  using T = Fma<Cfg>;
  auto& smem = ptx::dynamic_smem<typename T::Smem>();
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
    __syncthreads();  // the stages are read
    store_sums<Cfg>(p, smem, product_scale(p.epilogue), index.batch, m0, n0, sums);
    __syncthreads();  // the blocks are read: the next tile fills stages
  }
}

struct FmaKernels {
  static constexpr std::size_t kCount = std::size(kFp32Configs) * 4;
  static constexpr Config config(std::size_t index) {
    return config_at(Arithmetic::fp32, Load::async, index);
  }
  template <std::size_t kIndex>
  static KernelPointer pointer() {
    return &matmul_sm80_fma<std::integral_constant<Config, config(kIndex)>>;
  }
};

}  // namespace

const KernelSet sm80_fp32 = kernel_set<FmaKernels>();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
