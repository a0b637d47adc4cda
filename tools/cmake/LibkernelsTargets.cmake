# How each kind of source is compiled. Three kinds, three functions:
#
#   libkernels_cuda_library(name arch sources...)     device code of one generation, by nvcc
#   libkernels_emu_library(name sources...)           the same .cu files as C++ for the emulator
#   libkernels_host_library(name backend sources...)  host code, once per backend
#
# All are object libraries: a kernel is reached through a table, and static archives would drop it.

include(${PROJECT_SOURCE_DIR}/kernels/ptx/emu/flags.cmake)  # LIBKERNELS_EMU_KERNEL_FLAGS

# Everything that every C++ or CUDA source of the project sees.
add_library(libkernels_common INTERFACE)
target_include_directories(libkernels_common INTERFACE ${PROJECT_SOURCE_DIR}
                                                       ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(libkernels_common INTERFACE libkernels_cuda_headers Threads::Threads)
target_compile_options(libkernels_common INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-gnu-designator>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${LIBKERNELS_WERROR}>>:-Werror>)
if(LIBKERNELS_SANITIZE)
  list(JOIN LIBKERNELS_SANITIZE "," sanitizers)
  target_compile_options(libkernels_common INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${sanitizers};-fno-omit-frame-pointer;-fno-sanitize-recover=all>)
  target_link_options(libkernels_common INTERFACE -fsanitize=${sanitizers})
endif()

# nvcc. CMake 3.25 ignores CMAKE_CUDA_STANDARD 20 without a word, hence the flag. -fmad=false: the
# emulator has to agree bit for bit, so a fused multiply-add is written fmaf.
set(LIBKERNELS_NVCC_FLAGS -std=c++20 -fmad=false -Xcompiler=-Wall,-Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND LIBKERNELS_NVCC_FLAGS -Xcompiler=-Wno-gnu-designator)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND LIBKERNELS_NVCC_FLAGS -Xcompiler=-Wno-psabi)  # as for the emulator, below
endif()
# A spill is a warning of ptxas, hence an error in CI. A source that has to spill gets
# COMPILE_OPTIONS -Xptxas=--disable-warnings, with the reason beside it.
list(APPEND LIBKERNELS_NVCC_FLAGS -Xptxas=--warn-on-spills)
if(LIBKERNELS_WERROR)
  list(APPEND LIBKERNELS_NVCC_FLAGS -Werror=all-warnings -Xcompiler=-Werror)
endif()

# The targets of a generation. sm80 is everyone's fallback: code for 8.x, 9.0, 10.x, PTX for the rest.
set(LIBKERNELS_TARGETS_80 "--generate-code=arch=compute_80,code=[compute_80,sm_80,sm_90,sm_100]")
set(LIBKERNELS_TARGETS_90 "--generate-code=arch=compute_90a,code=sm_90a")
set(LIBKERNELS_TARGETS_100 "--generate-code=arch=compute_100f,code=sm_100f")

function(libkernels_cuda_library name arch)
  foreach(inherited STANDARD STANDARD_REQUIRED EXTENSIONS)
    unset(CMAKE_CXX_${inherited})  # else CMake adds a second -std for CUDA, of its own choice
  endforeach()
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES
    CUDA_ARCHITECTURES OFF CUDA_SEPARABLE_COMPILATION OFF
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE libkernels_common fmt::fmt-header-only)
  target_compile_options(${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:${LIBKERNELS_NVCC_FLAGS};${LIBKERNELS_TARGETS_${arch}}>")
endfunction()

# The emulator's view of a .cu file is a generated .cc that includes it: setting LANGUAGE CXX on the
# .cu itself would leak to the targets of the same directory that want nvcc.
function(libkernels_emu_library name)
  set(wrappers "")
  foreach(source IN LISTS ARGN)
    file(REAL_PATH ${source} path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${path})
    set(wrapper ${PROJECT_BINARY_DIR}/emulated/${relative}.cc)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${relative}\"\n" @ONLY)
    list(APPEND wrappers ${wrapper})
  endforeach()
  add_library(${name} OBJECT ${wrappers})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE libkernels_common fmt::fmt-header-only)
  target_compile_definitions(${name} PRIVATE LK_EMULATE)
  # Unrolling pragmas are for nvcc. Registers of 32 bytes are passed by value between inlined
  # functions of one file: that g++ 4.5 passed them differently is no news.
  target_compile_options(${name} PRIVATE -Wno-unknown-pragmas
                         $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
  if(LIBKERNELS_SANITIZE)  # the hooks and a sanitizer exclude each other
    target_compile_options(${name} PRIVATE -O1 -ffp-contract=off)
  else()
    target_compile_options(${name} PRIVATE ${LIBKERNELS_EMU_KERNEL_FLAGS})
  endif()
endfunction()

# backend: cuda or emu.
function(libkernels_host_library name backend)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE libkernels_common fmt::fmt-header-only)
  if(backend STREQUAL "emu")
    target_compile_definitions(${name} PRIVATE LK_EMULATE)
  endif()
endfunction()

# Adds the objects of the named object libraries to a program or library.
function(libkernels_add_objects target)
  foreach(library IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
  endforeach()
endfunction()

# What a program adds to hold a backend whole: host code, plans, kernels, emulator. The C ABI comes on top,
# lk_c_api_emu or lk_c_api_cuda: one of them, since extern "C" names ignore inline namespaces.
set(LIBKERNELS_EMU_OBJECTS lk_emulator lk_kernels_emu lk_plans_emu lk_host_emu)
set(LIBKERNELS_CUDA_OBJECTS "")
if(NOT LIBKERNELS_EMULATE)
  set(LIBKERNELS_CUDA_OBJECTS lk_host_cuda lk_plans_cuda)
  foreach(arch IN LISTS LIBKERNELS_BUILT_ARCHS)
    list(APPEND LIBKERNELS_CUDA_OBJECTS lk_kernels_cuda_sm${arch})
  endforeach()
endif()

# Makes `target` (a test, lkbench) hold every backend that this build has, and sees LK_HAVE_CUDA if
# that includes the CUDA one. Its own sources are compiled for the emulated backend.
function(libkernels_add_backends target)
  libkernels_add_objects(${target} ${LIBKERNELS_EMU_OBJECTS} ${LIBKERNELS_CUDA_OBJECTS})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE libkernels_common fmt::fmt-header-only ${CMAKE_DL_LIBS})
  target_compile_definitions(${target} PRIVATE LK_EMULATE)
  if(NOT LIBKERNELS_EMULATE)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
    target_compile_definitions(${target} PRIVATE LK_HAVE_CUDA)
  endif()
endfunction()
