// Vector clocks: of warps within their CTA, joined at barriers and collectives; and across the
// grid, joined by st.release and ld.acquire.
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {

// ---- Within a CTA -----------------------------------------------------------------------------

void WarpClock::reset() {
  clock = 1;
  floor = 0;
  std::memset(vc, 0, sizeof(vc));
  partial = false;
  if (acquired) std::fill_n(known, kLanes, nullptr);
  acquired = false;
}

void WarpClock::tick() { clock = std::min(clock + 1, Access::kMaxClock); }

void WarpClock::sync_lanes(std::uint32_t mask, bool all) {
  if (acquired) share_known(mask);
  if (all) {
    floor = clock;
    partial = false;
    return tick();
  }
  if (!partial) std::memset(seen, 0, sizeof(seen));
  partial = true;
  // What any of them knew, all of them know.
  std::uint32_t joined[kLanes] = {};
  for (std::uint32_t m = mask; m; m &= m - 1) {
    const int lane = std::countr_zero(m);
    for (int u = 0; u < kLanes; ++u) joined[u] = std::max(joined[u], seen[lane][u]);
    joined[lane] = clock;
  }
  for (std::uint32_t m = mask; m; m &= m - 1) {
    std::memcpy(seen[std::countr_zero(m)], joined, sizeof(joined));
  }
  tick();
}

// What any of them knows, all of them know.
void WarpClock::share_known(std::uint32_t mask) {
  Knowledge::Pointer joined;
  for (std::uint32_t m = mask; m; m &= m - 1) {
    joined = Knowledge::join(joined, known[std::countr_zero(m)]);
  }
  for (std::uint32_t m = mask; m; m &= m - 1) known[std::countr_zero(m)] = joined;
}

void WarpClock::release_into(ReleasedClock* out, std::uint32_t own_index) {
  for (int w = 0; w < kWarps; ++w) out->vc[w] = std::max(out->vc[w], vc[w]);
  out->vc[own_index] = std::max(out->vc[own_index], clock);
  if (!acquired) return;
  for (const Knowledge::Pointer& k : known) out->known = Knowledge::join(out->known, k);
}

void WarpClock::acquire(const ReleasedClock& in) {
  for (int w = 0; w < kWarps; ++w) vc[w] = std::max(vc[w], in.vc[w]);
  if (!in.known) return;
  acquired = true;
  std::fill_n(known, kLanes, in.known);
}

// ---- Across the grid --------------------------------------------------------------------------

namespace {

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, std::uint64_t who) {
  if (entries.empty()) return nullptr;
  // Mostly every CTA of a range is there.
  const std::uint64_t guess = who - entries.front().who;
  if (guess < entries.size() && entries[guess].who == who) return &entries[guess];
  const auto before = [](const Entry& e, std::uint64_t w) { return e.who < w; };
  const auto at = std::lower_bound(entries.begin(), entries.end(), who, before);
  return at != entries.end() && at->who == who ? &*at : nullptr;
}

void raise(Knowledge::CtaClock* to, const Knowledge::CtaClock& by) {
  for (int w = 0; w < Knowledge::kWarps; ++w) to->vc[w] = std::max(to->vc[w], by.vc[w]);
}
void raise(Knowledge::ThreadClock* to, const Knowledge::ThreadClock& by) {
  to->clock = std::max(to->clock, by.clock);
}

template <class Entry>
std::vector<Entry> merge(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  std::vector<Entry> both;
  both.reserve(a.size() + b.size());
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    both.push_back(i->who <= j->who ? *i : *j);
    if (i->who == j->who) raise(&both.back(), *j);
    const std::uint64_t who = both.back().who;
    i += i->who == who;
    j += j->who == who;
  }
  both.insert(both.end(), i, a.end());
  both.insert(both.end(), j, b.end());
  return both;
}

}  // namespace

bool Knowledge::covers(const Access& a) const {
  if (everything_ || a.clock() == Access::kMaxClock) return true;
  const CtaClock* cta = a.agent() ? nullptr : find(ctas_, a.cta());
  if (cta && a.clock() <= cta->vc[a.thread() / kLanes]) return true;
  const ThreadClock* thread = find(threads_, of_thread(a.cta(), a.thread(), 0, a.agent()).who);
  return thread && a.clock() <= thread->clock;
}

bool Knowledge::knows(std::uint32_t cta) const {
  if (everything_ || find(ctas_, cta)) return true;
  const auto before = [](const ThreadClock& c, std::uint64_t w) { return c.who < w; };
  const auto at =
      std::lower_bound(threads_.begin(), threads_.end(), of_thread(cta, 0, 0).who, before);
  return at != threads_.end() && at->who >> (Access::kThreadBits + 1) == cta;
}

Knowledge::Pointer Knowledge::join(const Pointer& a, const Pointer& b) {
  if (!b || a == b || (a && a->everything_)) return a;
  if (!a || b->everything_) return b;
  Knowledge both(merge(a->ctas_, b->ctas_), merge(a->threads_, b->threads_));
  if (both.ctas_ == a->ctas_ && both.threads_ == a->threads_) return a;
  if (both.ctas_.size() > kMaxCtas) {
    both = Knowledge({}, {});
    both.everything_ = true;
  }
  return std::make_shared<const Knowledge>(std::move(both));
}

Knowledge::Pointer release(Thread* t) {
  WarpClock& clock = t->warp->clock;
  const std::uint32_t cta = t->cta->incarnation;
  // Of its warp the thread knows itself, what lanes told it, and all up to the floor.
  std::vector<Knowledge::ThreadClock> threads;
  for (std::uint32_t u = 0; u < kLanes; ++u) {
    std::uint32_t up_to = clock.partial ? clock.seen[t->lane][u] : 0;
    if (u == t->lane) up_to = clock.clock;
    if (up_to <= clock.floor) continue;
    threads.push_back(Knowledge::of_thread(cta, t->warp->index * kLanes + u, up_to));
  }
  Knowledge::CtaClock warps{cta, {}};
  std::copy(std::begin(clock.vc), std::end(clock.vc), warps.vc.begin());
  warps.vc[t->warp->index] = clock.floor;
  const auto own = std::make_shared<const Knowledge>(std::vector{warps}, std::move(threads));
  clock.tick();
  return Knowledge::join(own, clock.acquired ? clock.known[t->lane] : nullptr);
}

void learn(Thread* t, const Knowledge::Pointer& what) {
  if (!what) return;
  WarpClock& clock = t->warp->clock;
  clock.acquired = true;
  Knowledge::Pointer& known = clock.known[t->lane];
  // The lanes of a warp mostly learn the same on top of the same.
  static auto* last = new Knowledge::Pointer[3];
  if (known != last[0] || what != last[1]) {
    last[0] = known;
    last[1] = what;
    last[2] = Knowledge::join(known, what);
  }
  known = last[2];
}

void release_at(Thread* t, const void* address) {
  Launch& l = machine().launch;
  if (l.race_checks) l.released[address] = release(t);
}

void acquire_at(Thread* t, const void* address) {
  const Launch& l = machine().launch;
  const auto found = l.released.find(address);
  if (found == l.released.end() || found->second == t->learned) return;
  t->learned = found->second;
  learn(t, t->learned);
}

}  // namespace libkernels::emulator
