// Softmax: from a problem to what a kernel runs. Pure host code, tested without a GPU.
//
// The path, and with it the order of every addition, follows from the number of columns and the
// types alone, so that a row's bits do not depend on how many rows there are or how they lie:
//
//   warp     Lanes of a warp share a row and hold it in registers: as few lanes as have the columns
//            in one vector each, so that short rows still load and store whole sectors; then all 32
//            with several vectors. Of short rows each lane has several at once.
//   block    A CTA a row, as few warps as hold it in registers.
//   parked   The same for longer fp32 rows, of which the rest waits in shared memory.
//   cluster  From sm90 on, instead of block, parked and split, rows of more than 512 threads: a
//            cluster a row, of up to 16 CTAs that hold it in registers.
//   split    Rows beyond that go in chunks of whole blocks to many CTAs: some leave the maximum and
//            the sum of each chunk in scratch memory, others combine those and write. Everything is
//            read twice, a row of a few MB the second time from the L2.
//   strided  A view without unit column stride: softmax_strided_plan.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/common/divide.h"
#include "kernels/softmax/softmax.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

enum class Path { warp, block, parked, cluster, split, strided };

// How 2^t = exp(scale (x - m)) is computed: v = turn * x, of which the largest is m's,
// d = shrink (v - m), t = d (hi + lo). All follows from `scale`; make_exponent says how.
struct Exponent {
  float turn;    // 1, -1 or 0: v is largest where scale * x is
  float shrink;  // a power of two, 1 at most
  float hi,
      lo;  // > 0; their sum is |scale| log2(e) / shrink to 46 bits (beyond a float's range: 25)
  float linear;  // scale (x - m) = linear * d
  float rate;    // |scale| log2(e) / shrink, rounded to nearest
  float direct;  // the same of v itself, or 0 if that is too small or large
};

// What a chunk of a row amounts to: the largest v, and the sum of exp(scale (x - m)) relative to
// it.
struct alignas(8) Partial {
  float most, sum;
};

// Which of the work a launch does.
enum class Stage : int {
  whole,     // all
  clear,     // split: scratch, first
  partials,  // strided: the Partial of each chunk
  combine,   // strided: from these the row's, in the first one's place
  finish,    // strided: from these the result
};

// How the rows of a column are reached, where a thread has a vector of neighbouring ones.
enum class Access : int {
  vectors,   // adjacent, every vector aligned
  shifted,   // adjacent
  elements,  // one by one
};

// Kernel arguments of all paths. Strides in elements.
struct Params {
  const void* x;
  const void* x_end;  // past the last element of x
  void* y;
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_row_stride, y_col_stride;
  Exponent exponent;
  bool log, zero_neg_inf_row, in_place;
  Access x_access, y_access;  // strided
  Stage stage;                // strided
  int lanes_log2;             // warp: of a row; strided: of a column
  int parked;                 // block, strided: vectors that a thread keeps in shared memory
  std::int64_t items;         // CTAs' worth of work
  std::int64_t chunk_cols;    // split, strided
  int blocks;                 // split: of a chunk
  Divider chunks;             // of a row
  std::int64_t lag;           // split: a chunk is written so many chunks after it was read
  Partial* partials;          // [rows, chunks]; split: and a count of tickets
};

struct Plan {
  Path path;
  int windows;  // vectors that a thread holds in registers
  int threads;  // of a CTA
  bool
      aligned;  // warp, one vector a lane: rows of whole aligned vectors have a kernel of their own
  int cluster;  // CTAs that share a row; strided: a tile
  Params params;  // partials unset
  std::size_t workspace_bytes;

  bool two_launches() const { return workspace_bytes != 0; }
};

// ---- The ladder -------------------------------------------------------------------------------
// Measured figures are of one NVIDIA H200, 2026-11-30, 2^27 elements, bytes read and written a
// second; the others are not measured yet.

inline constexpr int kVectorBytes = 16;  // of the output; the input's vector has as many columns
inline constexpr int kWarpCtaThreads = 128;
inline constexpr int kFewValues = 16;  // that a thread holds in registers
// Terms of a thread; more values stay packed, in as many words.
inline constexpr int kMostKept = 32;
// Of longer rows a thread holds most_values, and there are fewer warps. bf16, TB/s with 32 kept and
// with 64 packed values: 8192 columns 4.08 and 4.05, 16384 3.62 and 4.05, 32768 2.99 and 4.02.
inline constexpr std::int64_t kKeptCols = 8192;
inline constexpr int kMostBlockWarps = 32;
// Half of a row of 16384 fp32 columns in shared memory is slower, 3.82 for 3.91 TB/s; of 32768,
// 3.79 for 3.87 (in a kernel that spilled 24 bytes a thread).
inline constexpr int kMostParked = 6;  // vectors: 96 KiB a CTA, which every device from 8.0 on has
// An SM has 32 warps of clusters, in CTAs of which some load while others compute or store. CTAs of
// few warps are ahead where several shapes keep them busy, but not of four in misaligned rows. 2^27
// elements, us, in two runs: bf16, 131072 columns, 8 CTAs of 8 warps 134.5, 4 of 16 140.7, 2 of 32
// 168.7; 262144, 16 of 8 139.6, 8 of 16 146.3; 151936, 15 of 5 154.8, 5 of 15 165.5, 8 of 10 168.9;
// 128255, 8 of 8 178.4, 16 of 4 219.1; 50257, 5 of 5 209.3, 7 of 4 221.3, 4 of 7 228 (with
// realigning: 136 and 135 now); fp32, 262144, 16 of 16 279.8, with half of it parked 308.6.
inline constexpr int kMostClusterCtas = 16;
inline constexpr int kClusterWarpsAnSm = 32;
inline constexpr int kLeastClusterWarps = 5;
inline constexpr int kMostClusterWarps = 16;
// The shortest row of a cluster has more than the values of so many threads: shorter ones are as
// fast in one CTA (32768 columns of bf16, us: 133 in one, 132.8 in four).
inline constexpr std::int64_t kLeastClusterValues = 512;
inline constexpr int kSplitThreads = 256;
inline constexpr std::int64_t kMostChunks = 512;  // of a row
// Of the L2, what is between a chunk's two reads may fill a 1/5. us by that distance in MB: bf16,
// 2^20 columns, 6 152.6, 8 152.5, 10 154.7, 12 159.2, 14 167.3; fp32 6 290.8, 10 294.7, 12 302.4;
// rows of 8 MB (bf16) 10 161.9, 14 167.2, of 16 MB (fp32) 16 332, 20 364; all with the
// parts that realign (softmax_sm80_split.cu), not measured again since.
inline constexpr std::int64_t kLagOfL2 = 5;
inline constexpr std::int64_t kMostBlocks = 512;  // of a chunk: 2^31 columns in kMostChunks

// Columns of a vector, and bytes of it in the input.
constexpr int items_of(DType y_type) { return kVectorBytes / int(size_of(y_type)); }
constexpr int vector_bytes(DType x_type, DType y_type) {
  return items_of(y_type) * int(size_of(x_type));
}
// Values that a thread of a CTA's row holds in registers, at most, and vectors elsewhere.
constexpr int most_values(DType y_type) { return y_type == DType::f32 ? 32 : 64; }
constexpr int most_parked(DType x_type) { return x_type == DType::f32 ? kMostParked : 0; }
// Columns of the split path that a CTA has at a time.
constexpr int split_block(DType y_type) { return kSplitThreads * most_values(y_type); }
// The longest row of a CTA.
constexpr std::int64_t block_capacity(DType x_type, DType y_type) {
  return std::int64_t(kMostBlockWarps) * 32 *
         (most_values(y_type) + most_parked(x_type) * items_of(y_type));
}
// Rows that a group of lanes of the warp path has in flight. With four, 32 columns of bf16 run at
// 4.11 TB/s, 128 at 4.04; one, in a kernel that also realigned, gave 2.92 and 2.69.
constexpr int rows_at_once(int windows, bool aligned) {
  return windows == 1 ? (aligned ? 4 : 1) : windows == 2 ? 2 : 1;
}

Exponent make_exponent(float scale);

Path path_of(const Problem& problem);
// Of the strided path only what follows from the problem without more ado.
Plan make_plan(const Problem& problem);

// The same by clusters; its path is make_plan's where no cluster serves.
Plan make_cluster_plan(const Problem& problem);

// Params::lag: a row and, so that who writes need not wait, what all SMs have in hand; but beyond a
// row no more than the L2 keeps until it is read again.
std::int64_t lag_of(const Problem& problem, const Plan& plan, const DeviceProperties& properties);

// CTAs to launch, and to clear scratch before.
unsigned grid_of(const Plan& plan, const LaunchContext& context);
unsigned clearing_grid(const Plan& plan, const LaunchContext& context);

// The plan in words, for explain(). `smem` is the bytes of shared memory.
std::string describe_plan(const Problem& problem, const Plan& plan, std::size_t smem,
                          const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
