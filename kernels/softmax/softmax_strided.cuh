// Softmax of views without unit column stride: a tile of rows in shared memory.
//
// Every thread loads, keeps and stores vectors of its own, each some neighbouring rows of a column
// (softmax_strided_plan.h): threads wait for each other only to combine what they know of a row.
#pragma once

#include "kernels/softmax/softmax_tile.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// A CTA's shared memory: strided_smem_bytes.
struct TileSmem {
  uint4* most;             // [warps][lanes], packed
  float* sums;             // [warps][rows]
  float* of_row;           // [rows]: the largest value, later what is subtracted
  float *factor, *offset;  // [rows]
  uint2* partials;         // [CTAs][rows], by rank
  uint4* vectors;          // [Params::parked][threads]

  LK_DEVICE TileSmem(int warps, int lanes, int rows, int ctas) {
    most = &ptx::dynamic_smem<uint4>();
    sums = reinterpret_cast<float*>(most + warps * lanes);
    of_row = sums + warps * rows;
    factor = of_row + rows;
    offset = factor + rows;
    partials = reinterpret_cast<uint2*>(offset + rows);
    vectors = reinterpret_cast<uint4*>(partials + ctas * rows);
  }
};

// What a CTA's threads together know of the tile's rows.
template <class Cfg>
class TileRows {
 public:
  static constexpr DType kX = Cfg::value.x_type;
  static constexpr int kItems = TileVectors<Cfg>::kItems;

  LK_DEVICE TileRows(const Params& params, const TileSmem& shared, const TilePlace& at)
      : p(params), smem(shared), at_(at), first_(at.lane * kItems) {}

  // The largest value of each of the thread's rows, over the CTA's columns.
  LK_DEVICE void most(Words<4> words, float (&most)[kItems]) const {
    for (int mask = at_.lanes; mask < kWarpThreads; mask *= 2) {
#pragma unroll
      for (std::uint32_t& w : words.v) {
        w = WordOps<kX>::most(w, ptx::shfl_sync_bfly(w, unsigned(mask)));
      }
    }
    if (warps() > 1) {
      if (leads_warp()) smem.most[warp() * at_.lanes + at_.lane] = bit_cast<uint4>(words);
      __syncthreads();
#pragma unroll 1
      for (int w = 0; w < warps(); ++w) {
        const auto other = bit_cast<Words<4>>(smem.most[w * at_.lanes + at_.lane]);
#pragma unroll
        for (int k = 0; k < 4; ++k) words.v[k] = WordOps<kX>::most(words.v[k], other.v[k]);
      }
    }
    unpack_columns<kX, kItems>(words, most);
  }

  // Leaves the largest values and the sums of the CTA's columns in shared memory.
  LK_DEVICE void put(const float (&most)[kItems], float (&sums)[kItems]) const {
    for (int mask = at_.lanes; mask < kWarpThreads; mask *= 2) {
#pragma unroll
      for (float& s : sums) s += ptx::shfl_sync_bfly(s, unsigned(mask));
    }
    if (leads_warp()) {
#pragma unroll
      for (int j = 0; j < kItems; ++j) smem.sums[warp() * rows() + first_ + j] = sums[j];
    }
    if (at_.slot == 0) {
#pragma unroll
      for (int j = 0; j < kItems; ++j) smem.of_row[first_ + j] = most[j];
    }
    __syncthreads();
  }
  LK_DEVICE Partial partial(int row) const {
    float sum = smem.sums[row];
#pragma unroll 1
    for (int w = 1; w < warps(); ++w) sum += smem.sums[w * rows() + row];
    return {.most = smem.of_row[row], .sum = sum};
  }

  LK_DEVICE void finish(int row, const Partial& all) const {
    const Norm norm(p, all.sum);
    smem.of_row[row] = subtrahend(all.most, p.exponent, p.zero_neg_inf_row);
    smem.factor[row] = norm.factor;
    smem.offset[row] = norm.offset;
  }
  LK_DEVICE void get(float (&less)[kItems], float (&factor)[kItems],
                     float (&offset)[kItems]) const {
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      less[j] = smem.of_row[first_ + j];
      factor[j] = smem.factor[first_ + j];
      offset[j] = smem.offset[first_ + j];
    }
  }

 private:
  static LK_DEVICE int warp() { return int(threadIdx.x) / kWarpThreads; }
  static LK_DEVICE int warps() { return int(blockDim.x) / kWarpThreads; }
  LK_DEVICE int rows() const { return at_.lanes * kItems; }
  LK_DEVICE bool leads_warp() const { return int(threadIdx.x) % kWarpThreads < at_.lanes; }

  const Params& p;
  const TileSmem& smem;
  TilePlace at_;
  int first_;  // row of the tile's
};

// `count` partial results, get(i) each, as one.
template <class Get>
LK_DEVICE Partial combined_serially(int count, bool zero_neg_inf, const Exponent& e, Get get) {
  float most = kMinusInfinity;
#pragma unroll 4
  for (int i = 0; i < count; ++i) most = MaxNaN::combine(most, get(i).most);
  const float less = subtrahend(most, e, zero_neg_inf);
  LongSum sum;
#pragma unroll 4
  for (int i = 0; i < count; ++i) sum.add(rebased(get(i), less, e));
  return {.most = most, .sum = sum.value()};
}

// The second of three launches.
LK_DEVICE void combine_chunks(const Params& p) {
  constexpr int kWarps = kTileMostThreads / kWarpThreads;
  struct Slots {
    float of_warp[2][2][kWarps];
  };
  const auto count = p.chunks.divisor;
  const bool by_warp = count <= kWarpChunks;
  const int warp = int(threadIdx.x) / kWarpThreads, lane = int(threadIdx.x) % kWarpThreads;
  const std::int64_t step = std::int64_t(gridDim.x) * (by_warp ? kWarps : 1);
  std::int64_t row = std::int64_t(blockIdx.x) * (by_warp ? kWarps : 1) + (by_warp ? warp : 0);
  int turn = 0;
  for (; row < p.rows; row += step) {
    Partial* const partials = p.partials + row * count;
    if (by_warp) {
      float most = kMinusInfinity;
#pragma unroll 4
      for (int i = lane; i < count; i += kWarpThreads) {
        most = MaxNaN::combine(most, load_partial(partials + i).most);
      }
      most = reduce_lanes<MaxNaN>(most);
      const float less = subtrahend(most, p.exponent, p.zero_neg_inf_row);
      LongSum sum;
#pragma unroll 4
      for (int i = lane; i < count; i += kWarpThreads) {
        sum.add(rebased(load_partial(partials + i), less, p.exponent));
      }
      const float all = reduce_lanes<Sum>(sum.value());
      if (lane == 0) store_partial(partials, {.most = most, .sum = all});
    } else {
      auto& slots = ptx::dynamic_smem<Slots>().of_warp[turn];
      const Partial all = combined<kWarps>(int(count), p.zero_neg_inf_row, p.exponent, slots,
                                           [&](int i) { return load_partial(partials + i); });
      if (threadIdx.x == 0) store_partial(partials, all);
      turn ^= 1;
    }
  }
}

// Are all terms of rows with these smallest values normal? The warp's, which may run the shorter
// code with the same results.
template <class Cfg>
LK_DEVICE bool all_normal(const Words<4>& least_words,
                          const float (&less)[TileVectors<Cfg>::kItems], const Params& p) {
  constexpr int kItems = TileVectors<Cfg>::kItems;
  if constexpr (Cfg::value.y_type == DType::f16) return false;  // has one code
  float least[kItems];
  unpack_columns<Cfg::value.x_type, kItems>(least_words, least);
  bool normal = !p.log;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const float d = difference(least[j], less[j], p.exponent);
    normal = normal && exponent_of(d, p.exponent) >= kLeastNormal;
  }
  return ptx::vote_sync_all(normal);
}

// The kernels' body: a tile, or a chunk of one, a cluster.
template <class Cfg, bool kClusters>
LK_DEVICE void softmax_tiles(const Params& p) {
  if (p.stage == Stage::combine) return combine_chunks(p);
  using Mine = TileVectors<Cfg>;
  constexpr int kItems = Mine::kItems;
  const TilePlace at(p);
  const int ctas = kClusters ? int(ptx::cluster_nctarank()) : 1;
  const int rank = kClusters ? int(ptx::cluster_ctarank()) : 0;
  const int cta_cols = p.parked * at.slots, tile_rows = at.lanes * kItems;
  const TileSmem smem(int(blockDim.x) / kWarpThreads, at.lanes, tile_rows, ctas);
  const TileRows<Cfg> rows(p, smem, at);
  const bool exchange = ctas > 1 && p.stage != Stage::finish;
  // A part of a row of only -inf adds nothing.
  const bool zero_chunk = p.zero_neg_inf_row || p.stage == Stage::partials;

  const std::int64_t step = std::int64_t(gridDim.x) / ctas;
  for (std::int64_t item = std::int64_t(blockIdx.x) / ctas; item < p.items; item += step) {
    // Backwards from what the launch before has read last.
    const Chunk chunk(p, p.stage == Stage::finish ? p.items - 1 - item : item);
    const std::int64_t tile = chunk.row * tile_rows;
    const std::int64_t begin = chunk.begin + std::int64_t(rank) * cta_cols;
    const std::int64_t end = begin + cta_cols < chunk.end ? begin + cta_cols : chunk.end;
    const Mine mine(p, smem.vectors, at, tile, begin, end);
    mine.fetch();
    if (exchange) ptx::barrier_cluster_arrive_release();  // the partials of a tile ago are read
    mine.arrive();

    Words<4> most_words, least_words;
    mine.extremes(most_words, least_words);
    if (p.stage != Stage::finish) {
      float most[kItems], less[kItems], sums[kItems];
      rows.most(most_words, most);
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        less[j] = subtrahend(most[j], p.exponent, zero_chunk || exchange);
      }
      if (all_normal<Cfg>(least_words, less, p)) {
        mine.template sum<true>(less, sums);
      } else {
        mine.template sum<false>(less, sums);
      }
      rows.put(most, sums);
    }
    if (exchange) {
      ptx::barrier_cluster_wait_acquire();
      for (int r = int(threadIdx.x); r < tile_rows; r += int(blockDim.x)) {
        const auto own = bit_cast<uint2>(rows.partial(r));
#pragma unroll 1
        for (int i = 0; i < ctas; ++i) {
          ptx::st_shared_cluster(ptx::mapa(&smem.partials[rank * tile_rows + r], unsigned(i)), own);
        }
      }
      ptx::barrier_cluster_arrive_release();
      ptx::barrier_cluster_wait_acquire();
    }
    for (int r = int(threadIdx.x); r < tile_rows; r += int(blockDim.x)) {
      const std::int64_t row = tile + r;
      Partial* const partials = p.partials + row * p.chunks.divisor;  // [chunks]
      Partial all;
      if (p.stage == Stage::finish) {
        all = row < p.rows ? load_partial(partials) : Partial{.most = 0, .sum = 1};
      } else if (exchange) {
        all = combined_serially(ctas, zero_chunk, p.exponent, [&](int i) {
          return bit_cast<Partial>(smem.partials[i * tile_rows + r]);
        });
      } else {
        all = rows.partial(r);
      }
      if (p.stage != Stage::partials) {
        rows.finish(r, all);
      } else if (rank == 0 && row < p.rows) {
        store_partial(partials + chunk.number, all);
      }
    }
    __syncthreads();
    if (p.stage != Stage::partials) {
      float less[kItems], factor[kItems], offset[kItems];
      rows.get(less, factor, offset);
      if (all_normal<Cfg>(least_words, less, p)) {
        mine.template store<true>(less, factor, offset);
      } else {
        mine.template store<false>(less, factor, offset);
      }
    }
    if (item + step < p.items) __syncthreads();  // the shared memory is free
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
