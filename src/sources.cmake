# Host code that is compiled once per backend. Beside it stand device_cuda.cc or device_emu.cc (one
# backend each) and c_api.cc (one a binary).
set(LIBKERNELS_HOST_SOURCES
    backend.cc
    check.cc
    dispatch.cc
    error.cc
    gelu.cc
    matmul.cc
    matmul_check.cc
    registry.cc
    row_sum.cc
    softmax.cc)
