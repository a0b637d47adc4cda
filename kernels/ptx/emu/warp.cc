// Collectives of a warp: lanes meet in a Gathering, and the last to arrive computes for all.
#include <bit>
#include <cstdio>

#include "kernels/ptx/emu/matrix.h"
#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

constexpr std::size_t kTextBytes = 256;

// Why `lanes`, or some of them, do not come: "lanes 0-3: exited".
void describe_absence(const Warp& warp, std::uint32_t lanes, char* text, std::size_t size) {
  const char* why = "in or expected at another collective";
  if (lanes & warp.exited) {
    lanes &= warp.exited;
    why = "exited";
  } else if (lanes & warp.in_barrier) {
    lanes &= warp.in_barrier;
    why = "waiting in bar.sync";
  }
  char list[kTextBytes / 2];
  describe_lanes(lanes, list, sizeof(list));
  std::snprintf(text, size, "%s: %s", list, why);
}

[[noreturn]] void fail_missing(const Thread& t, Collective op, std::uint32_t membermask,
                               std::uint32_t missing, const void* pc) {
  char text[kTextBytes];
  describe_absence(*t.warp, missing, text, sizeof(text));
  fail(cudaErrorLaunchFailure, pc,
       "%s with membermask 0x%08x: a lane is missing, %s; expected every lane of the mask",
       name_of(op), membermask, text);
}

[[noreturn]] void fail_mismatch(const Thread& t, Collective op, std::uint32_t membermask,
                                const Gathering& g, const void* pc) {
  char lanes[kTextBytes];
  describe_lanes(g.arrived, lanes, sizeof(lanes));
  fail(cudaErrorLaunchFailure, pc,
       "%s with membermask 0x%08x on lane %u, but %s wait in %s with membermask 0x%08x%s; expected "
       "all lanes of a mask at the same instruction",
       name_of(op), membermask, t.lane, lanes, name_of(g.op), g.membermask,
       g.op == op && g.membermask == membermask ? " at another place of the program" : "");
}

// The unfinished collective that names `lane`; there is one.
const Gathering& gathering_of(const Warp& warp, std::uint32_t lane) {
  for (const Gathering& g : warp.gatherings) {
    if (g.membermask >> lane & 1) return g;
  }
  __builtin_unreachable();
}

// The lane that shfl.sync reads, by the manual's pseudocode for the clamps that shfl.cuh uses; a
// lane out of range reads itself.
std::uint32_t shfl_source(Collective op, std::uint32_t lane, std::uint32_t argument) {
  const std::uint32_t b = argument % kLanes;
  switch (op) {
    case Collective::shfl_bfly:
      return lane ^ b;
    case Collective::shfl_idx:
      return b;
    case Collective::shfl_up:
      return lane >= b ? lane - b : lane;
    default:
      return lane + b < kLanes ? lane + b : lane;
  }
}

void compute_shfl(Thread* lanes, const Gathering& g) {
  for (std::uint32_t m = g.membermask; m; m &= m - 1) {
    Thread& t = lanes[std::countr_zero(m)];
    const std::uint32_t source = shfl_source(g.op, t.lane, t.argument);
    if (!(g.membermask >> source & 1)) {
      fail(cudaErrorLaunchFailure, g.pc,
           "%s with membermask 0x%08x: lane %u reads lane %u, which is not a member or does not "
           "exist",
           name_of(g.op), g.membermask, t.lane, source);
    }
    t.result = lanes[source].value;
  }
}

void compute_vote(Thread* lanes, const Gathering& g) {
  std::uint32_t ballot = 0;
  for (std::uint32_t m = g.membermask; m; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (lanes[lane].value) ballot |= 1u << lane;
  }
  const std::uint32_t result = g.op == Collective::ballot ? ballot
                               : g.op == Collective::any  ? ballot != 0
                                                          : ballot == g.membermask;
  for (std::uint32_t m = g.membermask; m; m &= m - 1) lanes[std::countr_zero(m)].result = result;
}

void compute_matrix(Thread* lanes, const Gathering& g) {
  for (std::uint32_t m = g.membermask; m; m &= m - 1) {
    const Thread& t = lanes[std::countr_zero(m)];
    if (t.argument != lanes->argument) {
      fail(cudaErrorLaunchFailure, g.pc,
           "%s of another shape or type on lane %u than on lane 0; expected all lanes of the warp "
           "at "
           "the same instruction",
           name_of(g.op), t.lane);
    }
  }
  complete_matrix(g.op, lanes);
}

// The manual promises one lane, the same for the same mask, and not which: the lowest when late, the
// highest when eager, drawn when random.
void compute_elect(Thread* lanes, const Gathering& g) {
  std::uint32_t leader = std::uint32_t(std::countr_zero(g.membermask));
  if (settings().completion == Completion::eager) {
    leader = std::uint32_t(31 - std::countl_zero(g.membermask));
  } else if (settings().completion == Completion::random) {
    const std::uint32_t hash = (std::uint32_t(settings().seed) ^ g.membermask) * 0x9e3779b9u;
    for (std::uint32_t turn = hash >> 27; turn-- > 0;) {
      const std::uint32_t above = g.membermask & (~std::uint32_t(0) << leader << 1);
      leader = std::uint32_t(std::countr_zero(above ? above : g.membermask));
    }
  }
  for (std::uint32_t m = g.membermask; m; m &= m - 1) {
    const std::uint32_t lane = std::uint32_t(std::countr_zero(m));
    lanes[lane].result = lane == leader;
  }
}

void complete(Thread* last, Gathering* g) {
  Warp* warp = last->warp;
  Thread* lanes = last - last->lane;
  if (g->op <= Collective::shfl_down) {
    compute_shfl(lanes, *g);
  } else if (g->op == Collective::elect) {
    compute_elect(lanes, *g);
  } else if (g->op < Collective::sync_warp) {
    compute_vote(lanes, *g);
  } else if (g->op > Collective::sync_warp) {
    compute_matrix(lanes, *g);
  }
  const bool whole = g->membermask == warp->lanes;
  warp->clock.sync_lanes(g->membermask, whole);
  if (machine().launch.counting && whole) flush_logs(warp);
  warp->gathering &= ~g->membermask;
  wake(warp, g->membermask & ~(1u << last->lane));
  *g = Gathering{};
}

}  // namespace

const char* name_of(Collective op) {
  switch (op) {
    case Collective::shfl_bfly:
      return "shfl.sync.bfly";
    case Collective::shfl_idx:
      return "shfl.sync.idx";
    case Collective::shfl_up:
      return "shfl.sync.up";
    case Collective::shfl_down:
      return "shfl.sync.down";
    case Collective::ballot:
      return "vote.sync.ballot";
    case Collective::any:
      return "vote.sync.any";
    case Collective::all:
      return "vote.sync.all";
    case Collective::elect:
      return "elect.sync";
    case Collective::sync_warp:
      return "bar.warp.sync";
    case Collective::ldmatrix:
      return "ldmatrix";
    case Collective::stmatrix:
      return "stmatrix";
    case Collective::mma:
      return "mma.sync";
  }
  return "?";
}

void describe_lanes(std::uint32_t lanes, char* text, std::size_t size) {
  std::size_t used =
      std::size_t(std::snprintf(text, size, std::popcount(lanes) == 1 ? "lane" : "lanes"));
  const char* separator = " ";
  for (std::uint32_t first = 0; first < kLanes && used < size; ++first) {
    if (!(lanes >> first & 1)) continue;
    std::uint32_t last = first;
    while (last + 1 < kLanes && (lanes >> (last + 1) & 1)) ++last;
    used += std::size_t(
        first == last ? std::snprintf(text + used, size - used, "%s%u", separator, first)
                      : std::snprintf(text + used, size - used, "%s%u-%u", separator, first, last));
    separator = ", ";
    first = last;
  }
}

namespace {

std::uint32_t meet(Collective op, std::uint32_t value, std::uint32_t argument,
                   std::uint32_t membermask, const void* pc) {
  Thread* t = current_thread;
  Warp* warp = t->warp;
  const std::uint32_t bit = 1u << t->lane;
  if (!(membermask & bit)) {
    fail(cudaErrorLaunchFailure, pc, "%s with membermask 0x%08x on lane %u, which is not a member",
         name_of(op), membermask, t->lane);
  }
  const std::uint32_t members = membermask & warp->lanes;
  if (members & (warp->exited | warp->in_barrier)) {
    fail_missing(*t, op, membermask, members & (warp->exited | warp->in_barrier), pc);
  }
  if (warp->gathering & bit) {
    const Gathering& waiting = gathering_of(*warp, t->lane);
    const bool same_place = waiting.pc == pc || !machine().launch.request.hooked;
    if (waiting.membermask != members || waiting.op != op || !same_place) {
      fail_mismatch(*t, op, members, waiting, pc);
    }
  } else if (warp->gathering & members) {
    fail_missing(*t, op, membermask, warp->gathering & members, pc);
  }
  Gathering& g = warp->gatherings[std::countr_zero(members)];
  g.membermask = members;
  g.op = op;
  g.pc = pc;
  g.arrived |= bit;
  warp->gathering |= members;
  t->value = value;
  t->argument = argument;
  if (g.arrived == members) {
    complete(t, &g);
  } else {
    t->op = op;
    t->membermask = membermask;
    t->pc = pc;
    block(t, State::in_collective);
  }
  return t->result;
}

}  // namespace

std::uint32_t collective(Collective op, std::uint32_t value, std::uint32_t argument,
                         std::uint32_t membermask) {
  return meet(op, value, argument, membermask, __builtin_return_address(0));
}

void collective_matrix(Collective op, std::uint32_t argument, void* payload, const void* pc) {
  constexpr std::uint32_t kFullWarp = 0xffffffffu;
  Thread* t = current_thread;
  if (t->warp->lanes != kFullWarp) {
    fail(cudaErrorLaunchFailure, pc, "%s in a warp of fewer than 32 threads; expected a full warp",
         name_of(op));
  }
  t->payload = payload;
  meet(op, 0, argument, kFullWarp, pc);
}

void leave_warp(Thread* t, const char* how) {
  Warp* warp = t->warp;
  if (!(warp->gathering >> t->lane & 1)) return;
  const Gathering& g = gathering_of(*warp, t->lane);
  char lanes[kTextBytes];
  describe_lanes(g.arrived, lanes, sizeof(lanes));
  fail(cudaErrorLaunchFailure, g.pc,
       "lane %u %s, but is missing in %s with membermask 0x%08x, where %s wait; expected every "
       "lane of the mask",
       t->lane, how, name_of(g.op), g.membermask, lanes);
}

}  // namespace libkernels::emulator
