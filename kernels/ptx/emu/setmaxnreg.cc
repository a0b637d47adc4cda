// setmaxnreg: how many registers each warpgroup has, of those that the launch reserved.
#include <algorithm>

#include "kernels/ptx/emu/state.h"
#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::emulator {
namespace {

// What a launch may reserve for each thread: kernels that pass registers on have an SM to
// themselves.
int launched_registers() {
  constexpr int kMost = 255, kStep = 8;
  const int all = current_profile().registers_per_sm;
  const int each = all / int(machine().launch.warps * kLanes) / kStep * kStep;
  return std::min(each, kMost / kStep * kStep);
}

int used_registers(const Cta& cta) {
  int used = 0;
  const std::uint32_t groups = (machine().launch.warps + kWarpsOfGroup - 1) / kWarpsOfGroup;
  for (std::uint32_t g = 0; g < groups; ++g) {
    const int own = cta.warpgroups.groups[g].registers;
    used += own ? own : launched_registers();
  }
  return used;
}

// What has been asked for and fits now; whoever waits for it goes on. True if somebody does: what
// one gives back may be what another, seen before, waits for.
bool grant_once(Cta* cta) {
  const int groups = int((machine().launch.warps + kWarpsOfGroup - 1) / kWarpsOfGroup);
  bool granted = false;
  for (std::uint32_t g = 0; g < kWarpgroups; ++g) {
    Warpgroup& group = cta->warpgroups.groups[g];
    if (group.arrived != kThreadsOfGroup) continue;
    const int own = group.registers ? group.registers : launched_registers();
    if (used_registers(*cta) - own + group.setting > groups * launched_registers()) continue;
    group.registers = group.setting;
    group.arrived = 0;
    group.setting = 0;
    for (std::uint32_t i = 0; i < kThreadsOfGroup; ++i) {
      Thread& t = cta->threads[g * kThreadsOfGroup + i];
      if (t.state == State::in_setmaxnreg) wake(t.warp, 1u << t.lane);
    }
    granted = true;
  }
  return granted;
}

void grant(Cta* cta) {
  while (grant_once(cta)) {
  }
}

}  // namespace

void set_max_registers(int count, bool increase) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  const char* name = increase ? "setmaxnreg.inc" : "setmaxnreg.dec";
  require_sm(90, name);
  check_warpgroup(*t, name, pc);
  Warpgroup& group = t->cta->warpgroups.groups[t->index / kThreadsOfGroup];
  const int own = group.registers ? group.registers : launched_registers();
  if (increase ? count < own : count > own) {
    fail(cudaErrorLaunchFailure, pc, "%s %d: the warpgroup has %d registers a thread; expected %s",
         name, count, own, increase ? "at least as many" : "at most as many");
  }
  if (group.setting &&
      (group.setting != count || (machine().launch.request.hooked && group.setting_pc != pc))) {
    fail(cudaErrorLaunchFailure, pc,
         "%s %d, but other warps of the warpgroup have executed setmaxnreg %d; expected the same "
         "instruction in all four",
         name, count, group.setting);
  }
  const int groups = int((machine().launch.warps + kWarpsOfGroup - 1) / kWarpsOfGroup);
  if (increase && count > groups * launched_registers()) {
    fail(cudaErrorLaunchFailure, pc, "%s %d: more than the CTA has, %d for each of %d warpgroups",
         name, count, launched_registers(), groups);
  }
  group.setting = count;
  group.setting_pc = pc;
  const bool last = ++group.arrived == kThreadsOfGroup;
  if (last) grant(t->cta);
  if (last && group.arrived == 0) return;
  t->pc = pc;
  t->value = std::uint32_t(count);
  block(t, State::in_setmaxnreg);
}

}  // namespace libkernels::emulator
