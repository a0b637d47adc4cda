// A tiny kernel around one instruction, seen from outside: the same source, compiled once per
// backend, hands the tests a list of these.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace libkernels::test {

// The kernel's parameters. Unless a case says otherwise, word j of thread t is at j * threads + t.
struct PtxParams {
  const std::uint32_t* in;
  std::uint32_t* out;
  unsigned threads;  // in all CTAs
};

struct PtxCase {
  const char* name;
  int inputs;   // words a thread
  int outputs;  // words a thread
  unsigned cta_threads;
  // Enqueues params.threads / cta_threads CTAs.
  cudaError_t (*launch)(const PtxParams& params, cudaStream_t stream);
};

}  // namespace libkernels::test
