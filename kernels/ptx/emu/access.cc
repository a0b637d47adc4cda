// Judges every load and store: is the address legal, aligned, initialised, free of races?
#include <algorithm>
#include <cstring>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

const char* verb(bool write) { return write ? "write" : "read"; }

[[noreturn]] void fail_address(std::uintptr_t a, std::size_t bytes, bool write, const void* pc) {
  char where[512];
  describe_address(a, where, sizeof(where));
  fail(cudaErrorIllegalAddress, pc, "out of bounds: %s of %zu bytes at 0x%zx, %s", verb(write),
       bytes, std::size_t(a), where);
}

// ---- Shared memory ----------------------------------------------------------------------------

// Bits [first, first + count) of a byte; count from 1 to 8 - first.
std::uint8_t bits_of_byte(std::size_t first, std::size_t count) {
  return std::uint8_t(((1u << count) - 1) << first);
}

// Calls step(byte, bits) for every byte of the bitmap that covers [offset, offset + bytes).
template <class Byte, class Step>
void for_bitmap(Byte* bitmap, std::size_t offset, std::size_t bytes, Step step) {
  for (std::size_t at = offset; at < offset + bytes;) {
    const std::size_t count = std::min(8 - at % 8, offset + bytes - at);
    step(bitmap[at / 8], bits_of_byte(at % 8, count));
    at += count;
  }
}

}  // namespace

void mark_written(Cta* cta, std::size_t offset, std::size_t bytes) {
  for_bitmap(cta->shared_written.data(), offset, bytes,
             [](std::uint8_t& b, std::uint8_t bits) { b |= bits; });
}

void check_written(const Cta& cta, std::size_t offset, std::size_t bytes, const void* pc) {
  bool written = true;
  for_bitmap(cta.shared_written.data(), offset, bytes,
             [&](const std::uint8_t& b, std::uint8_t bits) { written &= (b & bits) == bits; });
  if (written) return;
  fail(cudaErrorLaunchFailure, pc,
       "uninitialised shared memory: read of %zu bytes at offset %zu, which no thread of the CTA "
       "has "
       "written",
       bytes, offset);
}

void check_shared(Thread* t, Cta* cta, std::size_t offset, std::size_t bytes, bool write,
                  const void* pc) {
  Launch& l = machine().launch;
  if (offset + bytes > l.request.smem) {
    fail(cudaErrorIllegalAddress, pc,
         "out of bounds: %s of %zu bytes at offset %zu of shared memory; expected it to end within "
         "the %zu bytes of the launch",
         verb(write), bytes, offset, l.request.smem);
  }
  if (write) l.idle = 0;
  if (cta->has_mbarriers) check_no_mbarrier(*cta, offset, bytes, write, pc);
  if (l.counting) {
    log_access(t, reinterpret_cast<std::uintptr_t>(cta->shared) + offset, bytes, true, write, pc);
  }
  if (cta->in_flight.touch(offset, bytes)) fail_in_flight(*t, *cta, offset, bytes, write, pc);
  if (write) {
    if (cta->warpgroups.pinned.any(offset, bytes)) fail_pinned(*cta, "write", offset, bytes, pc);
    cta->warpgroups.swizzles.forget(offset, bytes);
  }
  // Without hooks most writes go unseen, so that neither of these could be judged.
  if (!l.request.hooked) return;
  write ? mark_written(cta, offset, bytes) : check_written(*cta, offset, bytes, pc);
  if (l.race_checks) {
    check_races(t, cta->shared_shadow, offset, bytes, write, Space::shared, pc, nullptr);
  }
}

// ---- Global memory ----------------------------------------------------------------------------

RaceCell* shadow_of(Region* region) {
  if (!machine().launch.race_checks || !region->device || !region->writable) return nullptr;
  if (!region->shadow && !region->shadow_tried) map_shadow(region);
  return region->shadow;
}

namespace {

void check_global(Thread* t, Region* region, Space space, std::uintptr_t a, std::size_t bytes,
                  bool write, const void* pc) {
  if (write && !region->writable) {
    fail(cudaErrorIllegalAddress, pc, "write of %zu bytes at 0x%zx, in memory that is read-only",
         bytes, std::size_t(a));
  }
  if (!region->device) return;
  Launch& l = machine().launch;
  if (write) l.idle = 0;
  if (l.request.pdl && !t->waited_for_grid) check_waited_for_grid(t, pc);
  if (l.counting) log_access(t, a, bytes, false, write, pc);
  if (!shadow_of(region)) return;
  const std::uintptr_t origin = region->begin / RaceCell::kBytes * RaceCell::kBytes;
  check_races(t, region->shadow, a - origin, bytes, write, space, pc, region);
}

// The kernel's parameters, and what compilers keep of the caller's frame.
bool is_params(std::uintptr_t a, std::size_t bytes) {
  const LaunchRequest& r = machine().launch.request;
  const std::uintptr_t offset = a - reinterpret_cast<std::uintptr_t>(r.params);
  return offset < r.params_bytes && bytes <= r.params_bytes - offset;
}

}  // namespace

void check_access(Thread* t, Space space, const void* p, std::size_t bytes, bool write,
                  const void* pc) {
  if (++t->accesses % kAccessesPerTurn == 0) make_way(t, pc, false);
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  if (a - t->stack < kStackBytes) {
    if (space == Space::generic) {
      if (t->wgmma) [[unlikely]]
        note_register_access(t, a, bytes, write, pc);
      return;
    }
    fail(cudaErrorIllegalAddress, pc, "%s of %zu bytes of a local variable through ld/st.%s",
         verb(write), bytes, space == Space::shared ? "shared" : "global");
  }
  const std::size_t offset = a - reinterpret_cast<std::uintptr_t>(t->cta->shared);
  if (offset < kSharedBytes) {
    if (space == Space::generic || space == Space::shared) {
      return check_shared(t, t->cta, offset, bytes, write, pc);
    }
    fail(cudaErrorIllegalAddress, pc, "%s of %zu bytes of shared memory through ld/st.global",
         verb(write), bytes);
  }
  Region* region = find_region(a);
  if (region && region->holds(a, bytes) && space != Space::shared) {
    return check_global(t, region, space, a, bytes, write, pc);
  }
  if (!write && space == Space::generic && is_params(a, bytes)) return;
  if (space == Space::shared) {
    fail(cudaErrorIllegalAddress, pc,
         "%s of %zu bytes at 0x%zx through ld/st.shared: expected the CTA's shared memory",
         verb(write), bytes, std::size_t(a));
  }
  fail_address(region ? region->begin + region->bytes : a, bytes, write, pc);
}

// ---- ld and st --------------------------------------------------------------------------------

namespace {

[[noreturn]] void fail_alignment(const void* p, std::size_t bytes, bool write, const void* pc) {
  fail(cudaErrorMisalignedAddress, pc,
       "misaligned: %s of %zu bytes at 0x%zx; expected a multiple of %zu", verb(write), bytes,
       std::size_t(reinterpret_cast<std::uintptr_t>(p)), bytes);
}

void check_instruction(Space space, const void* p, std::size_t bytes, bool write, const void* pc) {
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) fail_alignment(p, bytes, write, pc);
  check_access(current_thread, space, p, bytes, write, pc);
}

}  // namespace

template <class T>
T load(Space space, const T* p) {
  check_instruction(space, p, sizeof(T), false, __builtin_return_address(0));
  return *p;
}
template <class T>
void store(Space space, T* p, T v) {
  check_instruction(space, p, sizeof(T), true, __builtin_return_address(0));
  *p = v;
}
template std::uint8_t load(Space, const std::uint8_t*);
template std::uint16_t load(Space, const std::uint16_t*);
template std::uint32_t load(Space, const std::uint32_t*);
template uint2 load(Space, const uint2*);
template uint4 load(Space, const uint4*);
template void store(Space, std::uint8_t*, std::uint8_t);
template void store(Space, std::uint16_t*, std::uint16_t);
template void store(Space, std::uint32_t*, std::uint32_t);
template void store(Space, uint2*, uint2);
template void store(Space, uint4*, uint4);

void load_bytes(Space space, void* to, const void* p, std::size_t bytes) {
  check_instruction(space, p, bytes, false, __builtin_return_address(0));
  std::memcpy(to, p, bytes);
}
void store_bytes(Space space, void* p, const void* from, std::size_t bytes) {
  check_instruction(space, p, bytes, true, __builtin_return_address(0));
  std::memcpy(p, from, bytes);
}

namespace {

template <class T>
void check_poll(Thread* t, const T* p, const void* pc) {
  check_instruction(Space::global_sync, p, sizeof(*p), false, pc);
  if (t->polled == p && t->polled_value == *p) make_way(t, pc, true);
  t->polled = p;
  t->polled_value = *p;
}

}  // namespace

template <class T>
T load_acquire(const T* p) {
  check_poll(current_thread, p, __builtin_return_address(0));
  acquire_at(current_thread, p);
  return *p;
}
template <class T>
void store_release(T* p, T v) {
  check_instruction(Space::global_sync, p, sizeof(*p), true, __builtin_return_address(0));
  release_at(current_thread, p);
  *p = v;
}
template std::uint32_t load_acquire(const std::uint32_t*);
template std::uint64_t load_acquire(const std::uint64_t*);
template void store_release(std::uint32_t*, std::uint32_t);
template void store_release(std::uint64_t*, std::uint64_t);

template <class T>
T load_relaxed(const T* p) {
  check_poll(current_thread, p, __builtin_return_address(0));
  return *p;
}
template <class T>
void store_relaxed(T* p, T v) {
  check_instruction(Space::global_sync, p, sizeof(*p), true, __builtin_return_address(0));
  *p = v;
}
template std::uint64_t load_relaxed(const std::uint64_t*);
template void store_relaxed(std::uint64_t*, std::uint64_t);

std::uint32_t fetch_add(std::uint32_t* p, std::uint32_t v) {
  check_instruction(Space::global_sync, p, sizeof(*p), true, __builtin_return_address(0));
  const std::uint32_t old = *p;
  *p += v;
  return old;
}

void* dynamic_shared(std::size_t bytes) {
  const std::size_t launched = machine().launch.request.smem;
  if (bytes > launched) {
    fail(cudaErrorIllegalAddress, __builtin_return_address(0),
         "dynamic_smem() of %zu bytes; expected no more than the %zu bytes of the launch", bytes,
         launched);
  }
  return current_thread->cta->shared;
}

// ---- Control ----------------------------------------------------------------------------------

void require_sm(int cc, const char* instruction) {
  const DeviceProperties& p = current_profile();
  if (p.cc_major * 10 + p.cc_minor >= cc) return;
  fail(cudaErrorLaunchFailure, __builtin_return_address(0),
       "%s needs sm_%d; the emulated device is %d.%d", instruction, cc, p.cc_major, p.cc_minor);
}

void griddepcontrol_wait() {
  require_sm(90, "griddepcontrol.wait");
  Thread* t = current_thread;
  t->waited_for_grid = true;
  t->cta->grid_waits.push_back(
      Access::pack(t->cta->incarnation, t->warp->clock.clock, t->index, 0, false, false));
}

// Its own wait, or another thread's that something orders before.
void check_waited_for_grid(Thread* t, const void* pc) {
  for (const Access& wait : t->cta->grid_waits) t->waited_for_grid |= ordered_before(wait, *t);
  if (t->waited_for_grid) return;
  fail(cudaErrorLaunchFailure, pc,
       "access to global memory before griddepcontrol.wait, in a kernel launched with pdl; "
       "expected a wait by this thread, or by one that a barrier orders before it");
}

void griddepcontrol_launch_dependents() { require_sm(90, "griddepcontrol.launch_dependents"); }

}  // namespace libkernels::emulator
