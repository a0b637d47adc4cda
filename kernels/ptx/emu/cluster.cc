// Clusters: who is where, barrier.cluster, and the shared memory of peers.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"

namespace libkernels::emulator {

Cluster* begin_cluster(Cta* first, const Launch& launch, std::uint64_t number) {
  if (!first->own_cluster) first->own_cluster = std::make_unique<Cluster>();
  Cluster* c = first->own_cluster.get();
  const dim3 grid = launch.request.grid, dim = launch.request.cluster;
  const std::uint64_t nx = grid.x / dim.x, ny = grid.y / dim.y;
  c->ctas.clear();
  c->idx = {unsigned(number % nx), unsigned(number / nx % ny), unsigned(number / nx / ny)};
  c->unfinished = dim.x * dim.y * dim.z;
  c->live = c->unfinished * launch.threads;
  c->phase = 0;
  c->arrived = 0;
  c->arriving = c->released = nullptr;
  c->pending.clear();
  return c;
}

std::uint32_t cluster_rank() { return current_thread->cta->rank; }
uint3 cluster_cta_idx() {
  const dim3 dim = machine().launch.request.cluster;
  const std::uint32_t rank = current_thread->cta->rank;
  return {rank % dim.x, rank / dim.x % dim.y, rank / dim.x / dim.y};
}
dim3 cluster_dim() { return machine().launch.request.cluster; }
uint3 cluster_idx() { return current_thread->cta->cluster->idx; }
dim3 cluster_grid_dim() {
  const dim3 grid = machine().launch.request.grid, dim = machine().launch.request.cluster;
  return {grid.x / dim.x, grid.y / dim.y, grid.z / dim.z};
}

// ---- barrier.cluster --------------------------------------------------------------------------

namespace {

// All lanes of the warp have arrived or exited: what it did until now is what they release.
void release_warp(Warp* warp) {
  Cluster* cluster = warp->cta->cluster;
  if (!machine().launch.race_checks) return;
  // Even a relaxed arrival tells that the CTA has started.
  Knowledge::CtaClock clocks{warp->cta->incarnation, {}};
  Knowledge::Pointer known;
  if (!warp->cluster_relaxed) {
    std::copy(std::begin(warp->clock.vc), std::end(warp->clock.vc), clocks.vc.begin());
    clocks.vc[warp->index] = warp->clock.clock;
    if (warp->clock.acquired) {
      for (const Knowledge::Pointer& k : warp->clock.known) known = Knowledge::join(known, k);
    }
    warp->clock.tick();
  }
  const std::vector<Knowledge::ThreadClock> no_threads;
  const auto own = std::make_shared<const Knowledge>(std::vector{clocks}, no_threads);
  cluster->arriving = Knowledge::join(cluster->arriving, Knowledge::join(own, known));
}

void release_if_whole(Warp* warp) {
  const std::uint32_t came = warp->in_cluster_barrier;
  if (came && (came | warp->exited) == warp->lanes) release_warp(warp);
}

void complete_if_all(Cluster* c) {
  if (c->arrived == 0 || c->arrived < c->live) return;
  ++c->phase;
  c->arrived = 0;
  c->released = Knowledge::join(c->released, c->arriving);
  c->arriving = nullptr;
  const Launch& l = machine().launch;
  for (Cta* cta : c->ctas) {
    for (std::uint32_t w = 0; w < l.warps; ++w) {
      cta->warps[w].in_cluster_barrier = 0;
      cta->warps[w].cluster_relaxed = false;
    }
    for (std::uint32_t i = 0; i < l.threads; ++i) {
      Thread& t = cta->threads[i];
      if (t.state != State::in_cluster_barrier) continue;
      learn(&t, c->released);
      if (c->ctas.size() > 1) --cta->waits_outside;
      t.cluster_phase = 0;
      t.cluster_waited = c->phase;
      wake(t.warp, 1u << t.lane);
    }
  }
  machine().launch.idle = 0;
}

}  // namespace

void cluster_barrier_arrive(bool release) {
  const void* pc = __builtin_return_address(0);
  require_sm(90, "barrier.cluster.arrive");
  Thread* t = current_thread;
  Cluster* c = t->cta->cluster;
  if (t->cluster_phase) {
    fail(cudaErrorLaunchFailure, pc,
         "barrier.cluster.arrive twice: this thread has arrived in this phase; expected "
         "barrier.cluster.wait between");
  }
  t->cluster_phase = c->phase + 1;
  ++c->arrived;
  t->warp->in_cluster_barrier |= 1u << t->lane;
  t->warp->cluster_relaxed |= !release;
  release_if_whole(t->warp);
  complete_if_all(c);
}

void cluster_barrier_wait() {
  const void* pc = __builtin_return_address(0);
  require_sm(90, "barrier.cluster.wait");
  Thread* t = current_thread;
  Cluster* c = t->cta->cluster;
  if (!t->cluster_phase) {
    fail(cudaErrorLaunchFailure, pc,
         "barrier.cluster.wait by a thread that has not arrived; expected barrier.cluster.arrive "
         "before");
  }
  if (c->phase >= t->cluster_phase) {
    t->cluster_waited = t->cluster_phase;
    t->cluster_phase = 0;
    return learn(t, c->released);
  }
  if (c->ctas.size() > 1) ++t->cta->waits_outside;
  t->pc = pc;
  block(t, State::in_cluster_barrier);
}

// ---- Peers ------------------------------------------------------------------------------------

void check_peer(Thread* t, Cta* peer, const char* name, const void* pc, By by) {
  if (peer == t->cta) return;
  if (peer->live == 0) {
    fail(cudaErrorLaunchFailure, pc,
         "%s to the shared memory of CTA (%u, %u, %u), rank %u, which has exited; expected "
         "barrier.cluster before a CTA exits whose peers may touch it",
         name, peer->idx.x, peer->idx.y, peer->idx.z, peer->rank);
  }
  if (!machine().launch.race_checks) return;
  const WarpClock& clock = t->warp->clock;
  const Knowledge* known = clock.acquired ? clock.known[t->lane].get() : nullptr;
  if (!known || !known->knows(peer->incarnation)) {
    fail(cudaErrorLaunchFailure, pc,
         "%s to the shared memory of CTA (%u, %u, %u), rank %u, which may not have started; "
         "expected barrier.cluster before",
         name, peer->idx.x, peer->idx.y, peer->idx.z, peer->rank);
  }
  if (by == By::copy) return;
  const Access now = Access::pack(t->cta->incarnation, clock.clock, t->index, 0, false, false);
  async_of(peer).touched[std::uint64_t(now.cta()) << Access::kThreadBits | t->index] = now;
}

Remote remote_address(Thread* t, std::uint32_t address, std::uint32_t bytes,
                      std::uint32_t alignment, const char* name, const void* pc, By by) {
  const std::uint32_t rank = address >> kRankShift;
  const std::uint32_t offset = address & ((1u << kRankShift) - 1);
  const Cluster& c = *t->cta->cluster;
  if (rank >= c.ctas.size()) {
    fail(cudaErrorIllegalAddress, pc, "%s at rank %u: the cluster has %zu CTAs", name, rank,
         c.ctas.size());
  }
  if (offset % alignment != 0) {
    fail(cudaErrorMisalignedAddress, pc,
         "misaligned: %s at offset %u of shared memory; expected a multiple of %u", name, offset,
         alignment);
  }
  if (offset + bytes > machine().launch.request.smem) {
    fail(cudaErrorIllegalAddress, pc,
         "out of bounds: %s of %u bytes at offset %u of shared memory; expected it to end within "
         "the %zu bytes of the launch",
         name, bytes, offset, machine().launch.request.smem);
  }
  check_peer(t, c.ctas[rank], name, pc, by);
  return {c.ctas[rank], offset};
}

std::uint32_t map_to_cluster(const void* p, std::uint32_t rank) {
  const void* pc = __builtin_return_address(0);
  require_sm(90, "mapa");
  Thread* t = current_thread;
  const std::uint32_t offset = shared_offset(t, p, 0, 1, "mapa", pc);
  if (rank >= t->cta->cluster->ctas.size()) {
    fail(cudaErrorIllegalAddress, pc, "mapa to rank %u: the cluster has %zu CTAs", rank,
         t->cta->cluster->ctas.size());
  }
  return rank << kRankShift | offset;
}

void load_cluster(std::uint32_t p, void* to, std::uint32_t bytes) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  const Remote r = remote_address(t, p, bytes, bytes, "ld.shared::cluster", pc);
  check_shared(t, r.cta, r.offset, bytes, false, pc);
  std::memcpy(to, r.cta->shared + r.offset, bytes);
}

void store_cluster(std::uint32_t p, const void* from, std::uint32_t bytes) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  const Remote r = remote_address(t, p, bytes, bytes, "st.shared::cluster", pc);
  check_shared(t, r.cta, r.offset, bytes, true, pc);
  std::memcpy(r.cta->shared + r.offset, from, bytes);
}

// ---- The end ----------------------------------------------------------------------------------

namespace {

void check_stores_waited(Thread* t) {
  CtaAsync* a = t->cta->async.get();
  const BulkGroups* g = a && !a->groups.empty() ? a->groups[t->index].get() : nullptr;
  if (!g || (!g->open && g->read_waited >= g->committed)) return;
  fail(cudaErrorLaunchFailure, g->last_pc,
       "exit with an unread bulk store: the thread leaves a bulk group that it %s; expected "
       "cp.async.bulk.wait_group.read before the exit",
       g->open ? "has not committed" : "has not waited for");
}

void check_copies_observed(Thread* t) {
  for (const MbarrierState& b : t->cta->async->bars) {
    if (!b.in_flight && b.landed <= b.observed) continue;
    char text[kDescription];
    describe(b, text, sizeof(text));
    fail(cudaErrorLaunchFailure, nullptr,
         "the CTA exits though nobody has waited for a copy into its shared memory on %s; expected "
         "a wait for the phase",
         text);
  }
}

void check_peers_done(Thread* t) {
  const CtaAsync& a = *t->cta->async;
  for (const auto& [who, access] : a.touched) {
    if (a.exit_known && a.exit_known->covers(access)) continue;
    char text[kDescription];
    describe_access(*t, access, text, sizeof(text));
    fail(cudaErrorLaunchFailure, nullptr,
         "the CTA exits though %s has touched its shared memory and nothing orders that before the "
         "exit; expected barrier.cluster before it",
         text);
  }
}

}  // namespace

void exit_async(Thread* t) {
  Cluster* c = t->cta->cluster;
  const bool arrived = t->cluster_phase > c->phase;
  if (c->ctas.size() > 1 && t->warp->clock.acquired) {
    CtaAsync& a = async_of(t->cta);
    a.exit_known = Knowledge::join(a.exit_known, t->warp->clock.known[t->lane]);
  }
  if (t->cta->async) {
    check_stores_waited(t);
    land_stores(t);
    if (t->cta->live == 1) {
      check_copies_observed(t);
      if (machine().launch.race_checks) check_peers_done(t);
    }
  }
  --c->live;
  if (arrived) --c->arrived;
  t->warp->exited |= 1u << t->lane;
  if (!arrived) release_if_whole(t->warp);
  complete_if_all(c);
}

}  // namespace libkernels::emulator
