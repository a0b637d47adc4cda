// Matmul on sm90: the copy of operands to where the copy engine can read them
// (matmul_repack_plan.h).
//
// A thread has kRepackUnroll vectors of the copy, each written as 16 aligned bytes. It is read as
// the two aligned vectors that hold it, realigned by a funnel shift: neighbouring lanes share
// those, and the L1 serves the second. Only bytes of the matrix are read: where a vector would
// reach beyond a line into a gap, or beyond the matrix, element by element, as without a unit
// stride. What lies beyond the end of a line of the copy is unspecified: tensor maps end before.
#pragma once

#include "kernels/common/divide.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/matmul/matmul_repack_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// One vector on its way.
struct RepackVector {
  static constexpr int kWords = kRepackVector / 2;
  static constexpr int kBytes = 2 * kRepackVector;

  Words<kWords> lo{}, hi{};
  std::uint32_t shift = 0;      // bytes into {lo, hi}
  unsigned char* to = nullptr;  // null: there is no such vector

  // Vector i of the copy.
  LK_DEVICE void load(const Repack& r, unsigned char* scratch, std::int64_t i) {
    if (i >= r.per_line.divisor * r.lines * r.batch) return;
    const std::int64_t line = quotient(i, r.per_line);  // of all matrices
    const std::int64_t at = (i - line * r.per_line.divisor) * kRepackVector;
    const std::int64_t matrix = quotient(line, r.per_matrix);
    to = scratch + r.place + (line * r.pitch + at) * 2;
    const auto* base = static_cast<const unsigned char*>(r.from) + matrix * r.batch_stride * 2;
    const std::int64_t first = (line - matrix * r.lines) * r.line_stride * 2;
    const std::int64_t left = r.length - at;
    load_from(r, base, base + first, at, left < kRepackVector ? int(left) : kRepackVector);
  }

  LK_DEVICE void load_from(const Repack& r, const unsigned char* matrix, const unsigned char* line,
                           std::int64_t at, int count) {
    const unsigned char* p = line + at * r.step * 2;
    if (r.step == 1) {
      const unsigned char* begin = r.dense ? matrix : line;
      const unsigned char* end = begin + r.length * (r.dense ? r.lines : 1) * 2;
      const std::uint32_t phase = phase_of(p, kBytes);
      const unsigned char* aligned = p - phase;
      const bool two = int(phase) + 2 * count > kBytes;
      if (aligned >= begin && aligned + (two ? 2 * kBytes : kBytes) <= end) {
        lo = load_vector<kWords>(aligned);
        if (two) hi = load_vector<kWords>(aligned + kBytes);
        shift = phase;
        return;
      }
    }
#pragma unroll
    for (int e = 0; e < kRepackVector; ++e) {
      const auto* q = reinterpret_cast<const std::uint16_t*>(p) + e * r.step;
      const std::uint32_t bits = e < count ? std::uint32_t(ptx::ld_global(q)) : 0u;
      lo.v[e / 2] |= bits << (16 * (e % 2));
    }
  }

  LK_DEVICE void store() const {
    if (to != nullptr) store_vector<kWords>(to, funnel(lo, hi, shift));
  }
};

__global__ void __launch_bounds__(kRepackThreads)
    matmul_sm90_repack(const __grid_constant__ RepackParams p) {
  ptx::griddepcontrol_launch_dependents();  // the product may start, and waits for the copies
  auto* scratch = static_cast<unsigned char*>(p.scratch);
#pragma unroll 1
  for (std::int64_t item = blockIdx.x; item < p.a.items + p.b.items; item += gridDim.x) {
    const bool of_a = item < p.a.items;
    const Repack& r = of_a ? p.a : p.b;
    const std::int64_t first = (of_a ? item : item - p.a.items) * kRepackItem + threadIdx.x;
    RepackVector vectors[kRepackUnroll];
#pragma unroll
    for (int i = 0; i < kRepackUnroll; ++i) {
      vectors[i].load(r, scratch, first + i * kRepackThreads);
    }
#pragma unroll
    for (int i = 0; i < kRepackUnroll; ++i) vectors[i].store();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
