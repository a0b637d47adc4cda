// The libraries of the CUDA toolkit as baselines: in lkbench alone, which alone links them.
#pragma once

#include "bench/contestants.h"

namespace libkernels::bench {

// Those of the CUDA backend, and CUB, cuBLAS and cuBLASLt.
const Contestants& cuda_contestants_with_libraries();

}  // namespace libkernels::bench
