// cp.async.bulk and st.async: blocks of bytes.
#include <bit>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kAlignment = 16;
constexpr std::uint32_t kBarBytes = 8;

void check_bytes(const char* name, std::uint32_t bytes, const void* pc) {
  if (bytes != 0 && bytes % kAlignment == 0) return;
  fail(cudaErrorLaunchFailure, pc, "%s of %u bytes: expected a positive multiple of %u", name,
       bytes, kAlignment);
}

void check_global(const char* name, const void* p, const void* pc) {
  if (reinterpret_cast<std::uintptr_t>(p) % kAlignment == 0) return;
  fail(cudaErrorMisalignedAddress, pc,
       "misaligned: %s at %p in global memory; expected a multiple of %u", name, p, kAlignment);
}

}  // namespace

void bulk_load(void* dst, const void* src, std::uint32_t bytes, const void* bar,
               std::uint32_t cta_mask) {
  constexpr const char* kName = "cp.async.bulk from global to shared memory";
  const void* pc = __builtin_return_address(0);
  require_sm(90, "cp.async.bulk");
  Thread* t = current_thread;
  check_bytes(kName, bytes, pc);
  check_global(kName, src, pc);
  AsyncOp& op = new_op(AsyncOp::Kind::load, t, kName, pc);
  op.bytes = bytes;
  op.rows = {{.shared = shared_offset(t, dst, bytes, kAlignment, kName, pc),
              .bytes = bytes,
              .first = 0,
              .valid = bytes,
              .global = reinterpret_cast<std::uintptr_t>(src)}};
  issue_load(op, shared_offset(t, bar, kBarBytes, kBarBytes, kName, pc), cta_mask);
}

void issue_load(AsyncOp& op, std::uint32_t bar, std::uint32_t cta_mask) {
  Thread* t = op.issuer;
  const std::vector<Cta*>& ctas = t->cta->cluster->ctas;
  const std::uint32_t mask = cta_mask == kOwnCta ? 1u << t->cta->rank : cta_mask;
  if (mask >> ctas.size()) {
    fail(cudaErrorLaunchFailure, op.pc, "%s with cta_mask 0x%04x: the cluster has %zu CTAs",
         op.name, cta_mask, ctas.size());
  }
  bool read = false;
  for (std::uint32_t m = mask; m; m &= m - 1) {
    Cta* target = ctas[std::size_t(std::countr_zero(m))];
    check_peer(t, target, op.name, op.pc, By::copy);
    static AsyncOp one;
    one = op;
    one.target = target;
    one.bar = &find_mbarrier(t, target, bar, MbarrierUse::copy, op.name, op.pc);
    const Access stamp = agent_access(*target, one.bar->agent, one.bar->phase + 1, false);
    for (const Row& r : op.rows) {
      if (read || r.valid == 0) continue;
      check_async_global(t, r.global, r.valid, {.stamp = stamp, .name = op.name, .pc = op.pc});
    }
    read = true;
    issue(one);
  }
  if (machine().launch.counting) ++machine().counters.global_read_requests;
}

void bulk_cluster_copy(std::uint32_t dst, const void* src, std::uint32_t bytes, std::uint32_t bar) {
  constexpr const char* kName = "cp.async.bulk to shared::cluster";
  const void* pc = __builtin_return_address(0);
  require_sm(90, "cp.async.bulk");
  Thread* t = current_thread;
  check_bytes(kName, bytes, pc);
  const std::uint32_t from = shared_offset(t, src, bytes, kAlignment, kName, pc);
  const Remote to = remote_address(t, dst, bytes, kAlignment, kName, pc, By::copy);
  const Remote at = remote_address(t, bar, kBarBytes, kBarBytes, kName, pc, By::copy);
  if (to.cta != at.cta || to.cta == t->cta) {
    fail(cudaErrorLaunchFailure, pc,
         "%s to rank %u with an mbarrier of rank %u, from rank %u: expected both at one other CTA",
         kName, to.cta->rank, at.cta->rank, t->cta->rank);
  }
  AsyncOp& op = new_op(AsyncOp::Kind::cluster_copy, t, kName, pc);
  op.target = to.cta;
  op.bar = &find_mbarrier(t, at.cta, at.offset, MbarrierUse::copy, kName, pc);
  op.bytes = bytes;
  op.rows = {{.shared = to.offset,
              .bytes = bytes,
              .first = 0,
              .valid = bytes,
              .global = reinterpret_cast<std::uintptr_t>(src)}};
  const Access stamp = agent_access(*to.cta, op.bar->agent, op.bar->phase + 1, false);
  check_async_shared(t, t->cta, from, bytes, {.stamp = stamp, .name = kName, .pc = pc});
  issue(op);
}

void store_async(std::uint32_t p, const void* value, std::uint32_t bytes, std::uint32_t bar) {
  constexpr const char* kName = "st.async";
  const void* pc = __builtin_return_address(0);
  require_sm(90, kName);
  Thread* t = current_thread;
  if (t->cta->cluster->ctas.size() < 2) {
    fail(cudaErrorLaunchFailure, pc, "st.async in a cluster of one CTA: expected more");
  }
  const Remote to = remote_address(t, p, bytes, bytes, kName, pc, By::copy);
  const Remote at = remote_address(t, bar, kBarBytes, kBarBytes, kName, pc, By::copy);
  if (to.cta != at.cta) {
    fail(cudaErrorLaunchFailure, pc,
         "st.async to rank %u with an mbarrier of rank %u: expected both in one CTA", to.cta->rank,
         at.cta->rank);
  }
  const MbarrierUse use = at.cta == t->cta ? MbarrierUse::own : MbarrierUse::remote;
  AsyncOp& op = new_op(AsyncOp::Kind::store_async, t, kName, pc);
  op.target = to.cta;
  op.bar = &find_mbarrier(t, at.cta, at.offset, use, kName, pc);
  op.bytes = bytes;
  op.rows = {{.shared = to.offset, .bytes = bytes, .first = 0, .valid = bytes, .global = 0}};
  op.data.assign(static_cast<const unsigned char*>(value),
                 static_cast<const unsigned char*>(value) + bytes);
  issue(op);
}

void bulk_store(void* dst, const void* src, std::uint32_t bytes) {
  constexpr const char* kName = "cp.async.bulk from shared to global memory";
  const void* pc = __builtin_return_address(0);
  require_sm(90, "cp.async.bulk");
  Thread* t = current_thread;
  check_bytes(kName, bytes, pc);
  check_global(kName, dst, pc);
  AsyncOp& op = new_op(AsyncOp::Kind::store, t, kName, pc);
  op.target = t->cta;
  op.bytes = bytes;
  op.rows = {{.shared = shared_offset(t, src, bytes, kAlignment, kName, pc),
              .bytes = bytes,
              .first = 0,
              .valid = bytes,
              .global = reinterpret_cast<std::uintptr_t>(dst)}};
  issue_store(op);
}

// A hint; but of memory that exists.
void bulk_prefetch(const void* src, std::uint32_t bytes) {
  constexpr const char* kName = "cp.async.bulk.prefetch.L2";
  const void* pc = __builtin_return_address(0);
  require_sm(90, kName);
  check_bytes(kName, bytes, pc);
  check_global(kName, src, pc);
  const Buffer buffer = find_buffer(src);
  const std::size_t offset =
      std::size_t(static_cast<const char*>(src) - static_cast<const char*>(buffer.data));
  if (buffer.found && bytes <= buffer.bytes - offset) return;
  fail(cudaErrorIllegalAddress, pc, "out of bounds: %s of %u bytes at %p, outside any live buffer",
       kName, bytes, src);
}

}  // namespace libkernels::emulator
