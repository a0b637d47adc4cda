// Asynchronous copies: issued by threads, landed by the engine when completion is due.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::emulator {

// ---- State ------------------------------------------------------------------------------------

void CtaAsync::reset() {
  for (const MbarrierState& b : bars) slots[b.offset / 8] = kNone;
  bars.resize(1);
  agent_of.clear();
  groups.clear();
  touched.clear();
  exit_known = nullptr;
}

CtaAsync& async_of(Cta* cta) {
  if (!cta->async) cta->async = std::make_unique<CtaAsync>();
  return *cta->async;
}

BulkGroups& bulk_groups(Thread* t) {
  CtaAsync& a = async_of(t->cta);
  if (a.groups.empty()) a.groups.resize(machine().launch.threads);
  std::unique_ptr<BulkGroups>& g = a.groups[t->index];
  if (!g) {
    g = std::make_unique<BulkGroups>();
    g->read_agent = new_agent(t->cta, kStoresOf | t->index);
    g->write_agent = new_agent(t->cta, kStoresOf | t->index);
  }
  return *g;
}

std::uint32_t new_agent(Cta* cta, std::uint32_t what) {
  std::vector<std::uint32_t>& agents = async_of(cta).agent_of;
  if (agents.size() >= kBlindAgent) return kBlindAgent;
  agents.push_back(what);
  return std::uint32_t(agents.size() - 1);
}

Access agent_access(const Cta& cta, std::uint32_t agent, std::uint64_t clock, bool write) {
  std::uint32_t c = std::uint32_t(std::min<std::uint64_t>(clock, Access::kMaxClock));
  if (agent == kBlindAgent || (c >= kInFlight && clock != kInFlight)) c = Access::kMaxClock;
  Access access = Access::pack(cta.incarnation, c, agent, 0, false, write);
  access.bits |= std::uint64_t(1) << Access::kAgentAt;
  return access;
}

Knowledge::Pointer agent_knowledge(const Cta& cta, std::uint32_t agent, std::uint64_t clock) {
  const std::uint32_t c = std::uint32_t(std::min<std::uint64_t>(clock, kInFlight - 1));
  const std::vector<Knowledge::CtaClock> no_ctas;
  return std::make_shared<const Knowledge>(
      no_ctas, std::vector{Knowledge::of_thread(cta.incarnation, agent, c, true)});
}

std::uint32_t shared_offset(Thread* t, const void* p, std::uint32_t bytes, std::uint32_t alignment,
                            const char* name, const void* pc) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(t->cta->shared);
  const std::size_t smem = machine().launch.request.smem;
  if (offset >= kSharedBytes || offset + bytes > smem) {
    fail(cudaErrorIllegalAddress, pc,
         "out of bounds: %s of %u bytes at %p; expected them within the %zu bytes of the CTA's "
         "shared memory",
         name, bytes, p, smem);
  }
  if (offset % alignment != 0) {
    fail(cudaErrorMisalignedAddress, pc,
         "misaligned: %s at offset %zu of shared memory; expected a multiple of %u", name,
         std::size_t(offset), alignment);
  }
  return std::uint32_t(offset);
}

void fail_op(const AsyncOp& op, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (current_thread) fail(cudaErrorLaunchFailure, op.pc, "%s", text);
  record_thread_fault(*op.issuer, op.pc, text);
}

void fence_proxy_async(bool shared, bool global) {
  require_sm(90, "fence.proxy.async");
  Thread* t = current_thread;
  const WarpClock& clock = t->warp->clock;
  if (global) {
    t->fenced_global = clock.clock;
    t->fenced_known = clock.acquired ? clock.known[t->lane] : nullptr;
  }
  if (!shared) return;
  t->fenced_shared = clock.clock;
  if (!t->cta->async) return;
  for (MbarrierState& b : t->cta->async->bars) {
    if (b.live && b.init.thread() == t->index) b.fenced_for_copies = true;
  }
}

// ---- Moving bytes -----------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kChunk = 16;

// Calls step(place in shared memory, offset in the row, bytes) for the contiguous pieces of bytes
// [first, first + bytes) of a row.
template <class Step>
void for_pieces(std::uint8_t swizzled, std::uint32_t row, std::uint32_t first, std::uint32_t bytes,
                Step step) {
  const auto mode = ptx::Swizzle(swizzled);
  if (mode == ptx::Swizzle::none) return step(row + first, first, bytes);
  for (std::uint32_t at = first; at < first + bytes;) {
    const std::uint32_t n = std::min(kChunk - at % kChunk, first + bytes - at);
    step(ptx::swizzle(mode, row + at), at, n);
    at += n;
  }
}

// For those who read with another swizzle.
void note_swizzle(const AsyncOp& op, const Row& r) {
  WrittenSwizzles& swizzles = op.target->warpgroups.swizzles;
  for (std::uint32_t at = 0; at < r.bytes; at += kChunk) {
    const std::uint32_t offset = ptx::swizzle(ptx::Swizzle(op.swizzle), r.shared + at);
    op.tensor ? swizzles.note(offset, op.swizzle) : swizzles.forget(offset, kChunk);
  }
}

// As an H200 does, of all 2^32 patterns: to nearest, ties to even, subnormals kept; one NaN.
void round_to_tf32(unsigned char* words, std::uint32_t bytes) {
  constexpr std::uint32_t kDropped = 13, kMask = (1u << kDropped) - 1;
  constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  for (std::uint32_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t x;
    std::memcpy(&x, words + at, sizeof(x));
    if ((x & kMagnitude) > kInfinity) x = kMagnitude;
    if ((x & kMagnitude) < kInfinity) x += kMask / 2 + (x >> kDropped & 1);
    x &= ~kMask;
    std::memcpy(words + at, &x, sizeof(x));
  }
}

void load_rows(const AsyncOp& op) {
  unsigned char* shared = op.target->shared;
  for (const Row& r : op.rows) {
    note_swizzle(op, r);
    const auto* from = op.kind == AsyncOp::Kind::store_async
                           ? op.data.data()
                           : reinterpret_cast<const unsigned char*>(r.global);
    if (r.valid != r.bytes) {
      for_pieces(op.swizzle, r.shared, 0, r.bytes,
                 [&](std::uint32_t at, std::uint32_t, std::uint32_t n) {
                   std::memset(shared + at, 0, n);
                 });
    }
    for_pieces(op.swizzle, r.shared, r.first, r.valid,
               [&](std::uint32_t at, std::uint32_t in_row, std::uint32_t n) {
                 std::memcpy(shared + at, from + (in_row - r.first), n);
                 if (op.rounds_to_tf32) round_to_tf32(shared + at, n);
               });
  }
}

// A store's first half: the source is read.
void read_rows(AsyncOp* op) {
  for (const Row& r : op->rows) {
    for_pieces(op->swizzle, r.shared, r.first, r.valid,
               [&](std::uint32_t at, std::uint32_t, std::uint32_t n) {
                 const unsigned char* from = op->target->shared + at;
                 op->data.insert(op->data.end(), from, from + n);
               });
  }
}

void write_rows(const AsyncOp& op) {
  const unsigned char* from = op.data.data();
  for (const Row& r : op.rows) {
    std::memcpy(reinterpret_cast<void*>(r.global), from, r.valid);
    from += r.valid;
  }
  machine().launch.idle = 0;
}

// The bytes in shared memory between the first row and the last.
struct Extent {
  std::uint32_t first, bytes;
};
Extent extent_of(const AsyncOp& op) {
  const Row &first = op.rows.front(), &last = op.rows.back();
  return {first.shared, last.shared + last.bytes - first.shared};
}

void land(const AsyncOp& op) {
  load_rows(op);
  const Launch& l = machine().launch;
  if (l.request.hooked && l.race_checks) {
    const Access in_flight = agent_access(*op.target, op.bar->agent, kInFlight, true);
    const Access landed = agent_access(*op.target, op.bar->agent, op.bar->phase + 1, true);
    const Extent e = extent_of(op);
    restamp_shared(op.target, e.first, e.bytes, in_flight, landed);
  }
  op.bar->landed = op.bar->phase + 1;
  machine().launch.idle = 0;
  complete_tx(op.target, op.bar, op.bytes, op);
}

// Lands pending[at]; true if that ends a phase that somebody waits for.
bool land_at(Cluster* cluster, std::size_t at) {
  const AsyncOp op = std::move(cluster->pending[at]);
  cluster->pending.erase(cluster->pending.begin() + std::ptrdiff_t(at));
  const bool awaited = !op.bar->waiting.empty() || op.bar->polled;
  const std::uint64_t phase = op.bar->phase;
  land(op);
  if (op.bar->phase == phase) return false;
  op.bar->polled = false;
  return awaited;
}

}  // namespace

// ---- Completion -------------------------------------------------------------------------------

void land_any(Cluster* cluster, const Draw& draw) {
  if (!cluster->pending.empty()) land_at(cluster, draw(cluster->pending.size()));
}

bool progress(Cluster* cluster, const Draw* draw) {
  const Launch& l = machine().launch;
  while (!cluster->pending.empty()) {
    std::size_t at = cluster->pending.size();
    if (draw) {
      at = (*draw)(at) + 1;
    } else {
      while (at && cluster->pending[at - 1].bar->waiting.empty() &&
             !cluster->pending[at - 1].bar->polled) {
        --at;
      }
      if (at == 0) return false;
    }
    if (land_at(cluster, at - 1)) return true;
    if (l.fault.error != cudaSuccess) return false;
  }
  return false;
}

AsyncOp& new_op(AsyncOp::Kind kind, Thread* issuer, const char* name, const void* pc) {
  static AsyncOp op;
  op = AsyncOp{};
  op.kind = kind;
  op.issuer = issuer;
  op.name = name;
  op.pc = pc;
  return op;
}

void issue(AsyncOp& op) {
  Thread* t = op.issuer;
  const Extent e = extent_of(op);
  check_async_shared(t, op.target, e.first, e.bytes,
                     {.stamp = agent_access(*op.target, op.bar->agent, kInFlight, true),
                      .proxy = op.kind != AsyncOp::Kind::store_async,
                      .name = op.name,
                      .pc = op.pc});
  mark_written(op.target, e.first, e.bytes);
  ++op.bar->in_flight;
  if (settings().completion == Completion::eager) return land(op);
  std::memset(op.target->shared + e.first, 0xff, e.bytes);
  t->cta->cluster->pending.push_back(std::move(op));
}

// ---- Bulk groups ------------------------------------------------------------------------------

namespace {

void read_store(BulkGroups::Store* store) {
  if (!store->read) read_rows(&store->op);
  store->read = true;
}

// Random: a third of the stores at once, a third read at once, the rest late.
void complete_early(BulkGroups* g) {
  const Completion completion = settings().completion;
  if (completion == Completion::late) return;
  std::uint64_t z = (settings().seed + ++machine().launch.bulk_stores) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  const std::uint64_t drawn = completion == Completion::eager ? 0 : (z >> 32) % 3;
  if (drawn <= 1) read_store(&g->stores.back());
  if (drawn > 0) return;
  write_rows(g->stores.back().op);
  g->stores.pop_back();
}

}  // namespace

void issue_store(AsyncOp& op) {
  Thread* t = op.issuer;
  BulkGroups& g = bulk_groups(t);
  const Access read = agent_access(*t->cta, g.read_agent, g.committed + 1, false);
  const Access write = agent_access(*t->cta, g.write_agent, g.committed + 1, true);
  const AsyncAccess reads{.stamp = read, .name = op.name, .pc = op.pc};
  for (const Row& r : op.rows) {
    // A whole row of the pattern stays in its place.
    const bool whole = r.valid == ptx::swizzle_width(ptx::Swizzle(op.swizzle));
    for_pieces(whole ? 0 : op.swizzle, r.shared, r.first, r.valid,
               [&](std::uint32_t at, std::uint32_t, std::uint32_t n) {
                 check_async_shared(t, op.target, at, n, reads);
               });
    check_async_global(t, r.global, r.valid, {.stamp = write, .name = op.name, .pc = op.pc});
  }
  if (machine().launch.counting) ++machine().counters.global_write_requests;
  g.open = true;
  g.last_pc = op.pc;
  if (op.rows.empty()) return;  // all of it outside
  g.stores.push_back({g.committed, std::move(op)});
  complete_early(&g);
}

void bulk_commit_group() {
  require_sm(90, "cp.async.bulk.commit_group");
  BulkGroups& g = bulk_groups(current_thread);
  ++g.committed;
  g.open = false;
}

namespace {

// The groups before `end`: read, or done with.
void land_groups(Thread* t, std::uint64_t end, bool read_only) {
  BulkGroups& g = bulk_groups(t);
  for (BulkGroups::Store& store : g.stores) {
    if (store.group < end) read_store(&store);
  }
  while (!read_only && !g.stores.empty() && g.stores.front().group < end) {
    write_rows(g.stores.front().op);
    g.stores.pop_front();
  }
}

}  // namespace

void bulk_wait_group(std::uint32_t pending, bool read) {
  require_sm(90, "cp.async.bulk.wait_group");
  Thread* t = current_thread;
  BulkGroups& g = bulk_groups(t);
  const std::uint64_t end = g.committed > pending ? g.committed - pending : 0;
  land_groups(t, end, read);
  g.read_waited = std::max(g.read_waited, end);
  learn(t, agent_knowledge(*t->cta, g.read_agent, end));
  if (!read) learn(t, agent_knowledge(*t->cta, g.write_agent, end));
}

void land_stores(Thread* t) {
  const CtaAsync& a = *t->cta->async;
  if (a.groups.empty() || !a.groups[t->index]) return;
  land_groups(t, a.groups[t->index]->committed + 1, false);
}

}  // namespace libkernels::emulator
