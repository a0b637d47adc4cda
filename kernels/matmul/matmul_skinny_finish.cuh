// Matmul with few columns on sm90: from the sums that the CTAs of a cluster have staged in their
// shared memory to C.
#pragma once

#include "kernels/matmul/matmul_skinny_shape.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Four rows of a column of this CTA's tile: the sums of all parts of K, in their order.
template <class Cfg>
LK_DEVICE void add_up(typename Skinny<Cfg>::Smem& s, const Place& place, int col, int row,
                      float (&v)[kEpilogueVector]) {
  constexpr int kParts = kSkinnyMaxCluster / Cfg::value.sharers;
  auto* own = reinterpret_cast<uint4*>(&s.u.staged.sums[col][row]);
  uint4 u[kParts];
  if (place.parts == 1) {
    u[0] = ptx::ld_shared(own);
  } else {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {  // all of them under way at once
      if (i >= place.parts) continue;
      u[i] =
          ptx::ld_shared_cluster(ptx::mapa(own, unsigned(i * Cfg::value.sharers + place.sharer)));
    }
  }
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    if (i >= place.parts) continue;
    const std::uint32_t theirs[] = {u[i].x, u[i].y, u[i].z, u[i].w};
#pragma unroll
    for (int j = 0; j < kEpilogueVector; ++j) {
      v[j] = i == 0 ? bit_cast<float>(theirs[j]) : v[j] + bit_cast<float>(theirs[j]);
    }
  }
}

// Which rows and columns of its tile a thread finishes: four rows, in every so manieth column. The
// parts take turns in columns.
template <class Cfg>
struct Share {
  static constexpr int kQuads = Cfg::value.rows / kEpilogueVector;
  static constexpr int kColsAtOnce = Skinny<Cfg>::kWarps * kWarpThreads / kQuads;
  int row, col, step;

  LK_DEVICE explicit Share(const Place& place)
      : row(int(threadIdx.x) % kQuads * kEpilogueVector),
        col(int(threadIdx.x) / kQuads + place.part * kColsAtOnce),
        step(place.parts * kColsAtOnce) {}
};

// The bias of a thread's four rows, if they are C's columns; loaded long before it is needed.
template <class Cfg>
LK_DEVICE void load_bias(const SkinnyParams& p, int row, float (&bias)[kEpilogueVector]) {
  const Epilogue& e = p.epilogue;
#pragma unroll
  for (int i = 0; i < kEpilogueVector; ++i) bias[i] = 0;
  if (e.bias == nullptr || !p.cols_by_rows || e.bias_on_rows || row >= e.cols) return;
  const std::int64_t left = e.cols - row;
  load_columns(bias, e.bias, row, 1, left < kEpilogueVector ? int(left) : kEpilogueVector,
               e.bias_type, false);
}

// Four rows of a column of D, of which `valid` exist, where they are not one access of C.
LK_DEVICE void finish_each(const SkinnyParams& p, float scale, const float (&v)[kEpilogueVector],
                           std::int64_t product, int row, int col, int valid) {
  const Epilogue& e = p.epilogue;
#pragma unroll 1
  for (int i = 0; i < valid; ++i) {
    const std::int64_t e_row = p.cols_by_rows ? col : row + i;
    const std::int64_t e_col = p.cols_by_rows ? row + i : col;
    float one[1] = {i == 0 ? v[0] : i == 1 ? v[1] : i == 2 ? v[2] : v[3]}, bias[1] = {};
    if (e.bias != nullptr && !e.bias_on_rows) {
      load_columns(bias, e.bias, e_col, 1, 1, e.bias_type, false);
    }
    finish(e, scale, one, bias, product, e_row, e_col, 1);
  }
}

// The usual end, several columns at once: what counts here is latency, with one warp a scheduler.
LK_DEVICE bool is_plain(const SkinnyParams& p) {
  const Epilogue& e = p.epilogue;
  return p.cols_by_rows && e.wide && e.c_in == nullptr && e.product &&
         (e.bias == nullptr || !e.bias_on_rows) &&
         (e.activation == Activation::none || e.activation == Activation::relu);
}
template <class Cfg>
LK_DEVICE void finish_plain(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                            const float (&bias)[kEpilogueVector], const Place& place,
                            const Share<Cfg>& share, std::int64_t c, int cols, int valid) {
  const Epilogue& e = p.epilogue;
  const bool relu = e.activation == Activation::relu;
#pragma unroll 4
  for (int col = share.col; col < cols; col += share.step) {
    float v[kEpilogueVector];
    add_up<Cfg>(s, place, col, share.row, v);
#pragma unroll
    for (int i = 0; i < kEpilogueVector; ++i) {
      v[i] = scale * v[i];
      if (e.bias != nullptr) v[i] += bias[i];
      if (relu) v[i] = ptx::max_NaN_f32(v[i], 0.0f);
    }
    store_columns(v, e.c, c + col * e.row_stride, 1, valid, e.type, true);
  }
}

// This CTA's share of its tile, from the sums of the parts to C, or to scratch.
template <class Cfg>
LK_DEVICE void finish_tile(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                           const float (&bias)[kEpilogueVector], const Place& place,
                           const Work& work) {
  const Epilogue& e = p.epilogue;
  const std::int64_t product = std::int64_t(work.batch) * p.splits + work.split;
  const Share<Cfg> share(place);
  const int row = work.row + share.row;
  std::int64_t left = (p.cols_by_rows ? e.cols : e.rows) - std::int64_t(row);
  if (left > p.rows - share.row) left = p.rows - share.row;
  if (left <= 0) return;
  const int valid = left < kEpilogueVector ? int(left) : kEpilogueVector;
  const int cols = p.cols - work.col < Cfg::value.cols ? p.cols - work.col : Cfg::value.cols;
  if (is_plain(p)) {
    const std::int64_t c = product * e.batch_stride + work.col * e.row_stride + row;
    return finish_plain<Cfg>(p, s, scale, bias, place, share, c, cols, valid);
  }
#pragma unroll 1
  for (int col = share.col; col < cols; col += share.step) {
    float v[kEpilogueVector];
    add_up<Cfg>(s, place, col, share.row, v);
    if (p.cols_by_rows && e.wide) {
      finish(e, scale, v, bias, product, work.col + col, row, valid);
    } else {
      finish_each(p, scale, v, product, row, work.col + col, valid);
    }
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
