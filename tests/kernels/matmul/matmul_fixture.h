// Runs one matmul kernel, of one backend, on one mix of types: what the tests of this directory are
// parameterised over.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "include/libkernels/error.h"
#include "src/backend.h"
#include "tests/reference/matmul.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/fill.h"
#include "tests/support/strided.h"

namespace libkernels::test {

using Bits = std::vector<std::uint32_t>;

struct MatmulTypes {
  DType a, b, c;
  lk_math math = LK_MATH_FP32;
};

inline constexpr MatmulTypes kMatmulTypes[] = {
    {DType::bf16, DType::bf16, DType::bf16},
    {DType::bf16, DType::bf16, DType::f32},
    {DType::f16, DType::f16, DType::f16},
    {DType::f16, DType::f16, DType::f32},
    {DType::f8_e4m3, DType::f8_e4m3, DType::bf16},
    {DType::f8_e4m3, DType::f8_e5m2, DType::f16},
    {DType::f8_e5m2, DType::f8_e4m3, DType::f32},
    {DType::f32, DType::f32, DType::f32, LK_MATH_FP32},
    {DType::f32, DType::f32, DType::f32, LK_MATH_TF32},
    {DType::f32, DType::f32, DType::f32, LK_MATH_TF32X3},
};

struct MatmulParam {
  Kernel kernel;
  MatmulTypes types;
};

inline std::string show(const MatmulParam& p) {
  static constexpr const char* kMath[] = {"fp32", "tf32", "tf32x3"};
  std::string text =
      show(p.kernel) + "_" + name(p.types.a) + "_" + name(p.types.b) + "_" + name(p.types.c);
  if (p.types.a == DType::f32) text += std::string("_") + kMath[p.types.math];
  return text;
}
inline void PrintTo(const MatmulParam& p, std::ostream* out) { *out << show(p); }
inline std::string matmul_name(const testing::TestParamInfo<MatmulParam>& info) {
  return show(info.param);
}

// Every kernel x types. `keep` thins them out.
inline std::vector<MatmulParam> matmul_params(bool (*keep)(const MatmulTypes&) = nullptr) {
  std::vector<MatmulParam> all;
  for (const Kernel& kernel : kernels_of(LK_OP_MATMUL)) {
    for (const MatmulTypes& types : kMatmulTypes) {
      if (keep == nullptr || keep(types)) all.push_back({kernel, types});
    }
  }
  return all;
}
// One mix for each of a kernel's arithmetics: the type of C is the epilogue's affair.
inline std::vector<MatmulParam> matmul_params_one_c() {
  return matmul_params([](const MatmulTypes& t) {
    return t.c == DType::f32 ? t.a == DType::f32 : t.a != DType::f8_e4m3 || t.b != t.a;
  });
}
inline std::vector<MatmulParam> matmul_params_bf16() {
  return matmul_params([](const MatmulTypes& t) { return t.c == DType::bf16 && t.a == t.c; });
}

// A call with everything that belongs to it. Bits are logical, row major, one product after the
// other; layouts are of one product.
struct MatmulCase {
  std::int64_t m, n, k;
  Layout a, b, c, c_in;
  Bits a_bits, b_bits, c_in_bits, bias_bits;  // the latter two: empty if absent
  DType bias_type = DType::f32;
  std::int64_t bias_offset = 0;  // elements
  std::optional<float> scale_a, scale_b;
  lk_matmul_options options = LK_OPTIONS_INIT(lk_matmul_options);
  bool in_place = false;  // C_in is C

  MatmulCase(std::int64_t m_, std::int64_t n_, std::int64_t k_)
      : m(m_),
        n(n_),
        k(k_),
        a(row_major(m, k)),
        b(row_major(k, n)),
        c(row_major(m, n)),
        c_in(row_major(m, n)) {}
};

inline std::string show(const MatmulCase& c) {
  return "m n k " + std::to_string(c.m) + " " + std::to_string(c.n) + " " + std::to_string(c.k) +
         ": a " + show(c.a) + ", b " + show(c.b) + ", c " + show(c.c);
}

class MatmulTest : public testing::TestWithParam<MatmulParam> {
 protected:
  // So much of K that even in a single tile a copy of misaligned operands pays.
  static constexpr std::int64_t kLongK = 333;

  void SetUp() override {
    const std::string why = why_not_here(param().kernel);
    if (!why.empty()) GTEST_SKIP() << why;
    if (emulated()) profile_.emplace(profile_of(param().kernel));
    if (!takes_types()) GTEST_SKIP() << "leaves these types to other kernels";
  }

  static const MatmulParam& param() { return GetParam(); }
  static const MatmulTypes& types() { return GetParam().types; }
  static bool emulated() { return is_emulated(*param().kernel.backend); }
  static Device& device() { return param().kernel.backend->device(); }
  // The portable kernel takes every problem; the others may leave some to it.
  static bool portable() { return param().kernel.info->name == std::string("matmul_sm80"); }

  // Does the kernel multiply such types at all, in its favourite layout? That may have few rows, or
  // be out of alignment with enough of K for a copy of the operands to pay.
  static bool takes_types() {
    return takes_types(64, 64, 0) || takes_types(16, 64, 0) || takes_types(64, kLongK, 1);
  }
  static bool takes_types(std::int64_t m, std::int64_t k, std::int64_t offset) {
    constexpr std::int64_t kColumns = 64;
    StridedMatrix a(device(), types().a, row_major(m, k, k, offset)),
        b(device(), types().b, col_major(k, kColumns)),
        c(device(), types().c, row_major(m, kColumns));
    const lk_cmatrix av = a.cview(), bv = b.cview();
    const lk_matrix cv = c.view();
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.math = types().math;
    return try_call([&] { static_cast<void>(workspace(av, bv, cv, o)); });
  }
  // Bytes that a call asks for.
  static std::size_t workspace(const lk_cmatrix& a, const lk_cmatrix& b, const lk_matrix& c,
                               lk_matmul_options options) {
    options.math = types().math;
    return param().kernel.backend->matmul.workspace(
        {.a = &a, .b = &b, .c = &c, .options = &options, .pin = param().kernel.info->name});
  }

  static void call(const lk_cmatrix& a, const lk_cmatrix& b, const lk_matrix& c,
                   lk_matmul_options options, cudaStream_t stream = nullptr) {
    options.math = types().math;
    param().kernel.backend->matmul.run({.a = &a,
                                        .b = &b,
                                        .c = &c,
                                        .options = &options,
                                        .stream = stream,
                                        .pin = param().kernel.info->name});
  }
  // What the call of run(t) would launch.
  static std::string explain(const MatmulCase& t) {
    StridedMatrix a(device(), types().a, t.a), b(device(), types().b, t.b),
        c(device(), types().c, t.c);
    const lk_cmatrix av = a.cview(), bv = b.cview();
    const lk_matrix cv = c.view();
    lk_matmul_options o = t.options;
    o.math = types().math;
    return param().kernel.backend->matmul.explain(
        {.a = &av, .b = &bv, .c = &cv, .options = &o, .pin = param().kernel.info->name});
  }
  static int cc_major() {
    const DeviceProperties* properties = nullptr;
    if (device().properties(&properties) != cudaSuccess) throw std::runtime_error("no device");
    return properties->cc_major;
  }
  // Tensor cores differ: on every emulated generation, or on the GPU that is there.
  static void on_each_device(const std::function<void()>& body) {
    if (!emulated()) return body();
    for (const char* profile : {"emu80", "emu90", "emu100"}) {
      SCOPED_TRACE(profile);
      const ProfileScope scope{std::string(profile)};
      body();
    }
  }
  // Do tensor cores take fp8 as it is? Else it is converted to f16 first.
  static bool multiplies_f8() {
    return size_of(types().a) == 1 && Arch(param().kernel.info->arch) != Arch::sm80;
  }
  // Bits of an element in the kernels' shared memory.
  static int stage_bits() { return types().a == DType::f32 ? 32 : 16; }

  // False if the kernel, which must not be the portable one, leaves the call to others.
  static bool try_call(const std::function<void()>& body) {
    try {
      body();
      return true;
    } catch (const unsupported& e) {
      EXPECT_FALSE(portable()) << e.what();
      return false;
    }
  }

  // C's bits; nothing if the kernel leaves such problems to the portable one. Inputs must stay as
  // they are, and so must what lies between and around the elements of C.
  static std::optional<Bits> run(const MatmulCase& t) {
    SCOPED_TRACE(show(t));
    StridedMatrix a(device(), types().a, t.a, t.a_bits), b(device(), types().b, t.b, t.b_bits);
    StridedMatrix c(device(), types().c, t.c);
    lk_matmul_options o = t.options;
    std::optional<StridedMatrix> c_in, bias;
    lk_cmatrix c_in_view;
    if (t.in_place) {
      c.write(t.c_in_bits);
    } else if (!t.c_in_bits.empty()) {
      c_in.emplace(device(), types().c, t.c_in, t.c_in_bits);
      c_in_view = c_in->cview();
      o.c_in = &c_in_view;
      c_in->buffer().forbid_writes();
    }
    if (!t.bias_bits.empty()) {
      bias.emplace(device(), t.bias_type, row_major(1, t.n, t.n, t.bias_offset), t.bias_bits);
      o.bias = bias->buffer().data();
      o.bias_dtype = lk_dtype(t.bias_type);
      bias->buffer().forbid_writes();
    }
    DeviceBuffer scales(device(), 2 * sizeof(float));
    const float values[] = {t.scale_a.value_or(0), t.scale_b.value_or(0)};
    scales.copy_in(values, sizeof(values));
    if (t.scale_a) o.scale_a = static_cast<const float*>(scales.data());
    if (t.scale_b) o.scale_b = static_cast<const float*>(scales.data()) + 1;
    a.buffer().forbid_writes();  // F7
    b.buffer().forbid_writes();
    std::optional<DeviceBuffer> scratch;  // just enough of it, and poisoned
    const auto call_with_scratch = [&] {
      const std::size_t bytes = workspace(a.cview(), b.cview(), c.view(), o);
      if (bytes != 0) {
        scratch.emplace(device(), bytes);
        o.call.workspace = scratch->data();
        o.call.workspace_bytes = bytes;
      }
      call(a.cview(), b.cview(), c.view(), o);
    };
    if (!try_call(call_with_scratch)) return std::nullopt;
    Bits result = c.read();
    EXPECT_TRUE(c.gaps_intact());
    return result;
  }

  static std::vector<double> values(const Bits& bits, DType type) {
    std::vector<double> v;
    for (const std::uint32_t b : bits) v.push_back(decode(b, type));
    return v;
  }
  static reference::MatmulProblem problem_of(const MatmulCase& t) {
    const float alpha = t.options.has_alpha != 0 ? t.options.alpha : 1.0f;
    return {.m = t.m,
            .n = t.n,
            .k = t.k,
            .a = values(t.a_bits, types().a),
            .b = values(t.b_bits, types().b),
            .c_in = values(t.c_in_bits, types().c),
            .bias = values(t.bias_bits, t.bias_type),
            .alpha = double(alpha) * t.scale_a.value_or(1) * t.scale_b.value_or(1),
            .beta = t.options.beta,
            .activation = reference::MatmulActivation(t.options.activation),
            .least_normal = least_normal()};
  }
  // Of what the tensor cores take, if it is they that multiply.
  static double least_normal() {
    if (types().a == DType::f16 || size_of(types().a) == 1) return 0x1p-14;
    return types().a == DType::f32 && types().math == LK_MATH_FP32 ? 0 : 0x1p-126;
  }

  // Integers of -most .. most, of which every type here holds the products' sums exactly.
  static Bits integers(std::int64_t count, DType type, std::uint64_t seed, int most = 3) {
    Bits bits;
    for (std::int64_t i = 0; i < count; ++i) {
      const int v = int(random_word(seed, std::uint64_t(i)) % unsigned(2 * most + 1)) - most;
      bits.push_back(encode(v, type));
    }
    return bits;
  }
  // Elements of inputs that share a place (strides of 0) agree: drawn by their place in memory.
  static Bits integers(const Layout& l, DType type, std::uint64_t seed, int most = 3) {
    Bits bits;
    for (std::int64_t r = 0; r < l.rows; ++r) {
      for (std::int64_t c = 0; c < l.cols; ++c) {
        const std::uint32_t word = random_word(seed, std::uint64_t(l.index(r, c)));
        bits.push_back(encode(int(word % unsigned(2 * most + 1)) - most, type));
      }
    }
    return bits;
  }

  // The exact result, rounded once: right if all partial sums are integers below 2^24.
  static Bits exact(const MatmulCase& t) {
    Bits bits;
    for (const auto& e : reference::matmul(problem_of(t)))
      bits.push_back(encode(e.value, types().c));
    return bits;
  }
  // Fills A and B with small integers and compares with tolerance 0.
  static void check_exact(MatmulCase t, std::uint64_t seed = 1) {
    t.a_bits = integers(t.a, types().a, seed);
    t.b_bits = integers(t.b, types().b, seed + 1);
    const std::optional<Bits> got = run(t);
    if (got) {
      EXPECT_TRUE(bits_equal(*got, exact(t), types().c)) << show(t);
    }
  }

 private:
  std::optional<ProfileScope> profile_;
};

}  // namespace libkernels::test
