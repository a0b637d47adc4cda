# Options, and the checks that turn a wrong one into a readable message.

include(GNUInstallDirs)

option(LIBKERNELS_EMULATE "Build the emulated library alone: needs CUDA's headers, no nvcc" OFF)
option(LIBKERNELS_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(LIBKERNELS_BUILD_BENCH "Build lkbench" ${PROJECT_IS_TOP_LEVEL})
option(LIBKERNELS_WERROR "Treat warnings, and ptxas spills, as errors" OFF)
option(BUILD_SHARED_LIBS "Build libkernels.so rather than libkernels.a" ON)
set(LIBKERNELS_SANITIZE "" CACHE STRING "Sanitizers for host and emulated code: address;undefined")
set(LIBKERNELS_ARCHS "80;90;100" CACHE STRING
    "Generations of kernels to build, out of 80;90;100, or native. 80 is always built")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# In a larger project the variable belongs to that project's own CUDA targets.
if(PROJECT_IS_TOP_LEVEL AND DEFINED CMAKE_CUDA_ARCHITECTURES
   AND NOT CMAKE_CUDA_ARCHITECTURES STREQUAL "OFF")
  message(FATAL_ERROR
    "libkernels: CMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES} has no effect here, because "
    "each generation of kernels is compiled for its own targets. Set LIBKERNELS_ARCHS to a list "
    "out of 80;90;100 instead (or to native on a machine with a GPU).")
endif()

foreach(sanitizer IN LISTS LIBKERNELS_SANITIZE)
  if(NOT sanitizer MATCHES "^(address|undefined|leak)$")
    message(FATAL_ERROR
      "libkernels: LIBKERNELS_SANITIZE contains '${sanitizer}'. Choose out of address;undefined "
      "(the emulator takes the place of thread: it reports the races of kernels itself).")
  endif()
endforeach()

# Turns "native" into the generation of the GPUs that nvidia-smi lists.
function(libkernels_native_archs out)
  find_program(LIBKERNELS_NVIDIA_SMI nvidia-smi)
  set(capabilities "")
  if(LIBKERNELS_NVIDIA_SMI)
    execute_process(COMMAND ${LIBKERNELS_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
  if(NOT capabilities)
    message(FATAL_ERROR
      "libkernels: LIBKERNELS_ARCHS=native asks for this machine's GPU, but nvidia-smi finds none. "
      "Name the generations instead: -DLIBKERNELS_ARCHS=\"80;90;100\".")
  endif()
  set(archs 80)
  foreach(capability IN LISTS capabilities)
    if(capability STREQUAL "9.0")
      list(APPEND archs 90)
    elseif(capability MATCHES "^10\\.")
      list(APPEND archs 100)
    elseif(capability VERSION_LESS "8.0")
      message(FATAL_ERROR "libkernels: the GPU has compute capability ${capability}; 8.0 is the least.")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# LIBKERNELS_BUILT_ARCHS: the generations that nvcc builds. The emulator always runs all of them.
set(LIBKERNELS_BUILT_ARCHS "${LIBKERNELS_ARCHS}")
if(LIBKERNELS_BUILT_ARCHS STREQUAL "")
  message(FATAL_ERROR "libkernels: LIBKERNELS_ARCHS is empty. Choose out of 80;90;100, or native.")
elseif(LIBKERNELS_BUILT_ARCHS STREQUAL "native")
  libkernels_native_archs(LIBKERNELS_BUILT_ARCHS)
endif()
foreach(arch IN LISTS LIBKERNELS_BUILT_ARCHS)
  if(NOT arch MATCHES "^(80|90|100)$")
    message(FATAL_ERROR
      "libkernels: LIBKERNELS_ARCHS contains '${arch}', which is not a generation of its kernels. "
      "Choose out of 80;90;100 (without suffix: 90 builds the target 90a, 100 builds 100f, which "
      "serves 10.0 and 10.3; other GPUs from 8.0 on run the code of 80), or native.")
  endif()
endforeach()
list(APPEND LIBKERNELS_BUILT_ARCHS 80)  # everyone's fallback
list(REMOVE_DUPLICATES LIBKERNELS_BUILT_ARCHS)
list(SORT LIBKERNELS_BUILT_ARCHS COMPARE NATURAL)
list(JOIN LIBKERNELS_BUILT_ARCHS " " archs)
message(STATUS "libkernels: generations for CUDA: ${archs}")
if(LIBKERNELS_EMULATE)
  message(STATUS "libkernels: emulated build, CUDA is left out; the emulator runs all generations")
endif()
