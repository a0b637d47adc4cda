// What lkbench times beside the library's own kernels, and the small kernels that it checks with:
// hand-written device code of bench/, reached as tables of function pointers so that one program
// holds the tables of both backends and chooses at run time.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bench/baselines/baseline.h"
#include "bench/gelu_contestants.h"
#include "bench/judges.h"
#include "kernels/ptx/device_properties.h"

namespace libkernels::bench {

// What a streaming kernel moves: as much read as written, or one of the two alone.
enum class Traffic { copy, read, write };

struct StreamCall {
  void* dst;          // 16-byte aligned, like src; of a read: a sink of 16 bytes
  const void* src;    // of a write: not used
  std::size_t bytes;  // a multiple of 16
  const DeviceProperties* properties;
  cudaStream_t stream;
};

// One shape of a hand-written copy, read or write. Those of a kind, with the runtime's own, make
// the ceiling of a size: no kernel that moves as many bytes is expected to be faster.
struct StreamKernel {
  const char* name;
  cudaError_t (*launch)(const StreamCall& call);
};

struct MathCall {
  std::uint32_t* sink;  // one word; never or hardly ever written
  int iterations;       // of the inner loop
  const DeviceProperties* properties;
  cudaStream_t stream;
};

// Arithmetic out of registers, without memory: the ceiling of a product.
struct MathKernel {
  const char* name;
  const char* unit;   // "fma f32", "mma.sync bf16", "wgmma bf16": what it is the ceiling of
  int cc_major;       // the first that has the instruction
  int cc_major_last;  // and the last one
  std::function<double(const MathCall& call)> flops;
  std::function<cudaError_t(const MathCall& call)> launch;
};

struct SpinCall {
  std::uint64_t nanoseconds;
  cudaStream_t stream;
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
  std::span<const StreamKernel> copies;
  std::span<const StreamKernel> reads;
  std::span<const StreamKernel> writes;
  std::span<const MathKernel> maths;
  cudaError_t (*spin)(const SpinCall& call);  // one thread, busy until so much time has passed
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
