#include "kernels/ptx/emu/memory.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::emulator {
namespace {

constexpr std::size_t kPage = 4096;
// Buffers start at this offset from a page: aligned as cudaMalloc promises, and no better.
constexpr std::size_t kAlignment = 256;
// Poisoning touches pages, and huge buffers must stay sparse: only this much is filled with 0xFF,
// the rest reads as zero.
constexpr std::size_t kPoisonBytes = std::size_t(64) << 20;
// Freed buffers whose addresses are kept from reuse, so that a late access is told apart: so many,
// and so many bytes of address space.
constexpr std::size_t kQuarantine = 256;
constexpr std::size_t kQuarantineBytes = std::size_t(1) << 42;

// Every region, by its first byte. Guarded by a mutex; a launch remembers hits, and forgets them
// when the generation moves.
struct Regions {
  std::mutex mutex;
  std::map<std::uintptr_t, std::unique_ptr<Region>> by_begin;
  std::deque<Region> freed;
  std::size_t freed_bytes = 0;
  std::vector<std::unique_ptr<Region>> removed;  // a running launch may still look at them
  std::atomic<std::uint64_t> generation{1};
};
Regions& regions() {
  static auto* r = new Regions;  // never destroyed: other statics may free memory late
  return *r;
}

Region* find_locked(Regions& r, std::uintptr_t a) {
  auto it = r.by_begin.upper_bound(a);
  if (it == r.by_begin.begin()) return nullptr;
  Region* region = std::prev(it)->second.get();
  return a - region->begin < region->bytes ? region : nullptr;
}

std::size_t shadow_bytes(const Region& r) {
  const std::size_t lead = r.begin % RaceCell::kBytes;
  return (lead + r.bytes + RaceCell::kBytes - 1) / RaceCell::kBytes * sizeof(RaceCell);
}

void unmap_shadow(Region* r) {
  if (r->shadow) munmap(r->shadow, shadow_bytes(*r));
  r->shadow = nullptr;
}

void add(const Region& region) {
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  r.by_begin[region.begin] = std::make_unique<Region>(region);
  ++r.generation;
}

// Takes the region out; an empty one if there is none.
Region remove(std::uintptr_t begin) {
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  const auto it = r.by_begin.find(begin);
  if (it == r.by_begin.end()) return {};
  const Region region = *it->second;
  unmap_shadow(it->second.get());
  r.removed.push_back(std::move(it->second));
  r.by_begin.erase(it);
  ++r.generation;
  return region;
}

}  // namespace

// ---- The interface of emulator.h --------------------------------------------------------------

cudaError_t memory_allocate(void** p, std::size_t bytes) {
  if (!p) return cudaErrorInvalidValue;
  *p = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::size_t mapped = (kAlignment + bytes + kPage - 1) / kPage * kPage + 2 * kPage;
  if (mapped < bytes) return cudaErrorMemoryAllocation;
  void* mapping =
      mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return cudaErrorMemoryAllocation;
  char* page = static_cast<char*>(mapping) + kPage;
  if (mprotect(page, mapped - 2 * kPage, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapped);
    return cudaErrorMemoryAllocation;
  }
  *p = page + kAlignment;
  std::memset(*p, 0xff, std::min(bytes, kPoisonBytes));
  add({.begin = reinterpret_cast<std::uintptr_t>(*p),
       .bytes = bytes,
       .mapping = mapping,
       .mapped = mapped});
  return cudaSuccess;
}

cudaError_t memory_free(void* p) {
  if (!p) return cudaSuccess;
  const Region region = remove(reinterpret_cast<std::uintptr_t>(p));
  if (!region.mapping) return cudaErrorInvalidValue;
  // Gives the pages back, and keeps the addresses.
  mmap(region.mapping, region.mapped, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  r.freed.push_back(region);
  r.freed_bytes += region.mapped;
  while (r.freed.size() > kQuarantine || r.freed_bytes > kQuarantineBytes) {
    munmap(r.freed.front().mapping, r.freed.front().mapped);
    r.freed_bytes -= r.freed.front().mapped;
    r.freed.pop_front();
  }
  return cudaSuccess;
}

Buffer find_buffer(const void* p) {
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  const Region* region = find_locked(r, reinterpret_cast<std::uintptr_t>(p));
  if (!region || !region->device) return {};
  return {
      .data = reinterpret_cast<const void*>(region->begin), .bytes = region->bytes, .found = true};
}

void register_buffer(const void* p, std::size_t bytes, bool writable) {
  if (bytes) {
    add({.begin = reinterpret_cast<std::uintptr_t>(p), .bytes = bytes, .writable = writable});
  }
}

void unregister_buffer(const void* p) { remove(reinterpret_cast<std::uintptr_t>(p)); }

// ---- For the core -----------------------------------------------------------------------------

Region* find_region(std::uintptr_t a) {
  // Kernels read one buffer and write another; launches are serialised, so these are theirs.
  static Region* last[2] = {};
  static std::uint64_t seen = 0;
  Regions& r = regions();
  const std::uint64_t generation = r.generation.load(std::memory_order_acquire);
  if (seen == generation) {
    for (Region* region : last) {
      if (region && a - region->begin < region->bytes) return region;
    }
  } else {
    last[0] = last[1] = nullptr;
  }
  const std::lock_guard lock(r.mutex);
  seen = r.generation;
  Region* region = find_locked(r, a);
  if (region) last[1] = last[0], last[0] = region;
  return region;
}

void map_shadow(Region* region) {
  region->shadow_tried = true;
  void* p = mmap(nullptr, shadow_bytes(*region), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p != MAP_FAILED) region->shadow = static_cast<RaceCell*>(p);
}

void clear_all_shadows() {
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  for (auto& [begin, region] : r.by_begin) {
    unmap_shadow(region.get());
    region->shadow_tried = false;
  }
}

namespace {

void describe_neighbour(std::uintptr_t a, const Region& region, char* text, std::size_t size) {
  const bool past = a >= region.begin;
  const std::size_t distance = past ? a - region.begin - region.bytes : region.begin - a;
  constexpr std::size_t kFar = 64 * 1024;
  std::snprintf(text, size, "%zu bytes %s a buffer of %zu bytes at 0x%zx%s", distance,
                past ? "past the end of" : "before", region.bytes, std::size_t(region.begin),
                distance > kFar ? ", perhaps a pointer of the host" : "");
}

}  // namespace

void describe_address(std::uintptr_t a, char* text, std::size_t size) {
  constexpr std::uintptr_t kNull = 4096;
  constexpr std::size_t kNear = std::size_t(1) << 30;
  if (a < kNull) {
    std::snprintf(text, size, "a null pointer");
    return;
  }
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  for (const Region& freed : r.freed) {
    if (!freed.holds(a, 1)) continue;
    std::snprintf(text, size, "%zu bytes into a buffer of %zu bytes at 0x%zx that was freed",
                  a - freed.begin, freed.bytes, std::size_t(freed.begin));
    return;
  }
  const Region* nearest = nullptr;
  std::size_t least = kNear;
  for (const auto& [begin, region] : r.by_begin) {
    if (!region->device) continue;
    const std::size_t distance = a >= begin ? a - (begin + region->bytes) : begin - a;
    if (distance < least) least = distance, nearest = region.get();
  }
  if (nearest) {
    describe_neighbour(a, *nearest, text, size);
  } else {
    std::snprintf(text, size, "host memory or nothing at all; expected a device buffer");
  }
}

namespace {

// Makes the program's constants legal to read, once.
void register_program() {
  static const bool once = [] {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void*) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& h = info->dlpi_phdr[i];
            const bool constant = h.p_type == PT_LOAD && !(h.p_flags & PF_W);
            if (!constant && h.p_type != PT_GNU_RELRO) continue;
            add({.begin = info->dlpi_addr + h.p_vaddr,
                 .bytes = h.p_memsz,
                 .writable = false,
                 .device = false});
          }
          return 0;
        },
        nullptr);
    return true;
  }();
  (void)once;
}

}  // namespace

void begin_launch() {
  register_program();
  Regions& r = regions();
  const std::lock_guard lock(r.mutex);
  r.removed.clear();
  ++r.generation;
}

}  // namespace libkernels::emulator
