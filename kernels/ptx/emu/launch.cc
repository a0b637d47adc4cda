// Launches: which shapes are legal, and how a launch ends.
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

// What cudaLaunchKernelEx returns for this shape: measured on an H200, whatever is wrong with grid
// or block is an invalid value (the <<<>>> launch calls the same an invalid configuration).
cudaError_t check_shape(const LaunchRequest& r, const DeviceProperties& p) {
  constexpr unsigned kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535, kMaxBlockXY = 1024,
                     kMaxBlockZ = 64;
  constexpr std::uint64_t kMaxCluster = 16;  // 8 are portable; ptx::launch opts into more
  if (volume(r.grid) == 0 || volume(r.block) == 0) return cudaErrorInvalidValue;
  if (r.grid.x > kMaxGridX || r.grid.y > kMaxGridYZ || r.grid.z > kMaxGridYZ ||
      r.block.x > kMaxBlockXY || r.block.y > kMaxBlockXY || r.block.z > kMaxBlockZ ||
      volume(r.block) > std::uint64_t(p.max_threads_per_cta) || volume(r.block) > kMaxThreads) {
    return cudaErrorInvalidValue;
  }
  if (r.smem > p.smem_per_cta_optin || r.smem > kSharedBytes) return cudaErrorInvalidValue;
  if (volume(r.cluster) > 1) {
    if (p.cc_major < 9) return cudaErrorInvalidConfiguration;
    if (volume(r.cluster) > kMaxCluster) return cudaErrorInvalidClusterSize;
    if (r.grid.x % r.cluster.x || r.grid.y % r.cluster.y || r.grid.z % r.cluster.z) {
      return cudaErrorInvalidConfiguration;
    }
  }
  return cudaSuccess;
}

void begin(Machine* m, const LaunchRequest& request) {
  begin_launch();
  Launch& l = m->launch;
  l = Launch{};
  l.request = request;
  l.threads = std::uint32_t(volume(request.block));
  l.warps = (l.threads + kLanes - 1) / kLanes;
  l.ctas = volume(request.grid);
  l.counting = settings().count;
  if (m->next_incarnation + l.ctas > Access::kMaxCta) {
    clear_all_shadows();
    m->spare.clear();
    m->next_incarnation = 1;
  }
  l.race_checks = l.ctas < Access::kMaxCta;
  l.first_incarnation = m->next_incarnation;
}

std::string fault_text(const Fault& fault, const LaunchRequest& request) {
  std::string text = fault.text + "\n  in kernel " + name_kernel(request.kernel);
  char where[256];
  if (fault.cta) {
    const uint3 c = fault.cta->idx;
    std::snprintf(where, sizeof(where), "\n  CTA (%u, %u, %u)", c.x, c.y, c.z);
    text += where;
  }
  if (const Thread* t = fault.thread) {
    std::snprintf(where, sizeof(where), ", thread (%u, %u, %u): warp %u, lane %u", t->idx.x,
                  t->idx.y, t->idx.z, t->warp->index, t->lane);
    text += where;
  }
  if (fault.pc) text += "\n  at " + name_pc(fault.pc);
  return text;
}

}  // namespace

cudaError_t run(const LaunchRequest& request) {
  static std::mutex mutex;
  if (current_thread) return cudaErrorNotSupported;  // a kernel that launches
  const std::lock_guard lock(mutex);
  set_last_fault("");
  try {
    settings();
  } catch (const std::invalid_argument& wrong_variable) {
    set_last_fault(wrong_variable.what());
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = check_shape(request, current_profile());
  if (error != cudaSuccess) {
    set_last_fault("the emulated device " + std::string(current_profile().name) +
                   " cannot launch a grid of this shape\n  in kernel " +
                   name_kernel(request.kernel));
    return error;
  }
  Machine& m = machine();
  begin(&m, request);
  Launch& l = m.launch;
  run_grid(&l);
  if (l.fault.error != cudaSuccess) set_last_fault(fault_text(l.fault, request));
  m.last = {.grid = request.grid, .block = request.block, .smem = request.smem};
  if (l.counting) {
    ++m.counters.launches;
    m.counters.ctas += l.ctas;
    m.counters.threads += l.ctas * l.threads;
  }
  return l.fault.error;
}

}  // namespace libkernels::emulator
