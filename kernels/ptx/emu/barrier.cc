// Barriers 0 to 15 of a CTA.
#include <bit>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

// The threads that `count` stands for: a last, partial warp counts in full.
std::uint32_t existing(std::uint32_t count) {
  const Launch& l = machine().launch;
  return count == l.warps * kLanes ? l.threads : count;
}

void check_arguments(std::uint32_t id, std::uint32_t threads, const char* name, const void* pc) {
  const Launch& l = machine().launch;
  if (id >= kBarriers) {
    fail(cudaErrorLaunchFailure, pc, "%s %u: expected a barrier from 0 to 15", name, id);
  }
  if (threads == 0 || threads % kLanes != 0) {
    fail(cudaErrorLaunchFailure, pc, "%s %u, %u: expected a positive multiple of 32 threads", name,
         id, threads);
  }
  if (threads > l.warps * kLanes) {
    fail(cudaErrorLaunchFailure, pc, "%s %u, %u: can never complete in a CTA of %u threads", name,
         id, threads, l.threads);
  }
}

// Adds the calling thread; true if that completes the barrier.
bool arrive(Thread* t, std::uint32_t id, std::uint32_t expected, const char* name, const void* pc) {
  Cta* cta = t->cta;
  Warp* warp = t->warp;
  Barrier& b = cta->barriers[id];
  const std::uint32_t bit = 1u << t->lane;
  if (b.expected && b.expected != expected) {
    fail(
        cudaErrorLaunchFailure, pc,
        "%s %u for %u threads, but %u threads have arrived that expect %u: expected the same count "
        "from all",
        name, id, expected, b.arrived, b.expected);
  }
  const void* first = b.pc[warp->index];
  if (b.came[warp->index] & bit) {
    fail(cudaErrorLaunchFailure, pc, "%s %u: this thread has arrived already in this phase", name,
         id);
  }
  if (machine().launch.request.hooked && b.came[warp->index] && first != pc) {
    char lanes[128];
    describe_lanes(b.came[warp->index], lanes, sizeof(lanes));
    fail(cudaErrorLaunchFailure, pc,
         "divergent barrier: %s of this warp arrived at %s %u at another place of the program",
         lanes, name, id);
  }
  cta->barriers_used |= 1u << id;
  b.expected = expected;
  b.came[warp->index] |= bit;
  b.pc[warp->index] = pc;
  return ++b.arrived == expected;
}

// bar.sync and bar.arrive are aligned: all lanes of a warp execute them, or none.
void check_whole_warps(const Cta& cta, const Barrier& b, std::uint32_t warps) {
  for (std::uint32_t w = 0; w < warps; ++w) {
    if (!b.came[w] || b.came[w] == cta.warps[w].lanes) continue;
    char lanes[128];
    describe_lanes(b.came[w], lanes, sizeof(lanes));
    fail(cudaErrorLaunchFailure, b.pc[w],
         "divergent barrier: of warp %u only %s arrived at barrier %td; expected whole warps", w,
         lanes, &b - cta.barriers);
  }
}

// Lets everybody go: what the participants did before is ordered before what the waiting ones do.
void complete(Cta* cta, Barrier* b, Thread* last) {
  const std::uint32_t warps = machine().launch.warps;
  check_whole_warps(*cta, *b, warps);
  for (std::uint32_t w = 0; w < warps; ++w) {
    if (b->waiting[w]) cta->warps[w].clock.release_into(&b->released, w);
  }
  for (std::uint32_t w = 0; w < warps; ++w) {
    if (!b->waiting[w]) continue;
    Warp& warp = cta->warps[w];
    warp.clock.acquire(b->released);
    warp.clock.sync_lanes(warp.lanes, true);
    warp.in_barrier &= ~b->waiting[w];
    if (machine().launch.counting) flush_logs(&warp);
    std::uint32_t others = b->waiting[w];
    if (last && last->warp == &warp) others &= ~(1u << last->lane);
    wake(&warp, others);
  }
  *b = Barrier{};
}

void sync(std::uint32_t id, std::uint32_t expected, const void* pc) {
  Thread* t = current_thread;
  Barrier& b = t->cta->barriers[id];
  leave_warp(t, "went to a barrier");  // bar.arrive is passed, and lanes pass it one by one
  const bool complete_now = arrive(t, id, expected, "bar.sync", pc);
  b.waiting[t->warp->index] |= 1u << t->lane;
  if (complete_now) return complete(t->cta, &b, t);
  t->warp->in_barrier |= 1u << t->lane;
  t->barrier = id;
  t->pc = pc;
  block(t, State::in_barrier);
}

}  // namespace

void barrier_sync(std::uint32_t id, std::uint32_t threads) {
  const void* pc = __builtin_return_address(0);
  check_arguments(id, threads, "bar.sync", pc);
  sync(id, existing(threads), pc);
}

void barrier_sync_cta() { sync(0, machine().launch.threads, __builtin_return_address(0)); }

void barrier_arrive(std::uint32_t id, std::uint32_t threads) {
  const void* pc = __builtin_return_address(0);
  check_arguments(id, threads, "bar.arrive", pc);
  Thread* t = current_thread;
  Barrier& b = t->cta->barriers[id];
  const bool complete_now = arrive(t, id, existing(threads), "bar.arrive", pc);
  // The warp's last lane publishes for all of it.
  if (b.came[t->warp->index] == t->warp->lanes) {
    t->warp->clock.release_into(&b.released, t->warp->index);
    t->warp->clock.tick();
  }
  if (complete_now) complete(t->cta, &b, nullptr);
}

}  // namespace libkernels::emulator
