// The README's first example, as it stands there: compiled and linked here, run where a GPU is.
#include <cuda_runtime.h>
#include <libkernels/libkernels.h>

#include <cstdio>
#include <vector>

int main() {
  constexpr int rows = 1000, cols = 1793;
  std::vector<float> host(rows * cols, 1.0f);
  const std::size_t bytes = sizeof(float) * host.size();
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, bytes) != cudaSuccess || cudaMalloc(&y, bytes) != cudaSuccess) {
    std::printf("no memory of a GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);

  libkernels::gelu(libkernels::row_major(x, rows, cols), libkernels::row_major(y, rows, cols));

  cudaMemcpy(host.data(), y, bytes, cudaMemcpyDeviceToHost);
  return host[0] > 0.841f && host[0] < 0.842f ? 0 : 1;
}
