// Argument checks that every operation shares. Each throws invalid_argument or unsupported with a
// text that names the operation, the argument, its value and what would be accepted, and touches no
// device. Passing costs some tens of nanoseconds and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "include/libkernels/c_api.h"
#include "include/libkernels/dtype.h"
#include "kernels/ptx/backend.h"
#include "src/device.h"

namespace libkernels::inline LK_BACKEND {

// A view that passed its own checks. Strides of extents <= 1 mean nothing to the caller; here they
// are those of a dense row-major view, so that nobody has to ask for the extent first.
//
// Its element count and `bytes` are below 2^56, so that sums, roundings and (for an output, whose
// elements do not overlap) numbers of bytes computed from them cannot overflow 64 bits; nor does
// data + bytes. Strides that count are below 2^56, too, unless there are no elements.
struct Operand {
  const char* op;    // "gelu"
  const char* name;  // "x"
  const void* data;
  DType dtype;
  std::int64_t rows, cols;
  std::int64_t row_stride, col_stride;
  std::int64_t bytes;  // from the first byte to the last, gaps included; 0 if there are no elements

  bool empty() const { return bytes == 0; }
};

Operand check_input(const char* op, const char* name, const lk_cmatrix* view);
// An output has further rules: no broadcast, and its elements do not overlap.
Operand check_output(const char* op, const char* name, const lk_matrix* view);

void check_same_shape(const Operand& a, const Operand& b);

// The types of the operations that write what they read: f32 -> f32, f16 -> f16 or f32, bf16 ->
// bf16 or f32.
void check_same_type_or_f32(const Operand& input, const Operand& output);

// Output and input must not overlap. Judged on their address ranges, first to last byte: the exact
// question (do two strided sets meet?) is a number-theoretic one, and interleaved views are rare.
enum class InPlace {
  refused,
  allowed,  // the same pointer, strides and type
};
void check_disjoint(const Operand& output, const Operand& input, InPlace in_place);

// True if an element of a rows x cols view with these strides shares its address with another.
// rows, cols >= 1, strides >= 0. With g the gcd of the strides, two index pairs (r, c) meet iff
// they differ by a multiple of (col_stride / g, -row_stride / g): that takes more rows and columns.
bool self_overlaps(std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                   std::int64_t col_stride);

// ---- Environment ------------------------------------------------------------------------------

// Throws invalid_argument, for every call of every operation, if LIBKERNELS_FORCE or
// LIBKERNELS_CHECK has a value that it does not take. Each is read once. checked_options() asks.
void check_environment(const char* op);

// ---- Options ----------------------------------------------------------------------------------

// Copies an options struct that the caller compiled with another version perhaps: a shorter one
// gets defaults for what it lacks, a longer one must be zero beyond what is known here. Sizes are
// multiples of 8, which a field or a pair of fields takes, so that none is cut.
void read_options(const char* op, const void* from, void* to, std::size_t known);
// The fields that all options share, workspace aside.
void check_call_options(const char* op, const lk_call_options& options);

template <class Options>
Options checked_options(const char* op, const Options* options) {
  static_assert(offsetof(Options, call) == 0, "options begin with lk_call_options");
  check_environment(op);
  Options known{};
  known.call.size = sizeof(Options);
  if (options != nullptr) read_options(op, options, &known, sizeof(Options));
  check_call_options(op, known.call);
  return known;
}

// Null, or aligned and of at least `needed` bytes.
void check_workspace(const char* op, const lk_call_options& options, std::size_t needed);
// The caller's workspace and an operand must not overlap, whether the call uses it or not.
void check_workspace_apart(const lk_call_options& options, const Operand& operand);

// ---- Operations of one input and one output of its shape ---------------------------------------

// Everything that they ask of the two views: one shape, a type that goes with the other, no overlap
// but in place, a workspace apart, and what LIBKERNELS_CHECK asks.
void check_same_shape_call(const Operand& x, const Operand& y, const lk_call_options& options,
                           Device& device);

// ---- LIBKERNELS_CHECK=1 -----------------------------------------------------------------------

// Whether the costly checks are on.
bool costly_checks();
// The memory is device-accessible, of the current device, and its allocation covers the view.
void check_memory(const Operand& operand, Device& device);

}  // namespace libkernels::inline LK_BACKEND
