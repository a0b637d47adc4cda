#include "src/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "include/libkernels/error.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND {
namespace {

// More than any device's virtual addresses (2^49), far below what overflows.
constexpr std::int64_t kMostBytes = (std::int64_t{1} << 56) - 1;
constexpr std::int64_t kMostElements = kMostBytes;

// An options struct beyond this size is an uninitialised one: its tail must not be read.
constexpr std::size_t kMaxOptionsSize = 4096;
constexpr std::size_t kOptionsGranule = 8;        // c_api.h
constexpr std::size_t kWorkspaceAlignment = 256;  // cudaMalloc's

// Building a text takes longer than the rest of the call, so all of it is out of line.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(fmt::format_string<Args...> format,
                                                   Args&&... args) {
  throw invalid_argument(fmt::format(format, std::forward<Args>(args)...));
}

// *out = offset of the last element in elements + 1, times the element size; false if that, or the
// number of elements, is beyond what a view may have.
bool range_in_bytes(const Operand& v, std::int64_t* out) {
  std::int64_t row_span, col_span, span, count;
  return !__builtin_mul_overflow(v.rows, v.cols, &count) &&
         !__builtin_mul_overflow(v.rows - 1, v.row_stride, &row_span) &&
         !__builtin_mul_overflow(v.cols - 1, v.col_stride, &col_span) &&
         !__builtin_add_overflow(row_span, col_span, &span) &&
         !__builtin_add_overflow(span, std::int64_t{1}, &span) &&
         !__builtin_mul_overflow(span, static_cast<std::int64_t>(size_of(v.dtype)), out) &&
         *out <= kMostBytes && count <= kMostElements;
}

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

void check_stride(const Operand& v, const char* which, const char* extent_name, std::int64_t stride,
                  std::int64_t extent) {
  if (extent > 1 && stride < 0) {
    refuse("{}: {}.{} is {} with {} {}; strides are >= 0", v.op, v.name, which, stride, extent,
           extent_name);
  }
}

Operand check_view(const char* op, const char* name, const void* data, lk_dtype dtype,
                   std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                   std::int64_t col_stride) {
  Operand v{op, name, data, static_cast<DType>(dtype), rows, cols, row_stride, col_stride, 0};
  if (!is_valid(v.dtype)) {
    refuse(
        "{}: {}.dtype is {}; the types are 1 (LK_F32), 2 (LK_F16), 3 (LK_BF16), 4 (LK_F8_E4M3) "
        "and 5 (LK_F8_E5M2)",
        op, name, dtype);
  }
  if (rows < 0) refuse("{}: {}.rows is {}; extents are >= 0", op, name, rows);
  if (cols < 0) refuse("{}: {}.cols is {}; extents are >= 0", op, name, cols);
  check_stride(v, "row_stride", "rows", row_stride, rows);
  check_stride(v, "col_stride", "columns", col_stride, cols);
  if (cols <= 1) v.col_stride = 1;
  if (rows <= 1) v.row_stride = cols > 1 ? cols : 1;
  if (rows == 0 || cols == 0) return v;

  if (data == nullptr) {
    refuse("{}: {}.data is null with {} x {} elements; only a view without elements may be null",
           op, name, rows, cols);
  }
  if (address(data) % size_of(v.dtype) != 0) {
    refuse("{}: {}.data is {}, which is not aligned to one element ({} bytes of {})", op, name,
           data, size_of(v.dtype), libkernels::name(v.dtype));
  }
  std::uintptr_t end;
  if (!range_in_bytes(v, &v.bytes) ||
      __builtin_add_overflow(address(data), static_cast<std::uintptr_t>(v.bytes), &end)) {
    refuse(
        "{}: {} of {} x {} elements of {} with strides {} and {} at {} is too large: a view has "
        "fewer than 2^56 elements, spans fewer than 2^56 bytes from the first to the last, and "
        "does not reach the end of the 64-bit addresses",
        op, name, rows, cols, libkernels::name(v.dtype), row_stride, col_stride, data);
  }
  return v;
}

void check_broadcast(const Operand& v, const char* which, const char* extent_name,
                     std::int64_t stride, std::int64_t extent) {
  if (extent > 1 && stride == 0) {
    refuse("{}: {}.{} is 0 with {} {}; only inputs may be broadcast, an output needs a stride >= 1",
           v.op, v.name, which, extent, extent_name);
  }
}

// LIBKERNELS_CHECK, or what is wrong with it.
struct CheckSetting {
  bool on = false;
  std::string fault;

  CheckSetting() {
    const char* text = std::getenv("LIBKERNELS_CHECK");
    const std::string_view value = text == nullptr ? "" : text;
    on = value == "1";
    if (!on && value != "0" && !value.empty()) {
      fault = fmt::format(
          "LIBKERNELS_CHECK is '{}'; it is 1 (every call looks at the memory of its views) or 0, "
          "empty or unset (none does)",
          value);
    }
  }
};

// Never destroyed: a call may come from another static object's destructor.
const CheckSetting& check_setting() {
  static const CheckSetting& setting = *new CheckSetting;
  return setting;
}

}  // namespace

Operand check_input(const char* op, const char* name, const lk_cmatrix* view) {
  if (view == nullptr) refuse("{}: {} is null; a pointer to an lk_cmatrix is needed", op, name);
  return check_view(op, name, view->data, view->dtype, view->rows, view->cols, view->row_stride,
                    view->col_stride);
}

Operand check_output(const char* op, const char* name, const lk_matrix* view) {
  if (view == nullptr) refuse("{}: {} is null; a pointer to an lk_matrix is needed", op, name);
  const Operand v = check_view(op, name, view->data, view->dtype, view->rows, view->cols,
                               view->row_stride, view->col_stride);
  if (v.empty()) return v;
  check_broadcast(v, "row_stride", "rows", v.row_stride, v.rows);
  check_broadcast(v, "col_stride", "columns", v.col_stride, v.cols);
  if (self_overlaps(v.rows, v.cols, v.row_stride, v.col_stride)) {
    refuse(
        "{}: elements of the output {} overlap: {} x {} with strides {} and {}; every element "
        "needs an address of its own (with g the gcd of the strides: cols <= row_stride / g or "
        "rows <= col_stride / g)",
        op, name, v.rows, v.cols, v.row_stride, v.col_stride);
  }
  return v;
}

void check_same_shape(const Operand& a, const Operand& b) {
  if (a.rows != b.rows || a.cols != b.cols) {
    refuse("{}: {} is {} x {} and {} is {} x {}; both need the same shape", a.op, a.name, a.rows,
           a.cols, b.name, b.rows, b.cols);
  }
}

void check_same_type_or_f32(const Operand& in, const Operand& out) {
  const bool known = in.dtype == DType::f32 || in.dtype == DType::f16 || in.dtype == DType::bf16;
  if (known && (out.dtype == in.dtype || out.dtype == DType::f32)) return;
  throw unsupported(
      fmt::format("{}: {} is {} and {} is {}; offered are f32 -> f32, f16 -> f16 or f32, and "
                  "bf16 -> bf16 or f32",
                  in.op, in.name, name(in.dtype), out.name, name(out.dtype)));
}

void check_disjoint(const Operand& out, const Operand& in, InPlace in_place) {
  if (out.empty() || in.empty()) return;
  const std::uintptr_t out_first = address(out.data), out_last = out_first + out.bytes - 1;
  const std::uintptr_t in_first = address(in.data), in_last = in_first + in.bytes - 1;
  if (out_last < in_first || in_last < out_first) return;
  if (in_place == InPlace::allowed && out.data == in.data && out.dtype == in.dtype &&
      out.rows == in.rows && out.cols == in.cols && out.row_stride == in.row_stride &&
      out.col_stride == in.col_stride) {
    return;
  }
  refuse(
      "{}: the output {} (bytes {:#x} to {:#x}) overlaps the input {} (bytes {:#x} to {:#x}); "
      "{}. Ranges count from first to last byte, so interleaved views overlap",
      out.op, out.name, out_first, out_last, in.name, in_first, in_last,
      in_place == InPlace::allowed
          ? "they must be disjoint, or in place: the same pointer, strides and type"
          : "they must be disjoint");
}

bool self_overlaps(std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                   std::int64_t col_stride) {
  const std::int64_t g = std::gcd(row_stride, col_stride);
  if (g == 0) return rows > 1 || cols > 1;
  return col_stride / g < rows && row_stride / g < cols;
}

void read_options(const char* op, const void* from, void* to, std::size_t known) {
  std::size_t size;  // the first field, whatever the struct
  std::memcpy(&size, from, sizeof(size));
  if (size < sizeof(lk_call_options) || size > kMaxOptionsSize || size % kOptionsGranule != 0) {
    refuse(
        "{}: options.call.size is {}; it is the sizeof of the options struct, a multiple of {} "
        "between {} and {} (initialise it with LK_OPTIONS_INIT)",
        op, size, kOptionsGranule, sizeof(lk_call_options), kMaxOptionsSize);
  }
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      throw unsupported(fmt::format(
          "{}: byte {} of the options is {}, but this version of libkernels knows only the first "
          "{} of their {} bytes (options.call.size) and needs zeros (defaults) beyond: an option "
          "of a newer version is set",
          op, i, bytes[i], known, size));
    }
  }
  std::memcpy(to, from, size < known ? size : known);
}

void check_call_options(const char* op, const lk_call_options& options) {
  if (options.max_sms < 0) {
    refuse("{}: options.call.max_sms is {}; 0 (all SMs) or a positive number", op, options.max_sms);
  }
  if (options.pdl != 0 && options.pdl != 1) {
    refuse("{}: options.call.pdl is {}; 0 or 1", op, options.pdl);
  }
  if (options.workspace == nullptr && options.workspace_bytes != 0) {
    refuse(
        "{}: options.call.workspace is null with options.call.workspace_bytes {}; null goes with "
        "0 bytes (scratch, if any, is then allocated on the stream)",
        op, options.workspace_bytes);
  }
  if (address(options.workspace) % kWorkspaceAlignment != 0) {
    refuse("{}: options.call.workspace is {}; it needs an alignment of {} bytes", op,
           options.workspace, kWorkspaceAlignment);
  }
}

void check_workspace(const char* op, const lk_call_options& options, std::size_t needed) {
  if (options.workspace != nullptr && options.workspace_bytes < needed) {
    refuse(
        "{}: options.call.workspace_bytes is {}; this call needs {} (lk_{}_workspace_size), or a "
        "null workspace",
        op, options.workspace_bytes, needed, op);
  }
}

void check_workspace_apart(const lk_call_options& options, const Operand& v) {
  if (options.workspace == nullptr || options.workspace_bytes == 0 || v.empty()) return;
  const std::uintptr_t first = address(options.workspace);
  const std::uintptr_t v_first = address(v.data), v_last = v_first + v.bytes - 1;
  if (v_last < first || v_first - std::min(v_first, first) >= options.workspace_bytes) return;
  refuse(
      "{}: options.call.workspace ({} bytes from {:#x}) overlaps {} (bytes {:#x} to {:#x}); it "
      "needs memory of its own",
      v.op, options.workspace_bytes, first, v.name, v_first, v_last);
}

void check_environment(const char* op) {
  for (const std::string* fault : {&force_fault(), &check_setting().fault}) {
    if (!fault->empty()) refuse("{}: {}", op, *fault);
  }
}

bool costly_checks() { return check_setting().on; }

void check_memory(const Operand& v, Device& device) {
  if (v.empty()) return;
  Device::PointerInfo info;
  const cudaError_t error = device.pointer_info(v.data, &info);
  if (error != cudaSuccess) {
    throw cuda_error(fmt::format("{}: asking what memory {}.data = {} is failed: {}", v.op, v.name,
                                 v.data, device.describe(error)));
  }
  if (!info.device_accessible) {
    refuse("{}: {}.data is {}, which the device cannot access; device memory is needed", v.op,
           v.name, v.data);
  }
  if (!info.on_current_device) {
    refuse(
        "{}: {}.data is {}, which belongs to another device; memory of the current device is "
        "needed",
        v.op, v.name, v.data);
  }
  if (info.base == nullptr || info.bytes == 0) return;
  const std::size_t offset = address(v.data) - address(info.base);
  const std::size_t left = offset < info.bytes ? info.bytes - offset : 0;
  if (static_cast<std::size_t>(v.bytes) > left) {
    refuse(
        "{}: {} takes {} bytes from {}, but its allocation ends after {} of them ({} bytes at {})",
        v.op, v.name, v.bytes, v.data, left, info.bytes, info.base);
  }
}

void check_same_shape_call(const Operand& x, const Operand& y, const lk_call_options& options,
                           Device& device) {
  check_same_shape(x, y);
  check_same_type_or_f32(x, y);
  check_disjoint(y, x, InPlace::allowed);
  for (const Operand* v : {&x, &y}) check_workspace_apart(options, *v);
  if (costly_checks()) {
    check_memory(x, device);
    check_memory(y, device);
  }
}

}  // namespace libkernels::inline LK_BACKEND
