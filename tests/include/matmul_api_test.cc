// matmul.h over the C ABI, in C++17 and without CUDA's types complete.
#include <libkernels/matmul.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels {
namespace {

// Emulated device memory, which is host memory that kernels may touch.
class Floats {
 public:
  explicit Floats(std::size_t n, float value = 0) {
    void* p = nullptr;
    EXPECT_EQ(emulator::memory_allocate(&p, n * sizeof(float)), cudaSuccess);
    data = static_cast<float*>(p);
    for (std::size_t i = 0; i < n; ++i) data[i] = value;
  }
  ~Floats() { EXPECT_EQ(emulator::memory_free(data), cudaSuccess); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  float* data;
};

// 2 x 3 = 2 x 4 times 4 x 3, ones.
struct Matrices {
  Floats a{8, 1}, b{12, 1}, c{6};
  MatrixView<const float> va() const { return row_major<const float>(a.data, 2, 4); }
  MatrixView<float> vb() const { return col_major(b.data, 4, 3); }
  MatrixView<float> vc() const { return row_major(c.data, 2, 3); }
  void expect(float value) const {
    for (int i = 0; i < 6; ++i) EXPECT_EQ(c.data[i], value) << i;
  }
};

TEST(MatmulApiTest, DefaultsAreThePlainProduct) {
  const Matrices m;
  matmul(m.va(), m.vb(), m.vc());
  m.expect(4);
}

TEST(MatmulApiTest, OptionsReachTheKernel) {
  const Matrices m;
  const Floats bias(3, -20), scales(2, 2), other(6, 100);
  MatmulOptions o;
  o.alpha = -1;
  o.bias = bias.data;
  o.scale_a = scales.data;
  o.scale_b = scales.data + 1;
  matmul(m.va(), m.vb(), m.vc(), o);
  m.expect(-36);
  matmul_relu(m.va(), m.vb(), m.vc(), o);
  m.expect(0);
  o.beta = 0.5f;
  o.c_in = row_major(other.data, 2, 3);
  o.math = Math::tf32x3;
  matmul(m.va(), m.vb(), m.vc(), o);
  m.expect(14);
  o.c_in = {};  // C itself
  matmul(m.va(), m.vb(), m.vc(), o);
  m.expect(-29);
}

TEST(MatmulApiTest, Batches) {
  const Floats a(16, 1), b(12, 2), c(12);
  MatmulOptions o;
  o.batch = {2, 8, 0, 6};
  matmul(row_major(a.data, 2, 4), row_major(b.data, 4, 3), row_major(c.data, 2, 3), o);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(c.data[i], 8) << i;
  o.batch = {0, 8, 0, 6};
  c.data[0] = 5;
  matmul(row_major(a.data, 2, 4), row_major(b.data, 4, 3), row_major(c.data, 2, 3), o);
  EXPECT_EQ(c.data[0], 5);  // no product
}

TEST(MatmulApiTest, ExplainsAndNeedsNoScratch) {
  const Matrices m;
  EXPECT_EQ(matmul_workspace_size(m.va(), m.vb(), m.vc()), 0u);
  const std::string text = matmul_explain(m.va(), m.vb(), m.vc());
  EXPECT_NE(text.find("matmul, 2 x 3 x 4 (m, n, k), math fp32, activation none"), std::string::npos)
      << text;
}

TEST(MatmulApiTest, MistakesThrow) {
  const Matrices m;
  EXPECT_THROW(matmul(m.vb(), m.va(), m.vc()), invalid_argument);
  MatmulOptions o;
  o.bias = m.c.data;
  EXPECT_THROW(matmul(m.va(), m.vb(), m.vc(), o), invalid_argument);
  m.expect(0);
}

}  // namespace
}  // namespace libkernels
