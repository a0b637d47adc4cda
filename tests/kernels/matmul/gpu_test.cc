// Matmul where only a GPU will do: against cuBLAS, at sizes and offsets that the emulator is too
// slow for. Needs a GPU; costs nothing without one.
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

std::vector<MatmulParam> only_cuda() {
  std::vector<MatmulParam> kept;
  for (const MatmulParam& p : matmul_params()) {
    if (!is_emulated(*p.kernel.backend)) kept.push_back(p);
  }
  return kept;
}

cudaDataType_t cuda_type(DType t) {
  return t == DType::f32 ? CUDA_R_32F : t == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
}

class Cublas {
 public:
  // By default cuBLAS may add the parts of a split K in the 16-bit type of C, which rounds more
  // than once.
  Cublas() {
    status_ = cublasCreate(&handle_);
    if (works()) {
      status_ = cublasSetMathMode(
          handle_,
          cublasMath_t(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    }
  }
  ~Cublas() {
    if (handle_ != nullptr) cublasDestroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  bool works() const { return status_ == CUBLAS_STATUS_SUCCESS; }

  // Row-major C = A B, which is cuBLAS's column-major C^T = B^T A^T; fp32 sums, fp32 stays fp32.
  bool multiply(const StridedMatrix& a, const StridedMatrix& b, const StridedMatrix& c) {
    const auto operation = [](const StridedMatrix& x) {
      return x.layout().col_stride == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    };
    const auto pitch = [](const StridedMatrix& x) {
      return int(x.layout().col_stride == 1 ? x.layout().row_stride : x.layout().col_stride);
    };
    const float one = 1, zero = 0;
    return cublasGemmEx(handle_, operation(b), operation(a), int(c.layout().cols),
                        int(c.layout().rows), int(a.layout().cols), &one, b.cview().data,
                        cuda_type(b.type()), pitch(b), a.cview().data, cuda_type(a.type()),
                        pitch(a), &zero, c.view().data, cuda_type(c.type()), pitch(c),
                        a.type() == DType::f32 ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  cublasHandle_t handle_ = nullptr;
  cublasStatus_t status_;
};

class MatmulGpu : public MatmulTest {
 protected:
  void SetUp() override {
    MatmulTest::SetUp();
    if (!IsSkipped() && !cublas_.works()) GTEST_SKIP() << "cuBLAS does not start";
  }

  // Both err by at most the contract's bound, so they differ by at most two of it.
  void check(std::int64_t m, std::int64_t n, std::int64_t k, bool a_columns, bool b_columns,
             std::int64_t gap = 0, std::int64_t offset = 0) {
    const Layout al =
        a_columns ? col_major(m, k, m + gap, offset) : row_major(m, k, k + gap, offset);
    const Layout bl =
        b_columns ? col_major(k, n, k + gap, offset) : row_major(k, n, n + gap, offset);
    const Layout cl = row_major(m, n, n + gap, offset);
    SCOPED_TRACE("a " + show(al) + ", b " + show(bl) + ", c " + show(cl));
    StridedMatrix a(device(), types().a, al, normal_bits(std::size_t(m * k), types().a, 1));
    StridedMatrix b(device(), types().b, bl, normal_bits(std::size_t(k * n), types().b, 2));
    StridedMatrix ours(device(), types().c, cl), theirs(device(), types().c, cl);
    if (!try_call(
            [&] { call(a.cview(), b.cview(), ours.view(), LK_OPTIONS_INIT(lk_matmul_options)); })) {
      return;
    }
    ASSERT_TRUE(cublas_.multiply(a, b, theirs));
    const Bits got = ours.read(), expected = theirs.read();
    EXPECT_TRUE(ours.gaps_intact());
    // S is near k E|x|^2 = 2 k / pi for normal data.
    const double sum = 1.5 * 0.64 * double(k);
    const double e = types().math == LK_MATH_TF32
                         ? reference::matmul_bound_tf32(k, true, cc_major())
                     : types().math == LK_MATH_TF32X3 ? 5 * reference::matmul_bound_fp32(k, true)
                     : types().a == DType::f32        ? reference::matmul_bound_fp32(k, true)
                                               : reference::matmul_bound_16bit(k, true, cc_major());
    Failures failures;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double x = decode(got[i], types().c), y = decode(expected[i], types().c);
      const double allowed = 2 * e * sum + ulp_at(y, format_of(types().c));
      if (!(std::fabs(x - y) <= allowed))
        failures.add(i, "got", x, "cuBLAS", y, "allowed", allowed);
    }
    EXPECT_TRUE(failures.result(got.size()));
  }

  Cublas cublas_;
};

TEST_P(MatmulGpu, AgreesWithCublas) {
  if (size_of(types().a) == 1) GTEST_SKIP() << "cuBLAS takes fp8 in cublasLt alone";
  for (int which = 0; which < 4; ++which) {
    check(256, 384, 512, which & 1, which & 2);
    check(257, 321, 449, which & 1, which & 2);
    check(250, 250, 500, which & 1, which & 2, 7, 1);
  }
  check(1024, 1024, 256, false, true);  // the large tiles
  check(16, 1024, 1024, false, true);
  check(64, 64, 8192, false, true);
}

// Integers, tolerance 0, with every SM busy and many tiles of K: a lost wait shows here.
TEST_P(MatmulGpu, LargeIntegersAreExact) {
  for (const auto& [m, n, k] : {std::tuple{520, 776, 256}, std::tuple{333, 257, 129}}) {
    MatmulCase t(m, n, k);
    check_exact(t);
    t.b = col_major(t.k, t.n);
    check_exact(t);
  }
}

// J3: twenty runs, the same bits.
TEST_P(MatmulGpu, J3TwentyRunsAreAlike) {
  MatmulCase t(264, 200, 500);
  t.a_bits = normal_bits(std::size_t(t.m * t.k), types().a, 1);
  t.b_bits = normal_bits(std::size_t(t.k * t.n), types().b, 2);
  const auto first = run(t);
  if (!first) return;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(run(t), first) << i;
}

INSTANTIATE_TEST_SUITE_P(, MatmulGpu, testing::ValuesIn(only_cuda()), matmul_name);

}  // namespace
}  // namespace libkernels::test
