// Runs one GeLU kernel, of one backend, on one mix of types and one form: what the tests of this
// directory are parameterised over.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "include/libkernels/error.h"
#include "src/backend.h"
#include "tests/reference/gelu.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/fill.h"
#include "tests/support/strided.h"

namespace libkernels::test {

using Bits = std::vector<std::uint32_t>;

struct GeluParam {
  Kernel kernel;
  DType x_type, y_type;
  lk_gelu_form form;
};

inline std::string show(const GeluParam& p) {
  return show(p.kernel) + "_" + name(p.x_type) + "_" + name(p.y_type) +
         (p.form == LK_GELU_TANH ? "_tanh" : "_erf");
}
inline void PrintTo(const GeluParam& p, std::ostream* out) { *out << show(p); }

inline constexpr std::pair<DType, DType> kGeluTypes[] = {{DType::f32, DType::f32},
                                                         {DType::f16, DType::f16},
                                                         {DType::f16, DType::f32},
                                                         {DType::bf16, DType::bf16},
                                                         {DType::bf16, DType::f32}};

// Every kernel x types x form. `keep` thins them out.
inline std::vector<GeluParam> gelu_params(bool (*keep)(const GeluParam&) = nullptr) {
  std::vector<GeluParam> all;
  for (const Kernel& kernel : kernels_of(LK_OP_GELU)) {
    for (const auto& [x, y] : kGeluTypes) {
      for (const lk_gelu_form form : {LK_GELU_TANH, LK_GELU_ERF}) {
        const GeluParam p{kernel, x, y, form};
        if (keep == nullptr || keep(p)) all.push_back(p);
      }
    }
  }
  return all;
}

// One mix of types and one form for each kernel: for what depends on neither.
inline std::vector<GeluParam> gelu_params_one_type() {
  return gelu_params(
      [](const GeluParam& p) { return p.y_type == DType::bf16 && p.form == LK_GELU_TANH; });
}

class GeluTest : public testing::TestWithParam<GeluParam> {
 protected:
  void SetUp() override {
    const std::string why = why_not_here(param().kernel);
    if (!why.empty()) GTEST_SKIP() << why;
    if (emulated()) profile_.emplace(profile_of(param().kernel));
  }

  static const GeluParam& param() { return GetParam(); }
  static bool emulated() { return is_emulated(*param().kernel.backend); }
  static Device& device() { return param().kernel.backend->device(); }
  // The portable kernel takes every view; the others may leave some of them to it.
  static bool portable() { return param().kernel.info->arch == 80; }

  static lk_gelu_options options(int max_sms = 0) {
    lk_gelu_options o = LK_OPTIONS_INIT(lk_gelu_options);
    o.form = param().form;
    o.call.max_sms = max_sms;
    return o;
  }

  static void call(const lk_cmatrix& x, const lk_matrix& y, int max_sms = 0,
                   cudaStream_t stream = nullptr) {
    const lk_gelu_options o = options(max_sms);
    param().kernel.backend->gelu.run(
        {.x = &x, .y = &y, .options = &o, .stream = stream, .pin = param().kernel.info->name});
  }

  // False if the kernel, which must not be the portable one, does not take such views.
  static bool try_call(const lk_cmatrix& x, const lk_matrix& y, int max_sms = 0) {
    try {
      call(x, y, max_sms);
      return true;
    } catch (const unsupported& e) {
      EXPECT_FALSE(portable()) << e.what();
      return false;
    }
  }

  // gelu of n elements in one contiguous, aligned row.
  static Bits evaluate(const Bits& x_bits, int max_sms = 0) {
    const Layout layout = row_major(1, std::int64_t(x_bits.size()));
    StridedMatrix x(device(), param().x_type, layout, x_bits);
    StridedMatrix y(device(), param().y_type, layout);
    call(x.cview(), y.view(), max_sms);
    Bits result = y.read();
    EXPECT_TRUE(y.gaps_intact());
    return result;
  }

  static double reference(double x) {
    return param().form == LK_GELU_TANH ? reference::gelu_tanh(x) : reference::gelu_erf(x);
  }
  // The contract's bound; `scale` multiplies its fp32 part.
  static double bound(double x, double reference, double scale = 1) {
    const double fp32 = param().form == LK_GELU_TANH ? reference::gelu_tanh_bound(x, reference)
                                                     : reference::gelu_erf_bound(x, reference);
    return scale * fp32 + (param().y_type == DType::f16    ? reference::ulp_f16(reference) / 2
                           : param().y_type == DType::bf16 ? reference::ulp_bf16(reference) / 2
                                                           : 0.0);
  }

 private:
  std::optional<ProfileScope> profile_;
};

inline std::string gelu_name(const testing::TestParamInfo<GeluParam>& info) {
  return show(info.param);
}

}  // namespace libkernels::test
