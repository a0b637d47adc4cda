// cp.async: the bytes arrive when the copy is issued or when it is waited for, and until the wait
// nobody may touch them.
#include "kernels/ptx/emu/cp_async.h"

#include <algorithm>
#include <cstring>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {

void BytesInFlight::reset() {
  if (count_) std::fill(granules_.begin(), granules_.end(), false);
  count_ = 0;
}
void BytesInFlight::set(const AsyncCopy& copy, bool in_flight) {
  const auto first = granules_.begin() + std::ptrdiff_t(copy.offset / kCopyGranule);
  std::fill_n(first, copy.bytes / kCopyGranule, in_flight);
  in_flight ? ++count_ : --count_;
}
bool BytesInFlight::look(std::size_t offset, std::size_t bytes) const {
  for (std::size_t g = offset / kCopyGranule; g * kCopyGranule < offset + bytes; ++g) {
    if (granules_[g]) return true;
  }
  return false;
}

void fail_in_flight(const Thread& t, std::size_t offset, std::size_t bytes, bool write,
                    const void* pc) {
  const AsyncCopy* found = nullptr;
  const Thread* issuer = nullptr;
  for (const Thread& other : t.cta->threads) {
    for (const AsyncCopy& copy : other.copies.unfinished) {
      if (offset < copy.offset + copy.bytes && copy.offset < offset + bytes) {
        found = &copy, issuer = &other;
      }
    }
  }
  fail(cudaErrorLaunchFailure, pc,
       "%s of %zu bytes at offset %zu of shared memory, the destination of a cp.async of %u bytes "
       "at "
       "offset %zu that thread (%u, %u, %u) has issued %s; expected %s before it",
       write ? "write" : "read", bytes, offset, found->bytes, found->offset, issuer->idx.x,
       issuer->idx.y, issuer->idx.z,
       found->group < issuer->copies.groups ? "and committed but not waited for"
                                            : "but not committed to a group",
       issuer == &t
           ? "cp.async.wait_group or cp.async.wait_all"
           : "cp.async.wait_group or cp.async.wait_all by that thread, and a CTA barrier,");
}

namespace {

void check_copy(const Thread& t, const void* dst, const void* src, std::uint32_t bytes,
                std::uint32_t src_size, const char* name, const void* pc) {
  const auto to = reinterpret_cast<std::uintptr_t>(dst);
  const auto from = reinterpret_cast<std::uintptr_t>(src);
  if (to - reinterpret_cast<std::uintptr_t>(t.cta->shared) >= kSharedBytes) {
    fail(cudaErrorIllegalAddress, pc, "%s to %p; expected the CTA's shared memory", name, dst);
  }
  if (to % bytes || from % bytes) {
    fail(cudaErrorMisalignedAddress, pc,
         "misaligned: %s of %u bytes from 0x%zx to 0x%zx; expected multiples of %u", name, bytes,
         std::size_t(from), std::size_t(to), bytes);
  }
  if (src_size > bytes) {
    fail(cudaErrorLaunchFailure, pc, "%s of %u bytes with src_size %u; expected at most %u", name,
         bytes, src_size, bytes);
  }
}

// The draws depend on the seed and on the order of execution alone.
bool drawn(std::uint64_t salt) {
  std::uint64_t z = settings().seed * 0x9e3779b97f4a7c15u + salt;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (z >> 63) != 0;
}

// Does the copy happen at once, or when it is waited for?
bool arrives_early(const Thread& t, const AsyncCopy& copy) {
  switch (settings().completion) {
    case Completion::late:
      return false;
    case Completion::eager:
      return true;
    case Completion::random:
      return drawn(std::uint64_t(copy.offset) << 32 | t.accesses);
  }
  return false;
}

void finish(Thread* t, const AsyncCopy& copy) {
  const Launch& l = machine().launch;
  Cta* cta = t->cta;
  if (std::memcmp(copy.data, copy.source, copy.src_size) != 0) {
    fail(cudaErrorLaunchFailure, copy.pc,
         "the source of a cp.async of %u bytes at %p has been written before the copy was waited "
         "for; expected it unchanged until then",
         copy.bytes, copy.source);
  }
  if (!copy.arrived) std::memcpy(cta->shared + copy.offset, copy.data, copy.bytes);
  cta->in_flight.remove(copy);
  // A write of this moment, too: others need a barrier behind the wait.
  if (!l.request.hooked || !l.race_checks) return;
  check_races(t, cta->shared_shadow, copy.offset, copy.bytes, true, Space::shared, copy.pc,
              nullptr);
}

}  // namespace

void cp_async(void* dst, const void* src, std::uint32_t bytes, std::uint32_t src_size,
              const char* name) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  check_copy(*t, dst, src, bytes, src_size, name, pc);
  if (src_size) check_access(t, Space::global, src, src_size, false, pc);
  check_access(t, Space::shared, dst, bytes, true, pc);
  Cta* cta = t->cta;
  AsyncCopy copy{.offset = std::size_t(static_cast<unsigned char*>(dst) - cta->shared),
                 .source = src,
                 .pc = pc,
                 .bytes = bytes,
                 .src_size = src_size,
                 .group = t->copies.groups,
                 .arrived = false,
                 .data = {}};
  std::memcpy(copy.data, src, src_size);
  copy.arrived = arrives_early(*t, copy);
  if (copy.arrived) {
    std::memcpy(dst, copy.data, bytes);
  } else {
    std::memset(dst, 0xff, bytes);
  }
  cta->in_flight.add(copy);
  t->copies.unfinished.push_back(copy);
}

void cp_async_commit_group() { ++current_thread->copies.groups; }

void cp_async_wait_group(std::uint32_t pending) {
  Thread* t = current_thread;
  AsyncCopies& copies = t->copies;
  auto& unfinished = copies.unfinished;
  std::size_t finished = 0;
  while (finished < unfinished.size() &&
         std::uint64_t(unfinished[finished].group) + pending < copies.groups) {
    finish(t, unfinished[finished++]);
  }
  unfinished.erase(unfinished.begin(), unfinished.begin() + std::ptrdiff_t(finished));
}

}  // namespace libkernels::emulator
