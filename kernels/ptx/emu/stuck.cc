// The reports on a CTA in which nobody can go on, and on a grid in which nobody gets anywhere.
#include <algorithm>
#include <cstdio>

#include "kernels/ptx/emu/async_state.h"

namespace libkernels::emulator {
namespace {

// Somebody has woken it, and its turn has not come.
bool is_woken(const Thread& t) {
  return t.state != State::spinning && t.warp->runnable >> t.lane & 1;
}

// Two threads wait for the same thing if these are equal.
bool same_wait(const Thread& a, const Thread& b) {
  if (is_woken(a) || is_woken(b)) return is_woken(a) && is_woken(b);
  if (a.state != b.state) return false;
  if (a.state == State::spinning) return a.pc == b.pc;
  if (a.state == State::in_barrier) return a.barrier == b.barrier && a.pc == b.pc;
  if (a.state == State::in_mbarrier) {
    return a.mbarrier == b.mbarrier && a.parity == b.parity && a.pc == b.pc;
  }
  if (a.state == State::in_collective) return a.op == b.op && a.membermask == b.membermask;
  return true;
}

std::string describe_wait(const Cta& cta, const Thread& t) {
  char text[512];
  if (is_woken(t)) return "can go on";
  if (t.state == State::exited) return "have exited";
  if (t.state == State::in_mbarrier || t.polls_mbarrier) {
    char bar[kDescription];
    describe(cta.async->bars[cta.async->slots[t.mbarrier / 8]], bar, sizeof(bar));
    std::snprintf(text, sizeof(text), "%s for parity %u of %s", t.polls_mbarrier ? "poll" : "wait",
                  t.parity, bar);
  } else if (t.state == State::spinning) {
    std::snprintf(text, sizeof(text), "spin, after %llu accesses",
                  static_cast<unsigned long long>(t.accesses));
  } else if (t.state == State::in_barrier) {
    const Barrier& b = cta.barriers[t.barrier];
    std::snprintf(text, sizeof(text), "wait in bar.sync %u (%u threads), %u arrived", t.barrier,
                  b.expected, b.arrived);
  } else if (t.state == State::in_wgmma) {
    describe_wgmma_wait(t, text, sizeof(text));
  } else if (t.state == State::in_setmaxnreg) {
    std::snprintf(text, sizeof(text), "wait in setmaxnreg for %u registers", t.value);
  } else if (t.state == State::in_cluster_barrier) {
    std::snprintf(text, sizeof(text), "wait in barrier.cluster, %u of %u threads arrived",
                  cta.cluster->arrived, cta.cluster->live);
  } else {
    std::snprintf(text, sizeof(text), "wait in %s with membermask 0x%08x", name_of(t.op),
                  t.membermask);
  }
  return text + std::string(", at ") + name_pc(t.pc);
}

// "warps 0-3", or "threads 5-17" where a warp is not of one mind.
std::string describe_range(std::uint32_t first, std::uint32_t last, std::uint32_t threads) {
  const bool whole = first % kLanes == 0 && ((last + 1) % kLanes == 0 || last + 1 == threads);
  const char* unit = whole ? "warp" : "thread";
  if (whole) first /= kLanes, last /= kLanes;
  char text[64];
  if (first == last) {
    std::snprintf(text, sizeof(text), "%s %u", unit, first);
  } else {
    std::snprintf(text, sizeof(text), "%ss %u-%u", unit, first, last);
  }
  return text;
}

// A line for every group of threads that do the same. Are there warps whose lanes differ?
std::string describe_threads(const Cta& cta, const char* indent, bool* divergent) {
  const std::uint32_t threads = machine().launch.threads;
  std::string roles;
  for (std::uint32_t first = 0; first < threads;) {
    std::uint32_t last = first;
    while (last + 1 < threads && same_wait(cta.threads[first], cta.threads[last + 1])) ++last;
    roles += indent + describe_range(first, last, threads) + " " +
             describe_wait(cta, cta.threads[first]);
    *divergent |= cta.threads[first].state == State::exited ||
                  ((last + 1) % kLanes != 0 && last + 1 != threads);
    first = last + 1;
  }
  return roles;
}

}  // namespace

void record_stuck_cta(const Cta& cta) {
  bool divergent = false;
  const std::string roles = describe_threads(cta, "\n    ", &divergent);
  divergent &=
      std::any_of(std::begin(cta.threads), std::begin(cta.threads) + machine().launch.threads,
                  [](const Thread& t) { return t.state == State::in_barrier; });
  record_cta_fault(cta, (divergent ? "deadlock, divergent barrier: not all threads came, and "
                                     "nobody can go on"
                                   : "deadlock: nobody can go on") +
                            roles);
}

void record_stuck_grid(const std::vector<Cta*>& resident, std::uint64_t not_started) {
  constexpr std::size_t kShown = 4;
  Launch& l = machine().launch;
  std::string text = "deadlock: nobody can go on";
  const bool spins = std::any_of(resident.begin(), resident.end(),
                                 [](const Cta* cta) { return cta->runnable != 0; });
  if (spins) {
    text = "deadlock: threads spin, and nobody has stored anything or exited for as long as " +
           std::to_string(l.idle) + " accesses take";
  }
  if (not_started) {
    text += "\n    " + std::to_string(not_started) + " of " + std::to_string(l.ctas) +
            " CTAs have not started: the device holds " + std::to_string(resident.size()) +
            " at once";
  }
  bool divergent = false;
  for (std::size_t i = 0; i < std::min(kShown, resident.size()); ++i) {
    const uint3 c = resident[i]->idx;
    char name[64];
    std::snprintf(name, sizeof(name), "\n    CTA (%u, %u, %u):", c.x, c.y, c.z);
    text += name + describe_threads(*resident[i], "\n      ", &divergent);
  }
  if (resident.size() > kShown) {
    text += "\n    and " + std::to_string(resident.size() - kShown) + " more CTAs";
  }
  record_cta_fault(spins ? *l.spinner->cta : *resident.front(), text);
  if (!spins) return;
  l.fault.thread = l.spinner;
  l.fault.pc = l.spinner->pc;
}

}  // namespace libkernels::emulator
