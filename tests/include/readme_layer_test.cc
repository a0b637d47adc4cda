// The README's second example, as it stands there, on the emulator.
#include <cuda_bf16.h>
#include <libkernels/libkernels.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"

namespace {

// A linear layer with ReLU, then the probabilities of each row and what they add up to. Everything
// is device memory: x is m x k, w the weights as n x k, h and p are m x n, b and sums vectors.
void layer(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* b, __nv_bfloat16* h,
           float* p, float* sums, int m, int k, int n, cudaStream_t stream) {
  using namespace libkernels;
  MatmulOptions options;
  options.bias = b;
  matmul_relu(row_major(x, m, k), col_major(w, k, n), row_major(h, m, n), options, stream);
  softmax(row_major(h, m, n), row_major(p, m, n), {}, stream);
  row_sum(row_major(p, m, n), VectorView<float>(sums, m), {}, stream);
}

using libkernels::test::DeviceBuffer;

// A buffer with these values.
template <class T>
class Values {
 public:
  explicit Values(const std::vector<T>& values)
      : count_(values.size()),
        buffer_(libkernels::emu_backend().device(), values.size() * sizeof(T)) {
    buffer_.copy_in(values.data(), count_ * sizeof(T));
  }
  T* data() { return static_cast<T*>(buffer_.data()); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    buffer_.copy_out(values.data(), count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  DeviceBuffer buffer_;
};

TEST(ReadmeLayer, ComputesWhatItsCommentSays) {
  constexpr int m = 5, k = 37, n = 33;
  const __nv_bfloat16 one(1.0f), zero(0.0f);
  // Row j of the weights is j ones: h[r, j] = max(j - 8, 0).
  std::vector<__nv_bfloat16> weights(n * k, zero);
  for (int j = 0; j < n; ++j) std::fill_n(weights.begin() + j * k, j, one);
  Values<__nv_bfloat16> x(std::vector(m * k, one)), w(weights), h(std::vector(m * n, zero));
  Values<float> b(std::vector(n, -8.0f)), p(std::vector(m * n, 0.0f)), sums(std::vector(m, 0.0f));
  layer(x.data(), w.data(), b.data(), h.data(), p.data(), sums.data(), m, k, n, nullptr);
  const auto hidden = h.read();
  for (int i = 0; i < m * n; ++i) EXPECT_EQ(float(hidden[i]), float(std::max(i % n - 8, 0))) << i;
  for (const float sum : sums.read()) EXPECT_NEAR(sum, 1.0f, 1e-5f);
  // Neighbours that ReLU left alone are a factor e apart.
  const auto probabilities = p.read();
  EXPECT_NEAR(probabilities[n - 1] / probabilities[n - 2], 2.7182818f, 1e-4f);
}

}  // namespace
