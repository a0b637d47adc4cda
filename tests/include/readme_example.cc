// The README's first example, as it stands there: compiled and linked here, run where a GPU is.
#include <cuda_runtime.h>
#include <libkernels/libkernels.h>

#include <vector>

int main() {
  constexpr int rows = 1000, cols = 1793;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof(float) * rows * cols);
  cudaMalloc(&y, sizeof(float) * rows * cols);
  std::vector<float> host(rows * cols, 1.0f);
  cudaMemcpy(x, host.data(), sizeof(float) * host.size(), cudaMemcpyHostToDevice);

  libkernels::gelu(libkernels::row_major(x, rows, cols), libkernels::row_major(y, rows, cols));

  cudaMemcpy(host.data(), y, sizeof(float) * host.size(), cudaMemcpyDeviceToHost);
  return host[0] > 0.841f && host[0] < 0.842f ? 0 : 1;
}
