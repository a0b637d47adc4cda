#include "src/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "include/libkernels/error.h"
#include "src/registry.h"

namespace libkernels::inline LK_BACKEND {
namespace {

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = s.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kBlanks) - first + 1);
}

std::string names_of(std::span<const lk_kernel_info> kernels) {
  std::string names;
  for (const lk_kernel_info& k : kernels) {
    if (!names.empty()) names += ", ";
    names += k.name;
  }
  return names;
}

// LIBKERNELS_FORCE, or why it cannot be used.
struct Forced {
  std::unique_ptr<const ForceList> list;  // null: nothing is forced
  std::string fault;

  Forced() {
    const char* text = std::getenv("LIBKERNELS_FORCE");
    if (text == nullptr) return;
    try {
      list = std::make_unique<const ForceList>(text, kernels());
    } catch (const invalid_argument& e) {
      fault = e.what();
    }
  }
};

// Never destroyed: a call may come from another static object's destructor.
const Forced& forced() {
  static const Forced& f = *new Forced;
  return f;
}

// `error` came back from a call of ours that was `doing` something.
[[noreturn]] void refuse_cuda(lk_op op, const std::string& doing, cudaError_t error) {
  const std::string text = device().describe(error);
  device().forget_error();
  throw cuda_error(fmt::format("{}: {} failed{}: {}", op_name(op), doing,
                               device().is_sticky(error)
                                   ? ", because an error was there before this call and leaves the "
                                     "device's context unusable"
                                   : "",
                               text));
}

// Each line with two blanks in front and a newline behind.
std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) out += "  " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

ForceList::ForceList(std::string_view text, std::span<const lk_kernel_info> kernels) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view name = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (name.empty()) continue;
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const lk_kernel_info& k) { return k.name == name; });
    if (found == kernels.end()) {
      throw invalid_argument(
          fmt::format("LIBKERNELS_FORCE names '{}', which is no kernel of this build; the kernels "
                      "are {}",
                      name, names_of(kernels)));
    }
    if (const auto before = row(found->op); !before.empty() && before != name) {
      throw invalid_argument(fmt::format(
          "LIBKERNELS_FORCE names both {} and {} for {}; one kernel an operation can be forced",
          before, name, op_name(found->op)));
    }
    pinned_.push_back(&*found);
  }
}

std::string_view ForceList::row(lk_op op) const {
  for (const lk_kernel_info* k : pinned_) {
    if (k->op == op) return k->name;
  }
  return {};
}

std::string_view forced_row(lk_op op) {
  return forced().list == nullptr ? std::string_view() : forced().list->row(op);
}

const std::string& force_fault() { return forced().fault; }

std::string arch_reason(Arch arch, const DeviceProperties& properties) {
  if (runs_on(arch, properties.cc_major, properties.cc_minor)) return {};
  return fmt::format("{} kernels do not run on compute capability {}.{}", name(arch),
                     properties.cc_major, properties.cc_minor);
}

void refuse_no_kernel(lk_op op, const DeviceProperties& properties, const Pin& pin,
                      const std::string& walk) {
  const std::string what = pin.any()
                               ? fmt::format("{} ({}) cannot run this call", pin.kernel, pin.by)
                               : std::string("no kernel can run this call");
  throw unsupported(fmt::format("{}: {} on {} (compute capability {}.{}):\n{}", op_name(op), what,
                                properties.name, properties.cc_major, properties.cc_minor, walk));
}

void refuse_unknown_pin(lk_op op, const Pin& pin, const std::string& names) {
  throw invalid_argument(fmt::format("{}: {} names '{}', which is none of its kernels: {}",
                                     op_name(op), pin.by, pin.kernel, names));
}

const DeviceProperties& current_device(lk_op op) {
  const DeviceProperties* properties = nullptr;
  const cudaError_t error = device().properties(&properties);
  if (error != cudaSuccess) refuse_cuda(op, "asking for the current device", error);
  return *properties;
}

LaunchContext launch_context(const lk_call_options& options, const DeviceProperties& properties,
                             cudaStream_t stream) {
  const int sms = properties.sm_count;
  return {.properties = properties,
          .max_sms = options.max_sms == 0 ? sms : std::min(int{options.max_sms}, sms),
          .pdl = options.pdl != 0 && properties.cc_major >= 9,  // the launch attribute's own limit
          .workspace = nullptr,
          .stream = stream};
}

Scratch::Scratch(lk_op op, const lk_call_options& options, std::size_t needed, cudaStream_t stream)
    : stream_(stream) {
  check_workspace(op_name(op), options, needed);
  if (needed == 0) return;
  data_ = options.workspace;
  if (data_ != nullptr) return;
  const cudaError_t error = device().allocate_async(&data_, needed, stream);
  if (error != cudaSuccess) {
    refuse_cuda(op,
                fmt::format("allocating {} bytes of scratch on the stream (a workspace in the "
                            "options avoids it)",
                            needed),
                error);
  }
  owned_ = true;
}

Scratch::~Scratch() {
  // An error here is an earlier one's echo; the launch or the next call reports it.
  if (owned_) static_cast<void>(device().release_async(data_, stream_));
}

void refuse_launch(lk_op op, const char* kernel, const char* which, cudaError_t error) {
  const std::string detail = which != nullptr ? fmt::format(" ({})", which) : "";
  refuse_cuda(op, fmt::format("launching {}{}", kernel, detail), error);
}

void refuse_load(lk_op op, const char* kernel, cudaError_t error) {
  refuse_cuda(op, std::string("loading ") + kernel, error);
}

std::string describe_nothing(const char* nothing) {
  return fmt::format("no {}: nothing is launched\n", nothing);
}
void refuse_nothing(lk_op op, const char* nothing) {
  throw invalid_argument(
      fmt::format("{}: no kernel runs for a problem without {}", op_name(op), nothing));
}

std::string describe_view(const char* name, DType type, std::int64_t rows, std::int64_t cols,
                          std::int64_t row_stride, std::int64_t col_stride) {
  return fmt::format("{}: {}, {} x {}, strides {} and {}", name, libkernels::name(type), rows, cols,
                     row_stride, col_stride);
}

std::string describe_device(const DeviceProperties& p, const LaunchContext& context) {
  return fmt::format("device: {}, compute capability {}.{}, {} of {} SMs{}\n", p.name, p.cc_major,
                     p.cc_minor, context.max_sms, p.sm_count,
                     context.pdl ? ", programmatic dependent launch" : "");
}

std::string describe_plan(const std::string& plan) { return "plan:\n" + indented(plan); }

std::string describe_scratch(const lk_call_options& options, std::size_t needed) {
  if (needed == 0) return "scratch: none\n";
  return fmt::format("scratch: {} bytes, {}\n", needed,
                     options.workspace != nullptr ? "in the caller's workspace"
                                                  : "allocated on the stream (no workspace given)");
}

}  // namespace libkernels::inline LK_BACKEND
