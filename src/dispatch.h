// Dispatch: one ordered table of kernels per operation, best first, portable last.
//
// Walking down, the first row whose generation the device runs and that supports the problem is
// launched; each skipped row leaves its reason, which explain() prints. LIBKERNELS_FORCE, or a pin
// of the caller's, names one row and fails loudly if it cannot run.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "include/libkernels/c_api.h"
#include "include/libkernels/dtype.h"
#include "kernels/common/kernel_row.h"
#include "src/backend.h"
#include "src/check.h"
#include "src/device.h"

namespace libkernels::inline LK_BACKEND {

// This backend's devices.
Device& device();

// ---- Choosing ---------------------------------------------------------------------------------

template <class Problem>
using KernelTable = std::span<const KernelRow<Problem>* const>;

// The one kernel that may run, and who says so for the texts. No kernel: walk the table.
struct Pin {
  std::string_view kernel;
  const char* by = "";

  bool any() const { return !kernel.empty(); }
};

// What LIBKERNELS_FORCE, a comma list of kernel names, pins. Operations it does not name are free.
class ForceList {
 public:
  // Throws invalid_argument for a name that is not among `kernels`, listing those, and for two
  // names of one operation. Blanks around names and empty items are ignored.
  ForceList(std::string_view text, std::span<const lk_kernel_info> kernels);

  std::string_view row(lk_op op) const;  // empty if `op` is not named

 private:
  std::vector<const lk_kernel_info*> pinned_;
};

// The row that LIBKERNELS_FORCE names for `op`, or an empty view. The variable is read once; if it
// is wrong no call gets here: check_environment() refuses them all, whatever the operation.
std::string_view forced_row(lk_op op);
// What is wrong with LIBKERNELS_FORCE: a sentence that names it. Empty if nothing is.
const std::string& force_fault();

// Why the kernels of `arch` cannot run on the device: a clause. Empty if they can.
std::string arch_reason(Arch arch, const DeviceProperties& properties);

// Throw with the reason of every row, a line each, or with the names of the table.
[[noreturn]] void refuse_no_kernel(lk_op op, const DeviceProperties& properties, const Pin& pin,
                                   const std::string& walk);
[[noreturn]] void refuse_unknown_pin(lk_op op, const Pin& pin, const std::string& names);

// Walks the table as the file comment says. Appends a line per row to *walk unless it is null.
template <class Problem>
const KernelRow<Problem>& choose_pinned(lk_op op, KernelTable<Problem> table,
                                        const Problem& problem, const DeviceProperties& properties,
                                        const Pin& pin, std::string* walk);

// Picks the row for `problem`: the one that `pin` names, or else LIBKERNELS_FORCE, or else the
// first that can. Throws `unsupported` if none can.
template <class Problem>
const KernelRow<Problem>& choose(lk_op op, KernelTable<Problem> table, const Problem& problem,
                                 const DeviceProperties& properties, const char* pin,
                                 std::string* walk) {
  const Pin p =
      pin != nullptr ? Pin{pin, "the caller's pin"} : Pin{forced_row(op), "LIBKERNELS_FORCE"};
  return choose_pinned(op, table, problem, properties, p, walk);
}

// ---- Launching --------------------------------------------------------------------------------

// The current device. Throws cuda_error if there is none.
const DeviceProperties& current_device(lk_op op);

// What a call may use, workspace aside.
LaunchContext launch_context(const lk_call_options& options, const DeviceProperties& properties,
                             cudaStream_t stream);

// Scratch for one call: the caller's workspace or, without one, memory allocated on the stream and
// released on it when this object dies, which is after the launch that uses it was enqueued.
class Scratch {
 public:
  Scratch(lk_op op, const lk_call_options& options, std::size_t needed, cudaStream_t stream);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  bool owned_ = false;
  cudaStream_t stream_;
};

// Throws the cuda_error for a launch of `kernel`, or a load, that failed. `which` names the launch
// if the call has several, else it is null.
[[noreturn]] void refuse_launch(lk_op op, const char* kernel, const char* which, cudaError_t error);
[[noreturn]] void refuse_load(lk_op op, const char* kernel, cudaError_t error);

// Launches a chosen row.
template <class Problem>
void launch(lk_op op, const KernelRow<Problem>& row, const Problem& problem,
            const DeviceProperties& properties, const lk_call_options& options,
            cudaStream_t stream) {
  const Scratch scratch(op, options, row.workspace_bytes(problem, properties), stream);
  LaunchContext context = launch_context(options, properties, stream);
  context.workspace = scratch.data();
  const char* which = nullptr;
  context.launch_name = &which;
  const cudaError_t error = row.launch(problem, context);
  if (error != cudaSuccess) refuse_launch(op, row.name, which, error);
}

// Of a call whose output is empty, which lacks `nothing` ("elements").
std::string describe_nothing(const char* nothing);
[[noreturn]] void refuse_nothing(lk_op op, const char* nothing);

// A line of explain() without its end: "x: f32, 4 x 8, strides 8 and 1".
std::string describe_view(const char* name, DType type, std::int64_t rows, std::int64_t cols,
                          std::int64_t row_stride, std::int64_t col_stride);

// What explain() says of the device, the walk, the plan and the scratch. Throws as choose() does.
template <class Problem>
std::string explain_dispatch(lk_op op, KernelTable<Problem> table, const Problem& problem,
                             const lk_call_options& options, const char* pin);
std::string describe_device(const DeviceProperties& properties, const LaunchContext& context);
std::string describe_plan(const std::string& plan);
std::string describe_scratch(const lk_call_options& options, std::size_t needed);

// What the chosen row takes of an SM.
template <class Problem>
CallResources call_resources(lk_op op, const KernelRow<Problem>& row, const Problem& problem) {
  KernelResources r{};
  const cudaError_t error = row.resources(problem, &r);
  if (error != cudaSuccess) refuse_load(op, row.name, error);
  return {row.name, r.threads_per_cta, r.registers, r.registers_exact, r.smem_bytes, r.local_bytes};
}

// ---- Bodies -----------------------------------------------------------------------------------

template <class Problem>
const KernelRow<Problem>& choose_pinned(lk_op op, KernelTable<Problem> table,
                                        const Problem& problem, const DeviceProperties& properties,
                                        const Pin& pin, std::string* walk) {
  const auto is_pinned = [&](const KernelRow<Problem>* row) { return row->name == pin.kernel; };
  if (pin.any() && std::none_of(table.begin(), table.end(), is_pinned)) {
    std::string names;
    for (const auto* row : table) names += (names.empty() ? "" : ", ") + std::string(row->name);
    refuse_unknown_pin(op, pin, names);
  }
  const auto passed_over = [&](const KernelRow<Problem>* row) {
    return pin.any() && !is_pinned(row);
  };
  const auto runs = [&](const KernelRow<Problem>* row) {
    return !passed_over(row) && runs_on(row->arch, properties.cc_major, properties.cc_minor) &&
           row->supports(problem, properties) == nullptr;
  };
  const auto chosen = std::find_if(table.begin(), table.end(), runs);
  if (walk == nullptr && chosen != table.end()) return **chosen;

  // Words, for explain() or a failure.
  std::string lines;
  for (auto row = table.begin(); row != table.end(); ++row) {
    std::string line;
    if (row == chosen) {
      line = pin.any() ? std::string("chosen: named by ") + pin.by : "chosen";
    } else if (passed_over(*row)) {
      line = std::string("not looked at: ") + pin.by + " names " + std::string(pin.kernel);
    } else if (std::string reason = arch_reason((*row)->arch, properties); !reason.empty()) {
      line = "skipped: " + reason;
    } else if (const char* why = (*row)->supports(problem, properties)) {
      line = std::string("skipped: ") + why;
    } else {
      line = "not needed";
    }
    lines += std::string("  ") + (*row)->name + ": " + line + "\n";
  }
  if (chosen == table.end()) refuse_no_kernel(op, properties, pin, lines);
  *walk += lines;
  return **chosen;
}

template <class Problem>
std::string explain_dispatch(lk_op op, KernelTable<Problem> table, const Problem& problem,
                             const lk_call_options& options, const char* pin) {
  const DeviceProperties& properties = current_device(op);
  std::string walk;
  const KernelRow<Problem>& row = choose(op, table, problem, properties, pin, &walk);
  const std::size_t needed = row.workspace_bytes(problem, properties);
  const LaunchContext context = launch_context(options, properties, nullptr);
  return describe_device(properties, context) + "kernels, best first:\n" + walk +
         describe_plan(row.describe(problem, context)) + describe_scratch(options, needed);
}

}  // namespace libkernels::inline LK_BACKEND
