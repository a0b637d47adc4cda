// Runs one row-sum kernel, of one backend, on one mix of types: what the tests of this directory
// are parameterised over.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "include/libkernels/error.h"
#include "src/backend.h"
#include "tests/reference/row_sum.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/fill.h"
#include "tests/support/strided.h"

namespace libkernels::test {

using Bits = std::vector<std::uint32_t>;

struct RowSumParam {
  Kernel kernel;
  DType x_type, y_type;
};

inline std::string show(const RowSumParam& p) {
  return show(p.kernel) + "_" + name(p.x_type) + "_" + name(p.y_type);
}
inline void PrintTo(const RowSumParam& p, std::ostream* out) { *out << show(p); }

inline constexpr std::pair<DType, DType> kRowSumTypes[] = {{DType::f32, DType::f32},
                                                           {DType::f16, DType::f16},
                                                           {DType::f16, DType::f32},
                                                           {DType::bf16, DType::bf16},
                                                           {DType::bf16, DType::f32}};

// Every kernel x types. `keep` thins them out.
inline std::vector<RowSumParam> row_sum_params(bool (*keep)(const RowSumParam&) = nullptr) {
  std::vector<RowSumParam> all;
  for (const Kernel& kernel : kernels_of(LK_OP_ROW_SUM)) {
    for (const auto& [x, y] : kRowSumTypes) {
      const RowSumParam p{kernel, x, y};
      if (keep == nullptr || keep(p)) all.push_back(p);
    }
  }
  return all;
}

// Each input type once, written as fp32: all bits of the sum show.
inline std::vector<RowSumParam> row_sum_params_to_f32() {
  return row_sum_params([](const RowSumParam& p) { return p.y_type == DType::f32; });
}

struct CallOptions {
  int max_sms = 0;
  cudaStream_t stream = nullptr;
  const DeviceBuffer* workspace = nullptr;
};

class RowSumTest : public testing::TestWithParam<RowSumParam> {
 protected:
  void SetUp() override {
    const std::string why = why_not_here(param().kernel);
    if (!why.empty()) GTEST_SKIP() << why;
    if (emulated()) profile_.emplace(profile_of(param().kernel));
  }

  static const RowSumParam& param() { return GetParam(); }
  static bool emulated() { return is_emulated(*param().kernel.backend); }
  static Device& device() { return param().kernel.backend->device(); }
  static std::int64_t per_vector() { return std::int64_t(16 / size_of(param().x_type)); }

  static RowSumCall make_call(const lk_cmatrix& x, const lk_matrix& y, const lk_row_sum_options& o,
                              cudaStream_t stream) {
    return {&x, &y, &o, stream, param().kernel.info->name};
  }
  static void call(const lk_cmatrix& x, const lk_matrix& y, const CallOptions& given = {}) {
    lk_row_sum_options o = LK_OPTIONS_INIT(lk_row_sum_options);
    o.call.max_sms = given.max_sms;
    if (given.workspace != nullptr) {
      o.call.workspace = given.workspace->data();
      o.call.workspace_bytes = given.workspace->bytes();
    }
    param().kernel.backend->row_sum.run(make_call(x, y, o, given.stream));
  }
  static std::size_t workspace_size(const lk_cmatrix& x, const lk_matrix& y) {
    const lk_row_sum_options o = LK_OPTIONS_INIT(lk_row_sum_options);
    return param().kernel.backend->row_sum.workspace(make_call(x, y, o, nullptr));
  }

  static Layout column(std::int64_t rows, std::int64_t stride = 1, std::int64_t offset = 0) {
    return {rows, 1, stride, 1, offset};
  }

  // The sums of the rows of a view that holds `bits`, in logical order. Neither memory around the
  // elements nor x may be written.
  static Bits sums(const Layout& layout, const Bits& bits, const CallOptions& options = {},
                   std::int64_t y_stride = 1, std::int64_t y_offset = 0) {
    StridedMatrix x(device(), param().x_type, layout, bits);
    StridedMatrix y(device(), param().y_type, column(layout.rows, y_stride, y_offset));
    x.buffer().forbid_writes();  // F7
    const Bits before = emulated() ? Bits() : x.read();
    call(x.cview(), y.view(), options);
    Bits result = y.read();
    EXPECT_TRUE(y.gaps_intact()) << show(layout);
    if (!emulated()) {
      EXPECT_TRUE(x.read() == before) << "the input was written";
      EXPECT_TRUE(x.gaps_intact());
    }
    return result;
  }

  static std::uint32_t x_of(double v) { return encode(v, param().x_type); }
  static std::uint32_t y_of(double v) { return encode(v, param().y_type); }

  // Normal draws, in which another order of additions shows.
  static Bits normal(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    return normal_bits(std::size_t(rows * cols), param().x_type, seed);
  }
  static Bits row_of(const Bits& bits, std::int64_t r, std::int64_t cols) {
    return Bits(bits.begin() + r * cols, bits.begin() + (r + 1) * cols);
  }
  // The sum of each row of `bits` in a call of its own, aligned: with adjacent columns, or (a tree
  // of its own) with every second element.
  static Bits alone(std::int64_t rows, std::int64_t cols, const Bits& bits, bool adjacent = true) {
    Bits result;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Layout layout = adjacent ? row_major(1, cols) : Layout{1, cols, 0, 2};
      result.push_back(sums(layout, row_of(bits, r, cols))[0]);
    }
    return result;
  }

  // Small positive integers, a new draw each row: a column that is lost, or taken twice, shows in
  // an exact sum. `most` bounds them such that a row's sum stays below 2^24.
  static Bits integers(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    const std::int64_t most =
        std::clamp<std::int64_t>((1 << 24) / std::max<std::int64_t>(cols, 1), 1, 100);
    Bits bits(std::size_t(rows * cols));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = x_of(double(1 + std::int64_t(random_bits(seed, i) % std::uint64_t(most))));
    }
    return bits;
  }
  // Rounded once, the exact sums of integers.
  static Bits exact(std::int64_t rows, std::int64_t cols, const Bits& bits) {
    Bits expected;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto at = [&](std::int64_t c) {
        return decode(bits[std::size_t(r * cols + c)], param().x_type);
      };
      expected.push_back(y_of(reference::row_sum(cols, at).sum));
    }
    return expected;
  }

  // Numbers of columns around each border of the summation tree of adjacent columns, and of how
  // lanes share it: one lane to 32, warps of up to 16 vectors a lane, CTAs of 64 to 256 threads,
  // several rounds of a CTA, one chunk and several.
  static std::vector<std::int64_t> borders() {
    std::vector<std::int64_t> all{0};
    for (const std::int64_t vectors :
         {1, 2, 4, 7, 8, 11, 16, 32, 64, 128, 256, 512, 528, 1023, 1536, 2048, 3072, 6144, 8192}) {
      const std::int64_t n = vectors * per_vector();
      for (const std::int64_t cols : {n - 1, n, n + 1}) all.push_back(cols);
    }
    all.push_back(3 * 8192 * per_vector() + 5);
    return all;
  }

 private:
  std::optional<ProfileScope> profile_;
};

inline std::string row_sum_name(const testing::TestParamInfo<RowSumParam>& info) {
  return show(info.param);
}

}  // namespace libkernels::test
