// What lkbench times beside the library's own kernels, and the small kernels that it checks with:
// hand-written device code of bench/, reached as tables of function pointers so that one program
// holds the tables of both backends and chooses at run time.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/baselines/baseline.h"
#include "bench/gelu_contestants.h"
#include "bench/judges.h"
#include "kernels/ptx/device_properties.h"

namespace libkernels::bench {

struct CopyCall {
  void* dst;  // 16-byte aligned, like src
  const void* src;
  std::size_t bytes;  // a multiple of 16
  const DeviceProperties* properties;
  cudaStream_t stream;
};

// One shape of a hand-written copy kernel. Together with the runtime's own copy they make the
// ceiling of a size: no kernel that reads and writes as many bytes is expected to be faster.
struct CopyKernel {
  const char* name;
  int vector_bytes;
  int unroll;
  int threads;
  bool persistent;
  cudaError_t (*launch)(const CopyCall& call);
};

// Sets *flag (4 bytes on the device, zeroed by the caller) unless a[i] has the bits of
// b[i % period] for every i < n.
struct CompareCall {
  const void* a;
  const void* b;
  int element_bytes;  // 2 or 4
  std::int64_t n;
  std::int64_t period;
  std::uint32_t* flag;
  cudaStream_t stream;
};

// An operation adds its own here, from bench/<op>_contestants.h.
struct Contestants {
  std::span<const CopyKernel> copies;
  const GeluBaseline* gelu_unfused;
  const GeluBaseline* gelu_naive;
  cudaError_t (*compare)(const CompareCall& call);
  Baselines baselines;  // of softmax, row-sum and matmul
  Judges judges;
};

// Each defined where its backend is linked.
const Contestants& cuda_contestants();
const Contestants& emu_contestants();

}  // namespace libkernels::bench
