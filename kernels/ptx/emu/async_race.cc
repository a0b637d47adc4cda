// Races and proxies of asynchronous work: what the copy engine touches has to be ordered after
// what threads did there, and fenced; and threads have to wait for what it did.
#include <algorithm>
#include <cstdio>

#include "kernels/ptx/emu/async_state.h"

namespace libkernels::emulator {
namespace {

constexpr std::uint64_t kMaskBits = std::uint64_t(0xff) << Access::kMaskAt;

Access with_mask(const Access& access, std::uint32_t mask) {
  return {(access.bits & ~kMaskBits) | std::uint64_t(mask) << Access::kMaskAt};
}

const Cta* find_cta(const Thread& t, std::uint32_t incarnation) {
  for (const Cta* cta : t.cta->cluster->ctas) {
    if (cta->incarnation == incarnation) return cta;
  }
  return nullptr;
}

// May the async proxy see what the generic one wrote here?
bool is_fenced(const Thread& t, const Access& old, bool shared) {
  const Cta* cta = find_cta(t, old.cta());
  if (cta) {
    const Thread& writer = cta->threads[old.thread()];
    if (old.clock() <= (shared ? writer.fenced_shared : writer.fenced_global)) return true;
  }
  return !shared && t.fenced_known && t.fenced_known->covers(old);
}

// Judges one access against the remembered ones, cell by cell. Neighbouring cells mostly hold the
// same, so what was found about one is kept.
class Judge {
 public:
  Judge(Thread* t, const AsyncAccess& access, std::uint64_t oldest_valid, const Region* region)
      : t_(*t), access_(access), oldest_valid_(oldest_valid), region_(region) {}

  void check(RaceCell* cells, std::size_t offset, std::size_t bytes) {
    offset_ = offset;
    bytes_ = bytes;
    for (std::size_t at = offset, end = offset + bytes; at < end;) {
      const std::size_t cell = at / RaceCell::kBytes;
      const std::size_t stop = std::min(end, (cell + 1) * RaceCell::kBytes);
      const std::uint32_t mask =
          (1u << (stop - cell * RaceCell::kBytes)) - (1u << at % RaceCell::kBytes);
      check_cell(&cells[cell], with_mask(access_.stamp, mask));
      at = stop;
    }
  }

 private:
  void check_cell(RaceCell* cell, Access now) {
    int place = -1;
    for (int i = 0; i < RaceCell::kAccesses; ++i) {
      const Access old = cell->accesses[i];
      if (old.bits < oldest_valid_) {
        if (place < 0) place = i;
        continue;
      }
      const bool ordered = judge(old, (old.mask() & now.mask()) != 0, now.write());
      const bool covered = (old.mask() & ~now.mask()) == 0 && (now.write() || !old.write());
      if (!ordered || !covered) continue;
      if (place >= 0) {
        cell->accesses[i] = Access{0};
      } else {
        place = i;
      }
    }
    if (place < 0) place = int(now.thread() % RaceCell::kAccesses);
    cell->accesses[place] = now;
  }

  bool judge(const Access& old, bool overlaps, bool write) {
    const std::uint64_t key = old.bits & ~kMaskBits;
    if (key != known_) {
      known_ = key;
      ordered_ = ordered_before(old, t_);
      fenced_ = !access_.proxy || !old.write() || old.agent() || old.clock() == Access::kMaxClock ||
                is_fenced(t_, old, region_ == nullptr);
    }
    if (!overlaps || (!write && !old.write())) return ordered_;
    if (!ordered_) report_race(old, write);
    if (!fenced_) report_proxy(old, write);
    return true;
  }

  [[noreturn]] void report_race(const Access& old, bool write) {
    char who[kDescription];
    describe_access(t_, old, who, sizeof(who));
    fail(cudaErrorLaunchFailure, access_.pc,
         "race on %s: %s %ss %zu bytes at offset %zu, after a %s by %s that nothing orders before "
         "it; expected %s",
         region_ ? "global memory" : "shared memory", access_.name, write ? "write" : "read",
         bytes_, offset_, old.write() ? "write" : "read", who,
         old.agent() ? "a wait for that copy's completion before"
                     : "a barrier or an mbarrier between them");
  }

  [[noreturn]] void report_proxy(const Access& old, bool write) {
    char who[kDescription];
    describe_access(t_, old, who, sizeof(who));
    fail(cudaErrorLaunchFailure, access_.pc,
         "missing proxy fence: %s %ss %zu bytes at offset %zu of %s through the async proxy, after "
         "a write by %s through the generic one; expected %s by the writing thread, and then a "
         "barrier",
         access_.name, write ? "write" : "read", bytes_, offset_,
         region_ ? "global memory" : "shared memory", who,
         region_ ? "fence.proxy.async.global" : "fence.proxy.async.shared::cta");
  }

  const Thread& t_;
  const AsyncAccess& access_;
  const std::uint64_t oldest_valid_;
  const Region* region_;
  std::size_t offset_ = 0, bytes_ = 0;
  std::uint64_t known_ = 0;
  bool ordered_ = true, fenced_ = true;
};

std::uint64_t oldest(std::uint32_t incarnation) {
  return std::uint64_t(incarnation) << Access::kCtaAt;
}

// One 32-byte sector at a time, as for threads' accesses.
void count(std::uintptr_t address, std::size_t bytes, bool write) {
  constexpr std::uintptr_t kSector = 32;
  Counters& c = machine().counters;
  const std::uint64_t sectors = (address + bytes + kSector - 1) / kSector - address / kSector;
  (write ? c.global_bytes_written : c.global_bytes_read) += bytes;
  (write ? c.global_write_sectors : c.global_read_sectors) += sectors;
}

}  // namespace

void check_async_shared(Thread* t, Cta* target, std::uint32_t offset, std::uint32_t bytes,
                        const AsyncAccess& access) {
  const Launch& l = machine().launch;
  const bool write = access.stamp.write();
  if (offset + bytes > l.request.smem) {
    fail(
        cudaErrorIllegalAddress, access.pc,
        "out of bounds: %s %ss %u bytes at offset %u of shared memory; expected them to end within "
        "the %zu bytes of the launch",
        access.name, write ? "write" : "read", bytes, offset, l.request.smem);
  }
  if (write && target->warpgroups.pinned.any(offset, bytes)) {
    fail_pinned(*target, access.name, offset, bytes, access.pc);
  }
  if (target->has_mbarriers) check_no_mbarrier(*target, offset, bytes, write, access.pc);
  if (!l.request.hooked) return;
  if (!write) check_written(*target, offset, bytes, access.pc);
  if (!l.race_checks) return;
  Judge(t, access, oldest(t->cta->first_incarnation), nullptr)
      .check(target->shared_shadow, offset, bytes);
}

void check_async_global(Thread* t, std::uintptr_t address, std::size_t bytes,
                        const AsyncAccess& access) {
  const Launch& l = machine().launch;
  const bool write = access.stamp.write();
  Region* region = find_region(address);
  if (!region || !region->device || !region->holds(address, bytes)) {
    char where[512];
    describe_address(region ? region->begin + region->bytes : address, where, sizeof(where));
    fail(cudaErrorIllegalAddress, access.pc, "out of bounds: %s %ss %zu bytes at 0x%zx, %s",
         access.name, write ? "write" : "read", bytes, std::size_t(address), where);
  }
  if (write && !region->writable) {
    fail(cudaErrorIllegalAddress, access.pc,
         "%s writes %zu bytes at 0x%zx, in memory that is read-only", access.name, bytes,
         std::size_t(address));
  }
  if (l.request.pdl && !t->waited_for_grid) check_waited_for_grid(t, access.pc);
  if (l.counting) count(address, bytes, write);
  RaceCell* shadow = l.request.hooked ? shadow_of(region) : nullptr;
  if (!shadow) return;
  const std::uintptr_t origin = region->begin / RaceCell::kBytes * RaceCell::kBytes;
  Judge(t, access, oldest(l.first_incarnation), region).check(shadow, address - origin, bytes);
}

void restamp_shared(Cta* target, std::uint32_t offset, std::uint32_t bytes, Access in_flight,
                    Access landed) {
  RaceCell* cells = target->shared_shadow;
  for (std::size_t c = offset / RaceCell::kBytes; c * RaceCell::kBytes < offset + bytes; ++c) {
    for (Access& old : cells[c].accesses) {
      if ((old.bits & ~kMaskBits) == in_flight.bits) old = with_mask(landed, old.mask());
    }
  }
}

void describe_access(const Thread& t, const Access& access, char* text, std::size_t size) {
  const dim3 grid = machine().launch.request.grid, block = machine().launch.request.block;
  const std::uint64_t number = cta_of(access);
  std::uint32_t i = access.thread();
  bool has_thread = !access.agent();
  char copy[64] = "";
  if (access.agent()) {
    const Cta* cta = find_cta(t, access.cta());
    const bool known = cta && cta->async && i < cta->async->agent_of.size();
    const std::uint32_t what = known ? cta->async->agent_of[i] : 0;
    if (!known) {
      std::snprintf(copy, sizeof(copy), "an asynchronous copy of ");
    } else if (what & kStoresOf) {
      std::snprintf(copy, sizeof(copy), "a bulk store of ");
      i = what & ~kStoresOf;
      has_thread = true;
    } else {
      std::snprintf(copy, sizeof(copy), "an asynchronous copy (mbarrier at offset %u) of ", what);
    }
  }
  const int used =
      std::snprintf(text, size, "%sCTA (%u, %u, %u)", copy, unsigned(number % grid.x),
                    unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y));
  if (!has_thread) return;
  std::snprintf(text + used, size - std::size_t(used), ", thread (%u, %u, %u)", i % block.x,
                i / block.x % block.y, i / block.x / block.y);
}

}  // namespace libkernels::emulator
