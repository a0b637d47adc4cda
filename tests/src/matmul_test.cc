// Matmul's host layer through a Backend object: what it accepts, refuses, chooses and explains.
// What its kernels compute is tested beside the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "include/libkernels/dtype.h"
#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/host_layer.h"
#include "tests/support/refusal.h"

namespace libkernels {
namespace {

using test::DeviceBuffer;
using test::is_accepted;
using test::is_invalid;
using test::is_unsupported;
using test::ProfileScope;
using test::refusal;

const Backend& emu() { return emu_backend(); }

// 4 x 6 = 4 x 8 times 8 x 6, on emulated memory of ones.
struct Call {
  static constexpr std::int64_t kM = 4, kN = 6, kK = 8;
  static constexpr std::size_t kBytes = 64 * sizeof(float);
  DeviceBuffer a_memory{emu().device(), kBytes}, b_memory{emu().device(), kBytes},
      c_memory{emu().device(), kBytes}, other_memory{emu().device(), kBytes};
  lk_cmatrix a{a_memory.data(), LK_F32, kM, kK, kK, 1}, b{b_memory.data(), LK_F32, kK, kN, kN, 1};
  lk_cmatrix c_in{other_memory.data(), LK_F32, kM, kN, kN, 1};
  lk_matrix c{c_memory.data(), LK_F32, kM, kN, kN, 1};
  lk_matmul_options options = LK_OPTIONS_INIT(lk_matmul_options);
  const char* pin = nullptr;

  Call() {
    for (DeviceBuffer* m : {&a_memory, &b_memory, &other_memory}) {
      m->copy_in(std::vector<float>(64, 1.0f).data(), kBytes);
    }
  }
  MatmulCall operator()() const { return {&a, &b, &c, &options, nullptr, pin}; }
  std::vector<float> result() const {
    std::vector<float> r(std::size_t(kM * kN));
    c_memory.copy_out(r.data(), r.size() * sizeof(float));
    return r;
  }
  bool c_untouched() const {
    for (const float v : result()) {
      if (!std::isnan(v)) return false;
    }
    return true;
  }
  const void* inside_c(std::size_t bytes = 8) const {
    return static_cast<const char*>(c_memory.data()) + bytes;
  }
};

// The whole table.
TEST(MatmulHostTest, EveryMixOfTypesIsOfferedOrRefusedByName) {
  const ProfileScope profile("emu80");
  const auto f8 = [](DType t) { return t == DType::f8_e4m3 || t == DType::f8_e5m2; };
  int offered = 0;
  for (lk_dtype a = LK_F32; a <= LK_F8_E5M2; ++a) {
    for (lk_dtype b = LK_F32; b <= LK_F8_E5M2; ++b) {
      for (lk_dtype c = LK_F32; c <= LK_F8_E5M2; ++c) {
        const DType ta{a}, tb{b}, tc{c};
        const bool good = (f8(ta) && f8(tb) && !f8(tc)) ||
                          (ta == tb && !f8(ta) && (tc == ta || tc == DType::f32));
        offered += good;
        Call call;
        call.a.dtype = a;
        call.b.dtype = b;
        call.c.dtype = c;
        const auto r = refusal([&] { emu().matmul.run(call()); });
        if (good) {
          EXPECT_TRUE(is_accepted(r)) << name(ta) << " " << name(tb) << " " << name(tc);
        } else {
          EXPECT_TRUE(is_unsupported(r, std::string("matmul: a is ") + name(ta) + ", b is " +
                                            name(tb) + " and c is " + name(tc) +
                                            "; offered are f32, f32 -> f32; f16"));
          EXPECT_TRUE(call.c_untouched());
        }
      }
    }
  }
  EXPECT_EQ(offered, 1 + 2 + 2 + 4 * 3);
}

// Of the bias: f32 or c's type. Of C_in: c's.
TEST(MatmulHostTest, TypesOfBiasAndCIn) {
  const ProfileScope profile("emu80");
  for (lk_dtype t = LK_F32; t <= LK_F8_E5M2; ++t) {
    Call call;
    call.a.dtype = call.b.dtype = call.c.dtype = LK_BF16;
    call.options.bias = call.other_memory.data();
    call.options.bias_dtype = t;
    const auto r = refusal([&] { emu().matmul.run(call()); });
    EXPECT_TRUE(t == LK_F32 || t == LK_BF16
                    ? is_accepted(r)
                    : is_unsupported(r, std::string("matmul: options.bias is ") + name(DType{t}) +
                                            " with c bf16; offered are f32 and c's type"));
    Call with_c_in;
    with_c_in.c_in.dtype = t;
    with_c_in.options.c_in = &with_c_in.c_in;
    with_c_in.options.beta = 1;
    const auto s = refusal([&] { emu().matmul.run(with_c_in()); });
    EXPECT_TRUE(t == LK_F32
                    ? is_accepted(s)
                    : is_unsupported(s, std::string("matmul: options.c_in is ") + name(DType{t}) +
                                            " and c is f32; they have one type"));
  }
}

TEST(MatmulHostTest, RefusalsNameTheArgumentAndTouchNothing) {
  struct Case {
    std::function<void(Call&)> change;
    const char* text;
  };
  static float host_scale = 1;
  const Case cases[] = {
      {[](Call& c) { c.a.cols = 7; },
       "matmul: a is 4 x 7, b is 8 x 6 and c is 4 x 6; m x k, k x n and m x n are needed"},
      {[](Call& c) { c.c.rows = 3; }, "matmul: a is 4 x 8, b is 8 x 6 and c is 3 x 6"},
      {[](Call& c) { c.b.row_stride = -6; }, "matmul: b.row_stride is -6 with 8 rows"},
      {[](Call& c) { c.c.row_stride = 0; }, "matmul: c.row_stride is 0 with 4 rows"},
      {[](Call& c) { c.c.row_stride = 3; }, "matmul: elements of the output c overlap"},
      {[](Call& c) { c.a.dtype = 9; }, "matmul: a.dtype is 9"},
      {[](Call& c) { c.a.data = nullptr; }, "matmul: a.data is null with 4 x 8 elements"},
      {[](Call& c) { c.options.alpha = 2; },
       "matmul: options.alpha is 2 with options.has_alpha 0; it is read only with has_alpha 1"},
      {[](Call& c) { c.options.has_alpha = 2; }, "matmul: options.has_alpha is 2; 0 or 1"},
      {[](Call& c) { c.options.activation = 4; }, "matmul: options.activation is 4; 0 (LK_ACT_NO"},
      {[](Call& c) { c.options.math = -1; }, "matmul: options.math is -1; 0 (LK_MATH_FP32), 1"},
      {[](Call& c) { c.options.has_batch = 3; }, "matmul: options.has_batch is 3; 0 or 1"},
      {[](Call& c) { c.options.batch_count = 3; },
       "matmul: options.batch_count is 3 with options.has_batch 0"},
      {[](Call& c) { c.options.a_batch_stride = 3; },
       "matmul: options.a_batch_stride is 3 with options.has_batch 0"},
      {[](Call& c) { c.options.has_batch = 1, c.options.batch_count = -2; },
       "matmul: options.batch_count is -2; it is >= 0"},
      {[](Call& c) {
         c.options.has_batch = 1, c.options.batch_count = 2, c.options.b_batch_stride = -1;
       },
       "matmul: options.b_batch_stride is -1 with 2 products; strides are >= 0"},
      {[](Call& c) {
         c.options.has_batch = 1, c.options.batch_count = 2, c.options.c_batch_stride = 23;
       },
       "matmul: options.c_batch_stride is 23 with 2 products of 4 x 6 elements, strides 6 and 1; "
       "the products of an output must not overlap"},
      {[](Call& c) {
         c.options.has_batch = 1, c.options.batch_count = std::int64_t{1} << 40,
         c.options.c_batch_stride = std::int64_t{1} << 40;
       },
       "matmul: the batch of c is too large"},
      {[](Call& c) {
         c.options.has_batch = 1, c.options.batch_count = std::int64_t{1} << 40,
         c.options.a_batch_stride = std::int64_t{1} << 40, c.options.c_batch_stride = 24;
       },
       "matmul: the batch of a is too large"},
      {[](Call& c) { c.options.has_batch = 1, c.options.c_in_batch_stride = 5; },
       "matmul: options.c_in_batch_stride is 5 with options.c_in null"},
      {[](Call& c) { c.options.bias_dtype = LK_F32; },
       "matmul: options.bias is null with options.bias_dtype 1; null goes with 0"},
      {[](Call& c) { c.options.bias = c.other_memory.data(); },
       "matmul: options.bias.dtype is 0; the types are"},
      {[](Call& c) { c.options.bias = c.inside_c(), c.options.bias_dtype = LK_F32; },
       "matmul: the output c (bytes "},
      {[](Call& c) {
         c.options.bias = static_cast<char*>(c.other_memory.data()) + 2;
         c.options.bias_dtype = LK_F32;
       },
       "which is not aligned to one element (4 bytes of f32)"},
      {[](Call& c) { c.options.scale_a = static_cast<const float*>(c.inside_c()); },
       "overlaps the input options.scale_a"},
      {[](Call& c) { c.options.scale_b = static_cast<const float*>(c.inside_c()); },
       "overlaps the input options.scale_b"},
      {[](Call& c) {
         c.options.scale_b =
             reinterpret_cast<const float*>(reinterpret_cast<const char*>(&host_scale) + 1);
       },
       "matmul: options.scale_b.data is "},
      {[](Call& c) { c.options.c_in = &c.c_in, c.c_in.rows = 5; },
       "matmul: options.c_in is 5 x 6 and c is 4 x 6; both need the same shape"},
      {[](Call& c) { c.options.c_in = &c.c_in, c.c_in.data = c.inside_c(); },
       "they must be disjoint, or in place: the same pointer, strides and type"},
      {[](Call& c) { c.a.data = c.inside_c(); }, "overlaps the input a"},
      {[](Call& c) { c.b.data = c.c.data; }, "overlaps the input b"},
      {[](Call& c) { c.options.call.max_sms = -3; }, "matmul: options.call.max_sms is -3"},
      {[](Call& c) { c.pin = "matmul_sm70"; },
       "matmul: the caller's pin names 'matmul_sm70', which is none of its kernels: "},
  };
  for (const Case& k : cases) {
    Call c;
    k.change(c);
    test::expect_invalid(emu().matmul, c(), k.text);
    EXPECT_TRUE(c.c_untouched()) << k.text;
  }
  Call c;
  EXPECT_TRUE(is_invalid(refusal([&] {
                           emu().matmul.run({nullptr, &c.b, &c.c, nullptr});
                         }),
                         "matmul: a is null"));
  EXPECT_TRUE(is_invalid(refusal([&] {
                           emu().matmul.run({&c.a, nullptr, &c.c, nullptr});
                         }),
                         "matmul: b is null"));
  EXPECT_TRUE(is_invalid(refusal([&] {
                           emu().matmul.run({&c.a, &c.b, nullptr, nullptr});
                         }),
                         "matmul: c is null"));
}

TEST(MatmulHostTest, BatchStridesOfOneProductAreIgnored) {
  const ProfileScope profile("emu80");
  Call c;
  c.options.has_batch = 1;
  c.options.batch_count = 1;
  c.options.a_batch_stride = c.options.c_batch_stride = -7;
  EXPECT_TRUE(is_accepted(refusal([&] { emu().matmul.run(c()); })));
  for (const float v : c.result()) EXPECT_EQ(v, 8);
}

// The products of a batch may lie in each other's gaps, as long as strides nest.
TEST(MatmulHostTest, NestedBatchesAreAccepted) {
  const ProfileScope profile("emu80");
  Call c;
  c.c.row_stride = 12;
  c.options.has_batch = 1;
  c.options.batch_count = 2;
  c.options.c_batch_stride = 6;  // rows of the two products in turn
  EXPECT_TRUE(is_accepted(refusal([&] { emu().matmul.run(c()); })));
  std::vector<float> all(48);
  c.c_memory.copy_out(all.data(), all.size() * sizeof(float));
  for (const float v : all) EXPECT_EQ(v, 8);
}

TEST(MatmulHostTest, NothingIsLaunchedWithoutElementsOfC) {
  const ProfileScope profile("emu80");
  for (const auto& [m, n, batch] : {std::tuple{0, 8, 1}, {8, 0, 1}, {0, 0, 1}, {8, 8, 0}}) {
    Call memory;
    const void* data = batch == 0 ? memory.a_memory.data() : nullptr;
    void* out = batch == 0 ? memory.c_memory.data() : nullptr;
    const lk_cmatrix a{data, LK_F16, m, 0, 0, 1}, b{data, LK_F16, 0, n, 0, 1};
    const lk_matrix c{out, LK_F32, m, n, 8, 1};
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.has_batch = 1;
    o.batch_count = batch;
    o.c_batch_stride = 64;
    const MatmulCall call{&a, &b, &c, &o};
    test::expect_nothing_launched(emu().matmul, call, "elements");
    EXPECT_TRUE(memory.c_untouched());
  }
}

// Judged by their views: whether a call is valid does not depend on values of its options.
TEST(MatmulHostTest, OperandsThatAreNotReadAreJudgedAllTheSame) {
  const ProfileScope profile("emu80");
  const auto refused = [](const std::function<void(Call&)>& change, const char* text) {
    Call c;
    change(c);
    EXPECT_TRUE(is_invalid(refusal([&] { emu().matmul.run(c()); }), text)) << text;
    EXPECT_TRUE(c.c_untouched());
  };
  refused([](Call& c) { c.options.has_batch = 1, c.a.data = nullptr; }, "a.data is null");  // none
  refused([](Call& c) { c.options.has_alpha = 1, c.a.data = nullptr; }, "a.data is null");  // 0
  refused([](Call& c) { c.options.has_alpha = 1, c.a.data = c.c.data; }, "overlap");
  refused([](Call& c) { c.c_in.data = nullptr, c.options.c_in = &c.c_in; }, "c_in.data is null");
  refused([](Call& c) { c.c_in.data = c.inside_c(), c.options.c_in = &c.c_in; }, "overlap");
}

TEST(MatmulHostTest, DefaultsAndInPlaceCIn) {
  for (const char* device : {"emu80", "emu90", "emu100", "rtx4090", "rtx5090"}) {
    const ProfileScope profile(device);
    Call c;
    emu().matmul.run({&c.a, &c.b, &c.c, nullptr});
    for (const float v : c.result()) EXPECT_EQ(v, 8) << device;
    c.options.beta = 2;  // of C itself
    emu().matmul.run(c());
    for (const float v : c.result()) EXPECT_EQ(v, 24) << device;
    const lk_cmatrix same{c.c.data, LK_F32, Call::kM, Call::kN, Call::kN, 1};
    c.options.c_in = &same;
    emu().matmul.run(c());
    for (const float v : c.result()) EXPECT_EQ(v, 56) << device;
  }
}

TEST(MatmulHostTest, ExplainTellsTheProblemTheWalkAndThePlan) {
  const ProfileScope profile("emu80");
  Call c;
  c.options.activation = LK_ACT_RELU;
  c.options.beta = 1;
  c.options.math = LK_MATH_TF32;
  const std::string text = emu().matmul.explain(c());
  for (const char* part : {"matmul, 4 x 6 x 8 (m, n, k), math tf32, activation relu\n",
                           "a: f32, 4 x 8, strides 8 and 1", "c_in: c, in place", "device: emu80",
                           "matmul_sm80: chosen", "path: mma.sync tf32",
                           "launch: grid 1, block 128", "scratch: none"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  c.options.has_alpha = 1;
  EXPECT_NE(emu().matmul.explain(c()).find("no product: k or alpha is 0"), std::string::npos);
}

TEST(MatmulHostTest, ResourcesAreOfTheTileThatRuns) {
  for (const char* device : {"emu80", "h200", "rtx4090"}) {
    const ProfileScope profile(device);
    Call c;
    const CallResources r = emu().matmul.resources(c());
    EXPECT_STREQ(r.kernel, "matmul_sm80");
    emulator::settings().count = true;
    emu().matmul.run(c());
    emulator::settings().count = false;
    EXPECT_EQ(emulator::last_launch().smem, r.smem_bytes);
    EXPECT_EQ(int(emulator::last_launch().block.x), r.threads_per_cta);
  }
}

TEST(MatmulHostTest, PreloadLoadsEveryKernel) {
  const ProfileScope profile("emu80");
  EXPECT_TRUE(is_accepted(refusal([] { emu().preload(LK_OP_MATMUL); })));
}

}  // namespace
}  // namespace libkernels
