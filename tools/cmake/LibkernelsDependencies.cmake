# What the build needs from outside: the CUDA toolkit (or its headers), fmt, GoogleTest, Google
# Benchmark. The last three come from the system if installed, else they are downloaded.

include(FetchContent)
include(CheckLanguage)
find_package(Threads REQUIRED)

enable_language(ASM)  # the emulator's fiber switch

# nvcc refuses host compilers newer than it knows with hundreds of header errors; say it first.
function(libkernels_check_host_compiler)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CUDA_HOST_COMPILER)
    return()
  endif()
  set(newest 13)  # CUDA 12.4
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13.0)
    set(newest 15)
  elseif(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
    set(newest 14)
  endif()
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
  if(major GREATER newest)
    message(FATAL_ERROR
      "libkernels: CUDA ${CUDAToolkit_VERSION} supports g++ up to ${newest}; the compiler is g++ "
      "${CMAKE_CXX_COMPILER_VERSION}. Name an older one: -DCMAKE_CUDA_HOST_COMPILER=g++-${newest} "
      "-DCMAKE_CXX_COMPILER=g++-${newest}.")
  endif()
endfunction()

if(LIBKERNELS_EMULATE)
  find_path(LIBKERNELS_CUDA_INCLUDE cuda_runtime.h
            HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
  if(NOT LIBKERNELS_CUDA_INCLUDE)
    message(FATAL_ERROR
      "libkernels: the emulated build needs CUDA's headers (cuda_runtime.h), though neither nvcc nor "
      "a driver. Set CUDA_HOME, or -DLIBKERNELS_CUDA_INCLUDE=DIR.")
  endif()
  add_library(libkernels_cuda_headers INTERFACE)
  target_include_directories(libkernels_cuda_headers SYSTEM INTERFACE ${LIBKERNELS_CUDA_INCLUDE})
else()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR
      "libkernels: no CUDA toolkit found. Set CUDAToolkit_ROOT or CUDA_HOME, or build the CPU "
      "emulation alone with -DLIBKERNELS_EMULATE=ON (it needs CUDA's headers only).")
  endif()
  if(CUDAToolkit_VERSION VERSION_LESS 12.9)
    message(FATAL_ERROR "libkernels: CUDA ${CUDAToolkit_VERSION} is too old: 12.9 or newer is needed.")
  endif()
  libkernels_check_host_compiler()
  if(NOT CMAKE_CUDA_HOST_COMPILER)
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # each kernel library names its own targets
  if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  enable_language(CUDA)
  add_library(libkernels_cuda_headers INTERFACE)
  target_include_directories(libkernels_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()

# fmt, header-only, so that nothing of it is in the library's link interface.
find_package(fmt QUIET)
if(NOT fmt_FOUND)
  FetchContent_Declare(fmt URL https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz)
  FetchContent_MakeAvailable(fmt)
endif()

if(LIBKERNELS_BUILD_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    FetchContent_Declare(googletest
                         URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz)
    FetchContent_MakeAvailable(googletest)
  endif()
endif()

if(LIBKERNELS_BUILD_BENCH)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
    FetchContent_Declare(benchmark
                         URL https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz)
    FetchContent_MakeAvailable(benchmark)
  endif()
endif()
