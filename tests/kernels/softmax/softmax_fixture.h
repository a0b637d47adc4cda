// Runs softmax by the kernels of one generation, of one backend, on one mix of types: what the
// tests of this directory are parameterised over. A generation may have several kernels, each for
// some views; a call goes to the first that takes it, as in dispatch, and to no other generation.
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
#include "kernels/softmax/softmax_plan.h"
#include "src/backend.h"
#include "tests/reference/softmax.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/fill.h"
#include "tests/support/strided.h"

namespace libkernels::test {

using Bits = std::vector<std::uint32_t>;

struct SoftmaxParam {
  // Of one generation and backend, in dispatch order, and then of the generations below, which
  // serve what is left.
  std::vector<Kernel> kernels;
  DType x_type, y_type;
};

inline std::string show(const SoftmaxParam& p) {
  const Kernel& k = p.kernels.front();
  return std::string(k.backend->name) + "_" + name(Arch(k.info->arch)) + "_" + name(p.x_type) +
         "_" + name(p.y_type);
}
inline void PrintTo(const SoftmaxParam& p, std::ostream* out) { *out << show(p); }

// Every generation x types. `keep` thins them out.
inline std::vector<SoftmaxParam> softmax_params(bool (*keep)(const SoftmaxParam&) = nullptr) {
  std::vector<std::vector<Kernel>> generations;
  for (const Kernel& kernel : kernels_of(LK_OP_SOFTMAX)) {
    const auto same = [&](const std::vector<Kernel>& g) {
      return g.front().backend == kernel.backend && g.front().info->arch == kernel.info->arch;
    };
    const auto found = std::find_if(generations.begin(), generations.end(), same);
    if (found != generations.end()) {
      found->push_back(kernel);
    } else {
      generations.push_back({kernel});
    }
  }
  for (std::vector<Kernel>& generation : generations) {
    const Kernel newest = generation.front();
    for (const Kernel& kernel : kernels_of(LK_OP_SOFTMAX)) {
      if (kernel.backend == newest.backend && kernel.info->arch < newest.info->arch) {
        generation.push_back(kernel);
      }
    }
  }
  constexpr std::pair<DType, DType> kTypes[] = {{DType::f32, DType::f32},
                                                {DType::f16, DType::f16},
                                                {DType::f16, DType::f32},
                                                {DType::bf16, DType::bf16},
                                                {DType::bf16, DType::f32}};
  std::vector<SoftmaxParam> all;
  for (const auto& generation : generations) {
    for (const auto& [x, y] : kTypes) {
      const SoftmaxParam p{generation, x, y};
      if (keep == nullptr || keep(p)) all.push_back(p);
    }
  }
  return all;
}

inline std::vector<SoftmaxParam> softmax_params_one_type() {
  return softmax_params([](const SoftmaxParam& p) { return p.x_type == DType::f32; });
}
// One of each width of a vector.
inline std::vector<SoftmaxParam> softmax_params_two_types() {
  return softmax_params(
      [](const SoftmaxParam& p) { return p.x_type == DType::f32 || p.y_type == DType::bf16; });
}

inline std::string softmax_name(const testing::TestParamInfo<SoftmaxParam>& info) {
  return show(info.param);
}

struct SoftmaxCallOptions {
  float scale = 1;
  bool log = false;
  bool zero = false;
  int max_sms = 0;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

class SoftmaxTest : public testing::TestWithParam<SoftmaxParam> {
 protected:
  using Options = SoftmaxCallOptions;

  void SetUp() override {
    const std::string why = why_not_here(kernel());
    if (!why.empty()) GTEST_SKIP() << why;
    if (emulated()) profile_.emplace(profile_of(kernel()));
  }

  static const SoftmaxParam& param() { return GetParam(); }
  static const Kernel& kernel() { return param().kernels.front(); }
  static const Backend& backend() { return *kernel().backend; }
  static bool emulated() { return is_emulated(backend()); }
  static Device& device() { return backend().device(); }
  static DType x_type() { return param().x_type; }
  static DType y_type() { return param().y_type; }
  // The portable kernels take every view; the others may leave some of them to these.
  static bool portable() { return kernel().info->arch == 80; }

  static lk_softmax_options c_options(const Options& o) {
    lk_softmax_options c = LK_OPTIONS_INIT(lk_softmax_options);
    c.scale = o.scale;
    c.has_scale = 1;
    c.log = o.log;
    c.neg_inf_row = o.zero ? LK_NEG_INF_ROW_ZERO : LK_NEG_INF_ROW_NAN;
    c.call.max_sms = o.max_sms;
    c.call.workspace = o.workspace;
    c.call.workspace_bytes = o.workspace_bytes;
    return c;
  }

  // The kernel that takes the views; null if none of a generation that is not the portable one.
  static const char* pin_for(const SoftmaxCall& call) {
    std::string why;
    for (const Kernel& k : param().kernels) {
      SoftmaxCall pinned = call;
      pinned.pin = k.info->name;
      try {
        backend().softmax.workspace(pinned);
        return k.info->name;
      } catch (const unsupported& e) {
        why += e.what();
      }
    }
    EXPECT_FALSE(portable()) << why;
    return nullptr;
  }

  // False if the generation, which must not be the portable one, does not take such views.
  static bool call(const lk_cmatrix& x, const lk_matrix& y, const Options& o = {}) {
    const lk_softmax_options c = c_options(o);
    SoftmaxCall call{.x = &x, .y = &y, .options = &c, .stream = o.stream};
    call.pin = pin_for(call);
    if (call.pin == nullptr) return false;
    backend().softmax.run(call);
    return true;
  }

  // Softmax of the rows of a dense, aligned matrix.
  static Bits evaluate(const Bits& x_bits, std::int64_t rows, const Options& o = {}) {
    const Layout layout = row_major(rows, std::int64_t(x_bits.size()) / rows);
    StridedMatrix x(device(), x_type(), layout, x_bits);
    StridedMatrix y(device(), y_type(), layout);
    x.buffer().forbid_writes();
    EXPECT_TRUE(call(x.cview(), y.view(), o));
    Bits result = y.read();
    EXPECT_TRUE(y.gaps_intact());
    return result;
  }
  static Bits evaluate(const std::vector<double>& x, std::int64_t rows = 1, const Options& o = {}) {
    return evaluate(encoded(x), rows, o);
  }
  static Bits encoded(const std::vector<double>& x) {
    Bits bits;
    for (const double v : x) bits.push_back(encode(v, x_type()));
    return bits;
  }

  // Does each row of y hold what the contract says of the row of x? `slack` multiplies the fp32
  // part of the bound.
  static testing::AssertionResult right(const Bits& x, const Bits& y, std::int64_t rows,
                                        const Options& o = {}, double slack = 1) {
    const std::size_t cols = x.size() / std::size_t(rows);
    Failures failures;
    for (std::size_t r = 0; r < std::size_t(rows); ++r) {
      std::vector<double> row(cols);
      for (std::size_t c = 0; c < cols; ++c) row[c] = decode(x[r * cols + c], x_type());
      const auto expected = reference::softmax(row, double(o.scale), o.log, o.zero);
      double total = 0;
      for (std::size_t c = 0; c < cols; ++c) {
        const double got = decode(y[r * cols + c], y_type()), want = expected.y[c];
        total += got;
        const bool both_nan = std::isnan(got) && std::isnan(want);
        // As fp32 arithmetic overflows.
        if (both_nan || got == want || got == decode(encode(want, y_type()), y_type())) continue;
        // Beyond the contract a subnormal result may be one step further off: ex2's two ulps of it.
        double allowed = slack * expected.bound[c] + std::ldexp(slack - 1, -149);
        if (y_type() != DType::f32) allowed += ulp_at(want, format_of(y_type())) / 2;
        if (!std::isfinite(want) || !(std::fabs(got - want) <= allowed)) {
          failures.add(c, "of row", r, "x", row[c], "got", got, "expected", want, "error",
                       std::fabs(got - want), "bound", allowed);
        }
      }
      if (y_type() == DType::f32 && !o.log && std::isfinite(total) && total != 0 &&
          std::fabs(total - 1) > slack * 1e-6 * std::max(1.0, std::log2(double(cols)))) {
        failures.add(r, "is a row whose sum is", total);
      }
    }
    return failures.result(y.size());
  }

  // A row of normal values of deviation 3.
  static Bits normal_row(std::int64_t cols, std::uint64_t seed) {
    Bits bits(std::size_t(cols), 0);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = encode(3 * random_normal(seed, i), x_type());
    }
    return bits;
  }

  // Columns around every step of the ladder: lanes, vectors a lane, warps, shared memory, chunks.
  static std::vector<std::int64_t> ladder() {
    namespace plan = libkernels::op::softmax;
    const std::int64_t items = plan::items_of(y_type());
    const std::int64_t steps[] = {items,
                                  4 * items,
                                  16 * items,
                                  32 * items,
                                  32 * plan::kFewValues,
                                  32 * plan::kMostKept,
                                  64 * plan::kMostKept,
                                  plan::kKeptCols,
                                  plan::block_capacity(x_type(), y_type())};
    std::vector<std::int64_t> cols{1, 2, 3, 17, 31, 32, 33, 127, 129, 4095};
    for (const std::int64_t s : steps) {
      for (const std::int64_t d : {-1, 0, 1}) cols.push_back(s + d);
    }
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    return cols;
  }

 private:
  std::optional<ProfileScope> profile_;
};

}  // namespace libkernels::test
