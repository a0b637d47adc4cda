#include "kernels/ptx/emu/race.h"

#include <algorithm>
#include <cstdio>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {

namespace {

// By barriers and collectives.
bool ordered_in_cta(const Access& access, const Thread& thread) {
  // A saturated clock tells nothing; better blind than wrong.
  if (access.clock() == Access::kMaxClock) return true;
  if (access.agent()) return false;
  if (access.thread() == thread.index) return true;
  const WarpClock& clock = thread.warp->clock;
  const std::uint32_t warp = access.thread() / kLanes;
  if (warp != thread.warp->index) return access.clock() <= clock.vc[warp];
  return access.clock() <= clock.floor ||
         (clock.partial && access.clock() <= clock.seen[thread.lane][access.thread() % kLanes]);
}

}  // namespace

bool ordered_before(const Access& access, const Thread& thread) {
  const WarpClock& clock = thread.warp->clock;
  if (access.cta() == thread.cta->incarnation && ordered_in_cta(access, thread)) return true;
  const Knowledge* known = clock.acquired ? clock.known[thread.lane].get() : nullptr;
  return known && known->covers(access);
}

namespace {

const char* expected_order(const Access& old, bool same_cta, bool same_warp, bool shared) {
  if (old.agent()) return "a wait for the copy's completion, by this thread or ordered before it";
  if (same_warp) return "__syncwarp() or another warp-level collective between them";
  if (same_cta) return "a CTA barrier between them";
  if (shared) return "barrier.cluster or an mbarrier between them";
  return "st.release and ld.acquire between them, or disjoint elements: CTAs of a grid are not "
         "ordered";
}

}  // namespace

std::uint64_t cta_of(const Access& access) {
  const Launch& l = machine().launch;
  const std::uint32_t started = access.cta() - l.first_incarnation;
  return l.cta_of_incarnation.empty() ? started : l.cta_of_incarnation[started];
}

namespace {

[[noreturn]] void report_race(const Thread& t, const Access& old, bool write, std::size_t offset,
                              std::size_t bytes, const void* pc, const Region* region) {
  const bool same_cta = old.cta() == t.cta->incarnation;
  const bool same_warp = same_cta && old.thread() / kLanes == t.warp->index;
  char where[96] = "shared memory", who[256];
  if (region) {
    std::snprintf(where, sizeof(where), "global memory (buffer of %zu bytes at 0x%zx)",
                  region->bytes, std::size_t(region->begin));
  }
  describe_access(t, old, who, sizeof(who));
  fail(cudaErrorLaunchFailure, pc,
       "race on %s: %s of %zu bytes at offset %zu, after a %s by %s that nothing orders before it; "
       "expected %s",
       where, write ? "write" : "read", bytes, offset, old.write() ? "write" : "read", who,
       expected_order(old, same_cta, same_warp, !region));
}

// May `now` take the place of `old`, so that no race is lost? Nothing that races with `old` later
// can miss `now`.
bool covers(const Access& now, const Access& old) {
  return (old.mask() & ~now.mask()) == 0 && (now.write() || !old.write()) &&
         (!now.sync() || old.sync());
}

// Overlapping accesses that nothing orders: must they not be? Synchronising ones may.
bool conflict(const Access& a, const Access& b) {
  return (a.write() || b.write()) && !(a.sync() && b.sync());
}

// Judges one cell and remembers the access in it.
void check_cell(Thread* t, RaceCell* cell, Access now, std::uint64_t oldest_valid, Space space,
                std::size_t offset, std::size_t bytes, const void* pc, const Region* region) {
  // The common cases, fast: nothing to remember, or the same thread again. What came between the
  // two was judged against the first.
  const auto& kept = cell->accesses;
  if (std::max({kept[0].bits, kept[1].bits, kept[2].bits, kept[3].bits}) < oldest_valid) {
    cell->accesses[0] = now;
    return;
  }
  if (space != Space::global_nc) {
    for (const Access& old : kept) {
      if (old.bits == now.bits || old.bits == (now.bits | 1)) return;
    }
  }
  int place = -1;
  for (int i = 0; i < RaceCell::kAccesses; ++i) {
    const Access old = cell->accesses[i];
    if (old.bits < oldest_valid) {  // empty, or of an earlier launch
      if (place < 0) place = i;
      continue;
    }
    const bool ordered = ordered_before(old, *t);
    if (old.mask() & now.mask()) {
      if (!ordered && conflict(old, now)) {
        report_race(*t, old, now.write(), offset, bytes, pc, region);
      }
      if (space == Space::global_nc && old.write()) {
        fail(cudaErrorLaunchFailure, pc,
             "ld.global.nc of %zu bytes at offset %zu, which this launch has written: expected "
             "memory that nobody writes while the kernel runs",
             bytes, offset);
      }
    }
    if (ordered && covers(now, old)) {
      if (place >= 0)
        cell->accesses[i] = Access{0};
      else
        place = i;
    }
  }
  if (place < 0) place = int(t->index % RaceCell::kAccesses);
  cell->accesses[place] = now;
}

}  // namespace

void check_races(Thread* t, RaceCell* cells, std::size_t offset, std::size_t bytes, bool write,
                 Space space, const void* pc, const Region* region) {
  const std::uint32_t cta = t->cta->incarnation;
  WarpClock& clock = t->warp->clock;
  // What comes after a proxy fence is told apart from what it covers.
  if (write && clock.clock == std::max(t->fenced_shared, t->fenced_global)) clock.tick();
  const std::uint32_t first =
      // Shared memory passes from CTA to CTA.
      !region ? t->cta->first_incarnation : machine().launch.first_incarnation;
  const std::uint64_t oldest_valid = std::uint64_t(first) << Access::kCtaAt;
  const std::size_t end = offset + bytes;
  for (std::size_t at = offset; at < end;) {
    const std::size_t cell = at / RaceCell::kBytes;
    const std::size_t stop = std::min(end, (cell + 1) * RaceCell::kBytes);
    const std::uint32_t mask =
        (1u << (stop - cell * RaceCell::kBytes)) - (1u << at % RaceCell::kBytes);
    const Access now =
        Access::pack(cta, clock.clock, t->index, mask, space == Space::global_sync, write);
    check_cell(t, &cells[cell], now, oldest_valid, space, offset, bytes, pc, region);
    at = stop;
  }
}

}  // namespace libkernels::emulator
