// The one door to the hardware: a function per PTX instruction, named as the PTX manual names it
// with dots turned into underscores. Two bodies stand behind each function, cuda/<family>.inl
// (inline PTX) and emu/<family>.inl (the same semantics in C++ on a CPU); kernels see only this.
//
// Rules: one instruction a function, no loops, no policy (cache hints, scopes, masks are in the
// name or are arguments), typed pointers, and a doc line with the exact PTX text, its first target
// and its scope. Sequences of instructions live in kernels/common/.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/ptx/backend.h"

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/builtins.h"
#define LK_DEVICE inline
#else
#define LK_DEVICE __device__ __forceinline__
#endif

#include "kernels/ptx/atom.cuh"
#include "kernels/ptx/barrier.cuh"
#include "kernels/ptx/cluster.cuh"
#include "kernels/ptx/control.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/cp_async_bulk_tensor.cuh"
#include "kernels/ptx/cvt.cuh"
#include "kernels/ptx/fence.cuh"
#include "kernels/ptx/ld_st.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/math.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/setmaxnreg.cuh"
#include "kernels/ptx/shfl.cuh"
#include "kernels/ptx/timer.cuh"
#include "kernels/ptx/wgmma.cuh"
