// Matmul on sm90: the copy of operands to where the copy engine can read them
// (matmul_repack_plan.h).
//
// A thread has kRepackUnroll vectors of the copy, each written as 16 aligned bytes. It is read as
// the two aligned vectors that hold it, realigned by a funnel shift: neighbouring lanes share
// those, and the L1 serves the second. Only bytes of the matrix are read: where a vector would
// reach beyond a line into a gap, or beyond the matrix, element by element, as without a unit
// stride. What lies beyond the end of a line of the copy is unspecified: tensor maps end before.
// An operand that changes its adjacent dimension goes through shared memory
// (matmul_repack_transpose.cuh).
#pragma once

#include "kernels/matmul/matmul_repack_transpose.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A vector of the copy on its way.
template <int kElement>
struct RepackVector {
  static constexpr int kElements = kRepackVector / kElement;

  LoadedVector<kElement> loaded{};
  unsigned char* to = nullptr;  // null: there is no such vector

  // Vector i of the copy.
  LK_DEVICE void load(const Repack& r, unsigned char* scratch, std::int64_t i) {
    if (i >= r.per_line.divisor * r.lines * r.batch) return;
    const std::int64_t line = quotient(i, r.per_line);  // of all matrices
    const std::int64_t at = (i - line * r.per_line.divisor) * kElements;
    const std::int64_t matrix = quotient(line, r.per_matrix);
    to = scratch + r.place + (line * r.pitch + at) * kElement;
    const auto* base =
        static_cast<const unsigned char*>(r.from) + matrix * r.batch_stride * kElement;
    const unsigned char* first = base + (line - matrix * r.lines) * r.line_stride * kElement;
    const unsigned char* begin = r.dense ? base : first;
    const unsigned char* end = begin + r.length * (r.dense ? r.lines : 1) * kElement;
    const std::int64_t left = r.length - at;
    loaded.load(first + at * r.step * kElement, r.step, left < kElements ? int(left) : kElements,
                begin, end);
  }

  LK_DEVICE void store() const {
    if (to != nullptr) store_vector<4>(to, loaded.words());
  }
};

template <int kElement>
__global__ void __launch_bounds__(kRepackThreads)
    matmul_sm90_repack(const __grid_constant__ RepackParams p) {
  ptx::griddepcontrol_launch_dependents();  // the product may start, and waits for the copies
  auto* scratch = static_cast<unsigned char*>(p.scratch);
#pragma unroll 1
  for (std::int64_t item = blockIdx.x; item < p.a.items + p.b.items; item += gridDim.x) {
    const bool of_a = item < p.a.items;
    const Repack& r = of_a ? p.a : p.b;
    const std::int64_t of_r = of_a ? item : item - p.a.items;
    if constexpr (kElement != 2) {
      if (r.transposes) {
        transpose_item<kElement>(r, scratch, of_r);
        continue;
      }
    }
    const std::int64_t first = of_r * kRepackItem + threadIdx.x;
    RepackVector<kElement> vectors[kRepackUnroll];
#pragma unroll
    for (int i = 0; i < kRepackUnroll; ++i) {
      vectors[i].load(r, scratch, first + i * kRepackThreads);
    }
#pragma unroll
    for (int i = 0; i < kRepackUnroll; ++i) vectors[i].store();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
