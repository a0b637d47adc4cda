// Judges of softmax and row-sum: exact facts of each row, then a look at every element of the
// output.
//
// A warp takes a piece of a row, its lanes every 32nd element, in fp64; the pieces of a row are put
// together in a second step.
#include "bench/judge_math.cuh"
#include "bench/judge_tables.h"
#include "kernels/common/divide.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace judge_rows {

struct FactsParams {
  const void* x;
  const bench::RowFacts* rows;  // whose max is known, where exponentials are asked for
  bench::RowFacts* out;         // one a group
  std::int64_t cols, piece, groups;
  Divider pieces;  // of a row
  bench::Strides strides;
};

struct FactsSmem {
  bench::RowFacts lane[kJudgeThreads];
};

LK_DEVICE void merge(bench::RowFacts* into, const bench::RowFacts& more) {
  into->max = larger(into->max, more.max);
  into->sum += more.sum;
  into->sum_abs += more.sum_abs;
  into->sum_exp += more.sum_exp;
}

LK_DEVICE bench::RowFacts nothing() {
  return {.max = -INFINITY, .sum = 0, .sum_abs = 0, .sum_exp = 0};
}

// Lane 0 of the warp stores what the first `lanes` lanes have, exponentials alone or all else.
template <bool kExp>
LK_DEVICE void store_warp(const bench::RowFacts& mine, int lanes, bool active,
                          bench::RowFacts* out) {
  bench::RowFacts* all = ptx::dynamic_smem<FactsSmem>().lane;
  const int t = int(threadIdx.x);
  all[t] = mine;
  __syncwarp();
  if (t % kJudgeLanes != 0 || !active) return;
  bench::RowFacts total = mine;
  for (int i = 1; i < lanes; ++i) merge(&total, all[t + i]);
  if (kExp) {
    out->sum_exp = total.sum_exp;
  } else {
    *out = total;
  }
}

template <DType T, bool kExp>
__global__ void __launch_bounds__(kJudgeThreads) facts_kernel(FactsParams p) {
  const int lane = int(threadIdx.x) % kJudgeLanes;
  const std::int64_t group =
      std::int64_t(blockIdx.x) * kJudgeWarps + int(threadIdx.x) / kJudgeLanes;
  const bool active = group < p.groups;
  bench::RowFacts mine = nothing();
  if (active) {
    const std::int64_t row = quotient(group, p.pieces);
    const std::int64_t begin = (group - row * p.pieces.divisor) * p.piece;
    const std::int64_t end = begin + p.piece < p.cols ? begin + p.piece : p.cols;
    const double max = kExp ? p.rows[row].max : 0;
#pragma unroll 1  // exp in fp64, four times over, takes more registers than there are
    for (std::int64_t c = begin + lane; c < end; c += kJudgeLanes) {
      const double x = load<T>(p.x, at(p.strides, row, c));
      if constexpr (kExp) {
        mine.sum_exp += exp(x - max);
      } else {
        mine.max = larger(mine.max, x);
        mine.sum += x;
        mine.sum_abs += fabs(x);
      }
    }
  }
  const int lanes = p.piece < kJudgeLanes ? int(p.piece) : kJudgeLanes;
  store_warp<kExp>(mine, lanes, active, p.out + group);
}

struct CombineParams {
  const bench::RowFacts* pieces;
  bench::RowFacts* rows;
  std::int64_t count;  // of rows
  std::int64_t per_row;
};

template <bool kExp>
__global__ void __launch_bounds__(kJudgeThreads) combine_kernel(CombineParams p) {
  const std::int64_t row = std::int64_t(blockIdx.x) * kJudgeWarps + int(threadIdx.x) / kJudgeLanes;
  const bool active = row < p.count;
  bench::RowFacts mine = nothing();
  if (active) {
    for (std::int64_t i = int(threadIdx.x) % kJudgeLanes; i < p.per_row; i += kJudgeLanes) {
      merge(&mine, p.pieces[row * p.per_row + i]);
    }
  }
  store_warp<kExp>(mine, kJudgeLanes, active, p.rows + row);
}

template <bool kExp>
cudaError_t launch_facts(const bench::RowJudgeCall& call) {
  const std::int64_t pieces =
      call.cols <= bench::kFactsPiece ? 1 : bench::facts_pieces(call.rows, call.cols) / call.rows;
  const FactsParams params{.x = call.x,
                           .rows = call.facts,
                           .out = pieces == 1 ? call.facts : call.pieces,
                           .cols = call.cols,
                           .piece = pieces == 1 ? call.cols : bench::kFactsPiece,
                           .groups = call.rows * pieces,
                           .pieces = make_divider(pieces),
                           .strides = call.x_strides};
  const auto shape = [](std::int64_t warps) {
    return ptx::LaunchShape{.grid = dim3(unsigned(divide_up(warps, kJudgeWarps))),
                            .block = dim3(kJudgeThreads),
                            .smem = sizeof(FactsSmem)};
  };
  const cudaError_t error = with_type(call.x_type, [&](auto type) {
    return ptx::launch(&facts_kernel<type(), kExp>, shape(params.groups), call.stream, params);
  });
  if (error != cudaSuccess || pieces == 1) return error;
  return ptx::launch(
      &combine_kernel<kExp>, shape(call.rows), call.stream,
      CombineParams{
          .pieces = call.pieces, .rows = call.facts, .count = call.rows, .per_row = pieces});
}

struct JudgeParams {
  const void* x;
  const void* y;
  const bench::RowFacts* facts;
  bench::Findings* findings;
  std::int64_t n;
  Divider cols;
  bench::Strides x_strides, y_strides;
  OutputFormat format;
  double wide_unit;  // of x's type at 1: a chain rounds to it after each step
};

// The library: 2^-23 (6 + |x - max| + log2 N) y + 2^-149 and the rounding to 16 bits. A baseline
// rounds x - max and all that follows to x's type and adds up to N / 256 terms in series.
template <DType kIn, DType kOut>
__global__ void __launch_bounds__(kJudgeThreads) judge_softmax_kernel(JudgeParams p) {
  constexpr double kSmallest = 0x1p-149;
  constexpr double kSteps = 8;
  constexpr double kSerial = 256;
  const double cols = double(p.cols.divisor);
  bench::Findings found;
  const std::int64_t step = std::int64_t(gridDim.x) * kJudgeThreads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.x; i < p.n;
       i += step) {
    const std::int64_t r = quotient(i, p.cols);
    const std::int64_t c = i - r * p.cols.divisor;
    const bench::RowFacts& row = p.facts[r];
    const double s = double(load<kIn>(p.x, at(p.x_strides, r, c))) - row.max;
    const double exact = exp(s) / row.sum_exp;
    const double unit = unit_at(p.format, exact);
    const double bound = 0x1p-23 * (6 + fabs(s) + log2(cols)) * exact + kSmallest;
    const double wide =
        (p.wide_unit * (kSteps + fabs(s)) + 0x1p-23 * (log2(cols) + cols / kSerial)) * exact;
    note(&found, i, load<kOut>(p.y, at(p.y_strides, r, c)), exact, unit,
         bound + rounding_at(p.format, exact), wide + unit);
  }
  report(found, p.findings);
}

// The library: 2^-24 (32 + 4 ceil(log2 N)) S. A baseline adds in series, with errors of random
// sign.
__global__ void __launch_bounds__(kJudgeThreads) judge_row_sum_kernel(JudgeParams p) {
  const double cols = double(p.cols.divisor);
  const double factor = 0x1p-24 * (32 + 4 * ceil(log2(cols)));
  const double wide_factor = 0x1p-24 * (64 + 4 * sqrt(cols));
  bench::Findings found;
  const std::int64_t step = std::int64_t(gridDim.x) * kJudgeThreads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.x; i < p.n;
       i += step) {
    const bench::RowFacts& row = p.facts[i];
    // The result may be next to nothing by cancellation: units are those of a typical one.
    const double typical = larger(fabs(row.sum), row.sum_abs / sqrt(cols));
    note(&found, i, load<DType::f32>(p.y, i), row.sum, unit_at(p.format, typical),
         factor * row.sum_abs + 0x1p-149, wide_factor * row.sum_abs + 0x1p-149);
  }
  report(found, p.findings);
}

JudgeParams params_of(const bench::RowJudgeCall& call, std::int64_t n) {
  return {.x = call.x,
          .y = call.y,
          .facts = call.facts,
          .findings = call.findings,
          .n = n,
          .cols = make_divider(call.cols),
          .x_strides = call.x_strides,
          .y_strides = call.y_strides,
          .format = output_format(call.y_type),
          .wide_unit = ldexp(1.0, -output_format(call.x_type).mantissa_bits)};
}

ptx::LaunchShape shape_of(std::int64_t n) {
  return {.grid = dim3(judge_grid(n)), .block = dim3(kJudgeThreads), .smem = sizeof(FindingsSmem)};
}

}  // namespace judge_rows

cudaError_t row_facts(const bench::RowJudgeCall& call, bool with_exp) {
  const cudaError_t error = judge_rows::launch_facts<false>(call);
  return error != cudaSuccess || !with_exp ? error : judge_rows::launch_facts<true>(call);
}

cudaError_t judge_softmax(const bench::RowJudgeCall& call) {
  const std::int64_t n = call.rows * call.cols;
  return with_types(call.x_type, call.y_type, [&](auto in, auto out) {
    return ptx::launch(&judge_rows::judge_softmax_kernel<in(), out()>, judge_rows::shape_of(n),
                       call.stream, judge_rows::params_of(call, n));
  });
}

cudaError_t judge_row_sum(const bench::RowJudgeCall& call) {
  return ptx::launch(&judge_rows::judge_row_sum_kernel, judge_rows::shape_of(call.rows),
                     call.stream, judge_rows::params_of(call, call.rows));
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
