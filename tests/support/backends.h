// The backends and kernels of this program, as GoogleTest parameters.
//
// The emulated backend is always there; the CUDA one if the build has it (LK_HAVE_CUDA) and, at run
// time, a GPU. Its kernels are listed either way, so that a list made on a machine without a GPU
// holds on one with it; there they skip, with the reason.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "include/libkernels/arch.h"
#include "kernels/ptx/emu/emulator.h"
#include "src/backend.h"

namespace libkernels::test {

inline std::vector<const Backend*> backends() {
  std::vector<const Backend*> all{&emu_backend()};
#if defined(LK_HAVE_CUDA)
  all.push_back(&cuda_backend());
#endif
  return all;
}

inline bool is_emulated(const Backend& backend) { return std::string(backend.name) == "emu"; }

// Empty if a device of the backend can run kernels, else why not.
inline std::string why_no_device(const Backend& backend) {
  int count = 0;
  const cudaError_t error = backend.device().count(&count);
  if (error != cudaSuccess) return "no GPU: " + backend.device().describe(error);
  return count > 0 ? "" : "no GPU";
}

// The emulator's device for as long as this lives.
class ProfileScope {
 public:
  explicit ProfileScope(const std::string& name) : before_(emulator::current_profile()) {
    const DeviceProperties* profile = emulator::find_profile(name);
    if (profile == nullptr) throw std::runtime_error("no emulated device " + name);
    emulator::set_current_profile(*profile);
  }
  explicit ProfileScope(const DeviceProperties& device) : before_(emulator::current_profile()) {
    emulator::set_current_profile(device);
  }
  ~ProfileScope() { emulator::set_current_profile(before_); }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  DeviceProperties before_;
};

// The emulator's settings as they were, at the end of the scope.
class SettingsScope {
 public:
  SettingsScope() : before_(emulator::settings()) {}
  ~SettingsScope() { emulator::settings() = before_; }
  SettingsScope(const SettingsScope&) = delete;
  SettingsScope& operator=(const SettingsScope&) = delete;

 private:
  emulator::Settings before_;
};

// A kernel of one backend's registry.
struct Kernel {
  const Backend* backend;
  const lk_kernel_info* info;
};

inline std::string show(const Kernel& kernel) {
  return std::string(kernel.backend->name) + "_" + kernel.info->name;
}

// Does a kernel of matmul make f16 of fp8 first?
inline bool converts_f8(const Kernel& kernel) { return Arch(kernel.info->arch) == Arch::sm80; }

// Every compiled kernel of an operation, of every backend. Throws if there is none, for which
// GoogleTest has no better words than that a suite is not instantiated.
inline std::vector<Kernel> kernels_of(lk_op op) {
  std::vector<Kernel> all;
  for (const Backend* backend : backends()) {
    for (const lk_kernel_info& info : backend->kernels()) {
      if (info.op == op) all.push_back({backend, &info});
    }
  }
  if (all.empty()) {
    throw std::runtime_error("no kernel of operation " + std::to_string(op) +
                             " is registered: src/registry.cc, kOperations");
  }
  return all;
}

// Empty if the kernel can run here, else why not. The emulator runs every generation.
inline std::string why_not_here(const Kernel& kernel) {
  if (is_emulated(*kernel.backend)) return "";
  std::string reason = why_no_device(*kernel.backend);
  if (!reason.empty()) return reason;
  const DeviceProperties* properties = nullptr;
  const cudaError_t error = kernel.backend->device().properties(&properties);
  if (error != cudaSuccess) return kernel.backend->device().describe(error);
  if (runs_on(Arch(kernel.info->arch), properties->cc_major, properties->cc_minor)) return "";
  return std::string(kernel.info->name) + " does not run on compute capability " +
         std::to_string(properties->cc_major) + "." + std::to_string(properties->cc_minor);
}

// The small emulated device of the kernel's generation.
inline std::string profile_of(const Kernel& kernel) {
  return "emu" + std::to_string(kernel.info->arch);
}

}  // namespace libkernels::test
