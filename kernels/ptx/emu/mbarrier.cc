// mbarriers: phases, arrivals, transaction counts, and who waits.
#include <algorithm>
#include <cstdio>

#include "kernels/ptx/emu/async_state.h"

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kMaxCount = (1u << 20) - 1;

MbarrierState* slot(const Cta& cta, std::uint32_t offset) {
  if (!cta.async) return nullptr;
  const std::uint16_t index = cta.async->slots[offset / 8];
  return index == CtaAsync::kNone ? nullptr : &cta.async->bars[index];
}

// Remembers the use, so that an invalidation that nothing orders after it is a race.
void note_use(Thread* t, Cta* cta, std::uint32_t offset, const void* pc) {
  const Launch& l = machine().launch;
  if (!l.request.hooked || !l.race_checks) return;
  check_races(t, cta->shared_shadow, offset, sizeof(std::uint64_t), false, Space::global_sync, pc,
              nullptr);
}

void complete_phase(Cta* cta, MbarrierState* b) {
  ++b->phase;
  b->pending = b->expected;
  b->completed = Knowledge::join(b->completed, b->arriving);
  b->arriving = nullptr;
  if (b->landed == b->phase) {
    b->completed = Knowledge::join(b->completed, agent_knowledge(*cta, b->agent, b->phase));
  }
  for (Thread* t : b->waiting) {
    learn(t, b->completed);
    b->observed = b->phase;
    if (cta->cluster->ctas.size() > 1) --cta->waits_outside;
    wake(t->warp, 1u << t->lane);
  }
  b->waiting.clear();
  machine().launch.idle = 0;
}

void complete_if_over(Cta* cta, MbarrierState* b) {
  if (b->pending == 0 && b->tx == 0) complete_phase(cta, b);
}

void update(Thread* t, Cta* cta, MbarrierState& b, std::uint32_t bytes, std::uint32_t arrivals,
            const char* name, const void* pc) {
  char text[kDescription];
  if (bytes > kMaxCount || b.tx + std::int64_t(bytes) > std::int64_t(kMaxCount)) {
    describe(b, text, sizeof(text));
    fail(cudaErrorLaunchFailure, pc,
         "%s of %u bytes at %s: expected at most %u outstanding bytes in a phase", name, bytes,
         text, kMaxCount);
  }
  if (arrivals > b.pending) {
    describe(b, text, sizeof(text));
    fail(cudaErrorLaunchFailure, pc,
         "over-arrival: %s of %u at %s, where %u of %u arrivals are pending; expected no more than "
         "mbarrier.init promised",
         name, arrivals, text, b.pending, b.expected);
  }
  b.tx += bytes;
  if (arrivals == 0) return;
  b.pending -= arrivals;
  if (machine().launch.race_checks) b.arriving = Knowledge::join(b.arriving, release(t));
  machine().launch.idle = 0;
  complete_if_over(cta, &b);
}

// "CTA (0, 0, 0), thread (1, 0, 0)".
void describe_init(const Thread& t, const MbarrierState& b, char* text, std::size_t size) {
  describe_access(t, b.init, text, size);
}

}  // namespace

void describe(const MbarrierState& b, char* text, std::size_t size) {
  std::snprintf(text, size,
                "the mbarrier at offset %u (phase %llu: %u of %u arrivals pending, %lld bytes to "
                "come)",
                b.offset, static_cast<unsigned long long>(b.phase), b.pending, b.expected,
                static_cast<long long>(b.tx));
}

MbarrierState& find_mbarrier(Thread* t, Cta* cta, std::uint32_t offset, MbarrierUse use,
                             const char* name, const void* pc) {
  MbarrierState* b = slot(*cta, offset);
  char who[kDescription] = "";
  if (!b || !b->live) {
    fail(cudaErrorLaunchFailure, pc,
         "%s of an mbarrier at offset %u of shared memory%s, which %s; expected mbarrier.init "
         "before",
         name, offset, cta == t->cta ? "" : " of a peer",
         b ? "has been invalidated" : "nobody has initialised");
  }
  const bool judged = machine().launch.request.hooked && machine().launch.race_checks;
  const bool carried = b->fenced_for_cluster && t->cluster_waited > b->fence_phase;
  if (judged && !carried && !ordered_before(b->init, *t)) {
    describe_init(*t, *b, who, sizeof(who));
    fail(cudaErrorLaunchFailure, pc,
         "%s of the mbarrier at offset %u, and nothing orders its initialisation by %s before; "
         "expected %s between them",
         name, offset, who, cta == t->cta ? "a CTA barrier" : "barrier.cluster");
  }
  const bool fenced = use == MbarrierUse::own      ? true
                      : use == MbarrierUse::remote ? b->fenced_for_cluster
                                                   : b->fenced_for_copies;
  if (!fenced) {
    describe_init(*t, *b, who, sizeof(who));
    fail(cudaErrorLaunchFailure, pc,
         "%s on the mbarrier at offset %u, whose initialisation by %s is not published to %s; "
         "expected fence.mbarrier_init by that thread after mbarrier.init",
         name, offset, who, use == MbarrierUse::remote ? "peers" : "the copy engine");
  }
  return *b;
}

bool complete_tx(Cta* cta, MbarrierState* b, std::uint32_t bytes, const AsyncOp& op) {
  char text[kDescription];
  if (!b->live) {
    describe(*b, text, sizeof(text));
    fail_op(op, "%s has landed on %s, which has been invalidated meanwhile", op.name, text);
    return false;
  }
  if (b->tx - std::int64_t(bytes) < -std::int64_t(kMaxCount)) {
    describe(*b, text, sizeof(text));
    fail_op(op, "%s of %u bytes has landed on %s: expected expect_tx of the bytes", op.name, bytes,
            text);
    return false;
  }
  b->tx -= bytes;
  --b->in_flight;
  complete_if_over(cta, b);
  return true;
}

void check_no_mbarrier(const Cta& cta, std::size_t offset, std::size_t bytes, bool write,
                       const void* pc) {
  for (std::size_t word = offset / 8; word * 8 < offset + bytes; ++word) {
    const MbarrierState* b = slot(cta, std::uint32_t(word * 8));
    if (!b || !b->live) continue;
    fail(cudaErrorLaunchFailure, pc,
         "%s of %zu bytes at offset %zu of shared memory, where the mbarrier at offset %u lives: "
         "expected mbarrier operations alone",
         write ? "write" : "read", bytes, offset, b->offset);
  }
}

// ---- Instructions -----------------------------------------------------------------------------

void mbarrier_init(const void* bar, std::uint32_t count) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  const std::uint32_t offset = shared_offset(t, bar, kBytes, kBytes, "mbarrier.init", pc);
  if (count == 0 || count > kMaxCount) {
    fail(cudaErrorLaunchFailure, pc, "mbarrier.init with a count of %u: expected 1 to %u", count,
         kMaxCount);
  }
  CtaAsync& a = async_of(t->cta);
  if (const MbarrierState* b = slot(*t->cta, offset); b && b->live) {
    char who[kDescription];
    describe_init(*t, *b, who, sizeof(who));
    fail(cudaErrorLaunchFailure, pc,
         "mbarrier.init at offset %u, where a live mbarrier is, initialised by %s; expected "
         "mbarrier.inval before",
         offset, who);
  }
  check_access(t, Space::shared, bar, kBytes, true, pc);
  t->cta->has_mbarriers = true;
  a.slots[offset / 8] = std::uint16_t(a.bars.size());
  MbarrierState& b = a.bars.emplace_back();
  b.offset = offset;
  b.live = true;
  b.expected = b.pending = count;
  b.agent = new_agent(t->cta, offset);
  b.init = Access::pack(t->cta->incarnation, t->warp->clock.clock, t->index, 0, false, true);
}

void mbarrier_inval(const void* bar) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  const std::uint32_t offset = shared_offset(t, bar, kBytes, kBytes, "mbarrier.inval", pc);
  MbarrierState& b = find_mbarrier(t, t->cta, offset, MbarrierUse::own, "mbarrier.inval", pc);
  if (b.in_flight || !b.waiting.empty()) {
    char text[kDescription];
    describe(b, text, sizeof(text));
    fail(cudaErrorLaunchFailure, pc, "mbarrier.inval of %s, for which %s; expected it to be idle",
         text, b.in_flight ? "copies are in flight" : "threads wait");
  }
  b.live = false;
  check_access(t, Space::shared, bar, kBytes, true, pc);
}

void mbarrier_update(const void* bar, std::uint32_t bytes, std::uint32_t arrivals,
                     const char* name) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  const std::uint32_t offset = shared_offset(t, bar, kBytes, kBytes, name, pc);
  MbarrierState& b = find_mbarrier(t, t->cta, offset, MbarrierUse::own, name, pc);
  note_use(t, t->cta, offset, pc);
  update(t, t->cta, b, bytes, arrivals, name, pc);
}

void mbarrier_update_cluster(std::uint32_t bar, std::uint32_t bytes, std::uint32_t arrivals,
                             const char* name) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  const Remote r = remote_address(t, bar, kBytes, kBytes, name, pc);
  const MbarrierUse use = r.cta == t->cta ? MbarrierUse::own : MbarrierUse::remote;
  MbarrierState& b = find_mbarrier(t, r.cta, r.offset, use, name, pc);
  note_use(t, r.cta, r.offset, pc);
  update(t, r.cta, b, bytes, arrivals, name, pc);
}

void mbarrier_complete_tx(const void* bar, std::uint32_t bytes) {
  constexpr const char* kName = "mbarrier.complete_tx";
  const void* pc = __builtin_return_address(0);
  require_sm(90, kName);
  Thread* t = current_thread;
  const std::uint32_t offset = shared_offset(t, bar, 8, 8, kName, pc);
  MbarrierState& b = find_mbarrier(t, t->cta, offset, MbarrierUse::own, kName, pc);
  AsyncOp op;
  op.issuer = t;
  op.pc = pc;
  op.name = kName;
  ++b.in_flight;
  complete_tx(t->cta, &b, bytes, op);
}

namespace {

MbarrierState& find_for_wait(const void* bar, std::uint32_t parity, const char* name,
                             const void* pc) {
  Thread* t = current_thread;
  constexpr std::uint32_t kBytes = sizeof(std::uint64_t);
  const std::uint32_t offset = shared_offset(t, bar, kBytes, kBytes, name, pc);
  if (parity > 1) {
    fail(cudaErrorLaunchFailure, pc, "%s for parity %u: expected 0 or 1", name, parity);
  }
  MbarrierState& b = find_mbarrier(t, t->cta, offset, MbarrierUse::own, name, pc);
  note_use(t, t->cta, offset, pc);
  return b;
}

bool is_over(const MbarrierState& b, std::uint32_t parity) { return b.phase % 2 != parity; }

void observe(Thread* t, MbarrierState* b) {
  learn(t, b->completed);
  b->observed = b->phase;
}

}  // namespace

bool mbarrier_test_wait(const void* bar, std::uint32_t parity) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  MbarrierState& b = find_for_wait(bar, parity, "mbarrier.test_wait", pc);
  if (!is_over(b, parity)) {
    b.polled = t->cta->polls_mbarrier = t->polls_mbarrier = true;
    t->mbarrier = b.offset;
    t->parity = parity;
    make_way(t, pc, true);
    t->polls_mbarrier = false;
  }
  if (!is_over(b, parity)) return false;
  observe(t, &b);
  return true;
}

// Blocks until the phase is over, which the instruction may; it also may return early, but then
// the caller only asks again.
bool mbarrier_try_wait(const void* bar, std::uint32_t parity, bool /*cluster*/) {
  const void* pc = __builtin_return_address(0);
  require_sm(90, "mbarrier.try_wait");
  Thread* t = current_thread;
  MbarrierState& b = find_for_wait(bar, parity, "mbarrier.try_wait", pc);
  if (is_over(b, parity)) {
    observe(t, &b);
    return true;
  }
  b.waiting.push_back(t);
  if (t->cta->cluster->ctas.size() > 1) ++t->cta->waits_outside;
  t->mbarrier = b.offset;
  t->parity = parity;
  t->pc = pc;
  block(t, State::in_mbarrier);
  return true;
}

void fence_mbarrier_init() {
  require_sm(90, "fence.mbarrier_init");
  Thread* t = current_thread;
  if (!t->cta->async) return;
  for (MbarrierState& b : t->cta->async->bars) {
    if (!b.live || b.init.thread() != t->index) continue;
    b.fenced_for_cluster = b.fenced_for_copies = true;
    b.fence_phase = t->cluster_phase ? t->cluster_phase : t->cta->cluster->phase;
  }
}

}  // namespace libkernels::emulator
