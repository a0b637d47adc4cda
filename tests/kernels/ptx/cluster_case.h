// What cluster_kernels.cu offers to cluster_test.cc, per backend.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace libkernels::test {

inline constexpr int kClusterThreads = 64;  // of a CTA
inline constexpr int kPlaceWords = 6;

struct ClusterKernels {
  // Per CTA, at its linear number: rank, CTAs, place in the cluster, the cluster's shape, its place
  // in the grid, clusters in the grid; coordinates 10 bits each.
  cudaError_t (*places)(dim3 grid, dim3 cluster, std::uint32_t* out, cudaStream_t stream);
  // One cluster. Thread t of rank r has `words` (1, 2, 4) words in[r, t, words]. how 0 and 2: it
  // sends them to slot t of rank to[r, t], by st.shared::cluster or st.async; 1: it gets into its
  // own slot, by ld.shared::cluster, what thread t of that rank has. out: the slots [r, t, words].
  cudaError_t (*exchange)(int ctas, int words, int how, const std::uint32_t* in,
                          const std::uint32_t* to, std::uint32_t* out, cudaStream_t stream);
  // A sum handed around the ranks, `rounds` times.
  cudaError_t (*rounds)(int ctas, int clusters, int rounds, std::uint32_t* out,
                        cudaStream_t stream);
  // 32 warps, a mask each; their lanes write whether they were elected, bit k in call k of two.
  cudaError_t (*elect)(const std::uint32_t* masks, std::uint32_t* out, cudaStream_t stream);
};

}  // namespace libkernels::test
