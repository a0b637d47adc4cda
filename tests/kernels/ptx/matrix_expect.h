// What ldmatrix and stmatrix move, from the PTX manual's words: row r of matrix j is where lane
// 8 j + r points; register j of lane l holds elements 2 (l % 4) and the next of row l / 4, the
// lower one in the low half, of the matrix or of its transpose.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "tests/support/ptx_run.h"

namespace libkernels::test {

inline constexpr unsigned kMatrixWarp = 32;

struct MatrixForm {
  unsigned count;
  bool trans;
};
inline MatrixForm matrix_form(const std::string& name) {  // "x4_trans"
  return {unsigned(name[1] - '0'), name.ends_with("_trans")};
}

// Four words for a thread and which row it points at: in every warp each row once.
inline Words matrix_inputs(std::size_t threads, std::uint64_t seed) {
  Words in = draw(threads, 5, seed);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t warp = t / kMatrixWarp, lane = t % kMatrixWarp;
    const std::uint32_t draw = random_word(seed, warp);
    in[4 * threads + t] = std::uint32_t(lane * (2 * draw % 32 + 1) + draw / 32 % 32) % kMatrixWarp;
  }
  return in;
}

// Calls move(lane that points, column, lane that holds, register, half) for each element.
template <class Move>
void for_matrix_elements(const MatrixForm& form, Move move) {
  for (unsigned j = 0; j < form.count; ++j) {
    for (unsigned lane = 0; lane < kMatrixWarp; ++lane) {
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4, column = 2 * (lane % 4) + half;
        if (form.trans) std::swap(row, column);
        move(8 * j + row, column, lane, j, half);
      }
    }
  }
}

inline std::uint32_t half_of(std::uint32_t word, unsigned half) {
  return word >> (16 * half) & 0xffffu;
}
inline void set_half(std::uint32_t* word, unsigned half, std::uint32_t bits) {
  *word = (*word & ~(0xffffu << (16 * half))) | bits << (16 * half);
}

// Runs each case on drawn inputs. `expected` is the definition's output.
inline void check_matrix_cases(std::span<const PtxCase> cases, Device& device,
                               Words (*expected)(const PtxCase& c, const Words& in,
                                                 std::size_t threads)) {
  for (const PtxCase& c : cases) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const std::size_t threads = 8 * c.cta_threads;
      const Words in = matrix_inputs(threads, seed);
      EXPECT_TRUE(same_words(in, run_case(c, device, in), expected(c, in, threads), threads))
          << c.name;
    }
  }
}

}  // namespace libkernels::test
