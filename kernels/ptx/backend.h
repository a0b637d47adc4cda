// Which backend this translation unit is compiled for.
//
// Everything below src/ lives in `namespace libkernels::inline LK_BACKEND`, so that one binary can
// hold the kernels as GPU code and as CPU code: without the inline namespace their strong symbols
// would collide and their weak ones (every inline function) would merge silently.
#pragma once

#if defined(LK_EMULATE)
#define LK_BACKEND emu
#define LK_BACKEND_NAME "emu"
#else
#define LK_BACKEND cuda
#define LK_BACKEND_NAME "cuda"
#endif

// CMake 3.25 drops CMAKE_CUDA_STANDARD 20 for nvcc without a word, hence the check.
static_assert(__cplusplus >= 202002L, "libkernels is C++20 inside; pass -std=c++20");
