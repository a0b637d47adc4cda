/* The C ABI of libkernels. Everything else in this directory is a header-only C++ layer over it.
 *
 * Conventions, the same for every operation:
 *
 *   lk_status lk_OP(views..., const lk_OP_options* options, cudaStream_t stream);
 *   lk_status lk_OP_workspace_size(views..., const lk_OP_options* options, size_t* bytes);
 *   lk_status lk_OP_explain(views..., const lk_OP_options* options,
 *                           char* buffer, size_t capacity, size_t* length);
 *
 * - Views come first, inputs (lk_cmatrix) before outputs (lk_matrix), by pointer; none may be null.
 *   Their memory belongs to the caller. Shapes and strides count elements, never bytes.
 * - `options` may be null: all defaults. Otherwise it begins with its size (LK_OPTIONS_INIT), which
 *   is how options grow: a library newer than its caller fills the missing tail with defaults; an
 *   older one refuses a tail that is not all zero (LK_UNSUPPORTED). Zero is the default of every
 *   field. The size is a multiple of 8, and options structs have no padding: what an older caller
 *   left in it would be taken for a field that was added there.
 * - Every call is asynchronous on `stream` (null: the legacy default stream), on the current
 *   device, may be made from any thread and may be captured into a graph.
 * - Nothing throws, prints or exits. lk_last_error_message() has the text of a failure, for the
 *   calling thread. LK_INVALID_ARGUMENT and LK_UNSUPPORTED: nothing was launched, the outputs are
 *   untouched. LK_CUDA_ERROR: a launch may have failed, the outputs are undefined.
 *   LK_INTERNAL_ERROR: the same.
 * - Calls may be made as late as in destructors of static and thread_local objects and in atexit
 *   handlers, as far as CUDA itself still works there: checks and messages always do.
 * - LIBKERNELS_FORCE (a comma list of kernels, at most one an operation) and LIBKERNELS_CHECK (1:
 *   look at the memory of each view; 0: do not) are read from the environment once. With any other
 *   value every lk_OP... call and lk_preload return LK_INVALID_ARGUMENT.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(LK_SHARED_LIBRARY_BUILD) && defined(__GNUC__)
#define LK_API __attribute__((visibility("default")))
#else
#define LK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* As in CUDA's own headers, which need not be included. */
struct CUstream_st;
typedef struct CUstream_st* cudaStream_t;

/* ---- Status ------------------------------------------------------------------------------- */

typedef int32_t lk_status;
enum {
  LK_SUCCESS = 0,
  LK_INVALID_ARGUMENT = 1, /* an argument no version would accept */
  LK_UNSUPPORTED = 2,      /* meaningful, but not offered: a type mix, a device, a newer option */
  LK_CUDA_ERROR = 3,       /* the CUDA runtime or driver reported an error */
  LK_INTERNAL_ERROR = 4    /* out of host memory, or a bug in libkernels */
};

/* "success", "invalid argument", ...; "unknown status" for any other value. Never null. */
LK_API const char* lk_status_name(lk_status status);

/* The text of the calling thread's last failed call: operation, argument, value and what would be
 * accepted. Empty if no call failed yet. Valid until the thread's next failing call. Never null.
 * At most 4095 bytes: of a longer text the end is replaced by "...". */
LK_API const char* lk_last_error_message(void);

/* ---- Types and views ---------------------------------------------------------------------- */

typedef int32_t lk_dtype;
enum { LK_F32 = 1, LK_F16 = 2, LK_BF16 = 3, LK_F8_E4M3 = 4, LK_F8_E5M2 = 5 };

/* Element (r, c) is at data + r * row_stride + c * col_stride, in elements, evaluated in 64 bits.
 * Strides are >= 0. The stride of an extent <= 1 is ignored. data may be null if rows * cols == 0,
 * and must be aligned to one element, not more. A view has fewer than 2^56 elements and spans fewer
 * than 2^56 bytes, gaps included: more than the virtual addresses of any GPU. */
typedef struct lk_matrix {
  void* data;
  lk_dtype dtype;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
} lk_matrix;

typedef struct lk_cmatrix {
  const void* data;
  lk_dtype dtype;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
} lk_cmatrix;

/* ---- Options ------------------------------------------------------------------------------ */

/* The head of every options struct. This struct never grows; the structs that hold it do. */
typedef struct lk_call_options {
  size_t size;            /* sizeof of the whole options struct as the caller compiled it */
  int32_t max_sms;        /* use at most this many SMs' worth of CTAs; 0: all */
  int32_t pdl;            /* 1: launch as a programmatic dependent of the stream's previous kernel
                             (compute capability >= 9.0; ignored where the chosen kernel cannot) */
  void* workspace;        /* device scratch, 256-byte aligned, that overlaps no operand and no other
                             call's; null: allocated on the stream */
  size_t workspace_bytes; /* its size; at least what lk_OP_workspace_size says */
} lk_call_options;

/* lk_gelu_options o = LK_OPTIONS_INIT(lk_gelu_options); -- all defaults, with its size. */
#ifdef __cplusplus
} /* extern "C" */
template <class Options>
constexpr Options lk_options_init() {
  Options options{};
  options.call.size = sizeof(Options);
  return options;
}
extern "C" {
#define LK_OPTIONS_INIT(type) lk_options_init<type>()
#else
#define LK_OPTIONS_INIT(type)       \
  {                                 \
    .call = {.size = sizeof(type) } \
  }
#endif

/* ---- Operations --------------------------------------------------------------------------- */

typedef int32_t lk_op;
enum { LK_OP_ALL = 0, LK_OP_GELU = 1, LK_OP_SOFTMAX = 2, LK_OP_ROW_SUM = 3, LK_OP_MATMUL = 4 };

typedef int32_t lk_gelu_form;
enum { LK_GELU_TANH = 0, LK_GELU_ERF = 1 };

typedef struct lk_gelu_options {
  lk_call_options call;
  lk_gelu_form form;
  int32_t reserved; /* 0 */
} lk_gelu_options;

/* y = gelu(x), elementwise; see gelu.h for the mathematics, types and accuracy. */
LK_API lk_status lk_gelu(const lk_cmatrix* x, const lk_matrix* y, const lk_gelu_options* options,
                         cudaStream_t stream);

/* Bytes of workspace that makes the call allocate nothing. 0 for every GeLU. */
LK_API lk_status lk_gelu_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                        const lk_gelu_options* options, size_t* bytes);

/* Writes which kernel would run on the current device and why, as lines of text. Like snprintf:
 * writes at most `capacity` bytes with the terminating 0 and sets *length to the length of the
 * whole text without it; buffer may be null if capacity is 0; length may be null. Launches nothing.
 */
LK_API lk_status lk_gelu_explain(const lk_cmatrix* x, const lk_matrix* y,
                                 const lk_gelu_options* options, char* buffer, size_t capacity,
                                 size_t* length);

/* y[r, c] = softmax of row r of scale * x; see softmax.h. */

typedef int32_t lk_neg_inf_row; /* what a row of only -inf becomes */
enum { LK_NEG_INF_ROW_NAN = 0, LK_NEG_INF_ROW_ZERO = 1 /* with log: -inf */ };

typedef struct lk_softmax_options {
  lk_call_options call;
  float scale;       /* finite; read if has_scale is 1, else 0 here and 1 in the formula */
  int32_t has_scale; /* 0 or 1 */
  int32_t log;       /* 1: the logarithm of the softmax */
  lk_neg_inf_row neg_inf_row;
} lk_softmax_options;

LK_API lk_status lk_softmax(const lk_cmatrix* x, const lk_matrix* y,
                            const lk_softmax_options* options, cudaStream_t stream);
LK_API lk_status lk_softmax_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                           const lk_softmax_options* options, size_t* bytes);
LK_API lk_status lk_softmax_explain(const lk_cmatrix* x, const lk_matrix* y,
                                    const lk_softmax_options* options, char* buffer,
                                    size_t capacity, size_t* length);

/* y[r, 0] = sum over c of x[r, c]; y has one column; see row_sum.h. */

typedef struct lk_row_sum_options {
  lk_call_options call;
} lk_row_sum_options;

LK_API lk_status lk_row_sum(const lk_cmatrix* x, const lk_matrix* y,
                            const lk_row_sum_options* options, cudaStream_t stream);
LK_API lk_status lk_row_sum_workspace_size(const lk_cmatrix* x, const lk_matrix* y,
                                           const lk_row_sum_options* options, size_t* bytes);
LK_API lk_status lk_row_sum_explain(const lk_cmatrix* x, const lk_matrix* y,
                                    const lk_row_sum_options* options, char* buffer,
                                    size_t capacity, size_t* length);

/* c = act(alpha scale_a scale_b (a b) + beta c_in + bias); see matmul.h. */

typedef int32_t lk_activation;
enum { LK_ACT_NONE = 0, LK_ACT_RELU = 1, LK_ACT_GELU_TANH = 2, LK_ACT_GELU_ERF = 3 };

typedef int32_t lk_math; /* how fp32 inputs are multiplied; others ignore it */
enum { LK_MATH_FP32 = 0, LK_MATH_TF32 = 1, LK_MATH_TF32X3 = 2 };

typedef struct lk_matmul_options {
  lk_call_options call;
  float alpha;       /* read if has_alpha is 1, else 0 here and 1 in the formula */
  int32_t has_alpha; /* 0 or 1 */
  float beta;        /* 0: c_in is never read */
  lk_activation activation;
  lk_math math;
  lk_dtype bias_dtype;  /* LK_F32 or the type of c; 0 if bias is null */
  const void* bias;     /* device: one value per column of c, adjacent; null: none */
  const float* scale_a; /* device: one value; null: 1 */
  const float* scale_b;
  const lk_cmatrix* c_in; /* host: a view of c's shape and type; null: c itself */
  int64_t has_batch;      /* 0: one product, the fields below are 0. 1: batch_count products */
  int64_t batch_count;    /* 0: nothing happens */
  int64_t a_batch_stride; /* elements between the products' operands; 0 (the same) for inputs */
  int64_t b_batch_stride;
  int64_t c_batch_stride;
  int64_t c_in_batch_stride; /* if c_in is null: that of c, and 0 here */
} lk_matmul_options;

LK_API lk_status lk_matmul(const lk_cmatrix* a, const lk_cmatrix* b, const lk_matrix* c,
                           const lk_matmul_options* options, cudaStream_t stream);
LK_API lk_status lk_matmul_workspace_size(const lk_cmatrix* a, const lk_cmatrix* b,
                                          const lk_matrix* c, const lk_matmul_options* options,
                                          size_t* bytes);
LK_API lk_status lk_matmul_explain(const lk_cmatrix* a, const lk_cmatrix* b, const lk_matrix* c,
                                   const lk_matmul_options* options, char* buffer, size_t capacity,
                                   size_t* length);

/* ---- Registry, version, loading ----------------------------------------------------------- */

typedef struct lk_kernel_info {
  const char* name;    /* "gelu_sm80": what LIBKERNELS_FORCE takes */
  lk_op op;            /* the operation it serves */
  int32_t arch;        /* 80, 90, 100: the generation it was written for */
  const char* backend; /* "cuda", or "emu" in the emulated build */
} lk_kernel_info;

/* The compiled kernels, in dispatch order. index < lk_kernel_count(). The structs are static. */
LK_API size_t lk_kernel_count(void);
LK_API lk_status lk_kernel_at(size_t index, const lk_kernel_info** info);

typedef struct lk_version_info {
  int32_t major, minor, patch;
  const char* archs;    /* generations built, such as "80;90;100" */
  const char* backend;  /* "cuda" or "emu" */
  int32_t cuda_version; /* toolkit compiled with, as CUDART_VERSION: 13000 */
} lk_version_info;

/* Never fails. The struct is static. */
LK_API const lk_version_info* lk_version(void);

/* Loads all kernels of an operation (LK_OP_ALL: of all) that can run on the current device, so that
 * later calls load nothing lazily. Not to be called during stream capture. */
LK_API lk_status lk_preload(lk_op op);

#ifdef __cplusplus
} /* extern "C" */
#endif
