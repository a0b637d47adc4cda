// What products in flight hold: registers of their threads, and pieces of shared memory.
#include <algorithm>
#include <bit>
#include <cstdio>

#include "kernels/ptx/emu/state.h"
#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::emulator {

void copy_place(const void* pc, char* text) {
  std::snprintf(text, kPlaceBytes, "%s", name_pc(pc).c_str());
}

// ---- Registers in flight ----------------------------------------------------------------------

void note_register_access(Thread* t, std::uintptr_t address, std::size_t bytes, bool write,
                          const void* pc) {
  WgmmaThread& mine = *t->wgmma;
  for (const HeldRegisters& h : mine.held) {
    if (!h.overlaps(address, bytes)) continue;
    const bool committed = h.last < mine.committed;
    char where[kPlaceBytes];
    copy_place(t->cta->warpgroups.groups[t->index / kThreadsOfGroup].at(h.last).pc, where);
    fail(cudaErrorLaunchFailure, pc,
         "register %zu of %s is %s before the product that %s it is done; expected "
         "%swgmma.wait_group"
         "\n  the product: %s",
         std::size_t(std::max(address, h.begin) - h.begin) / sizeof(std::uint32_t),
         h.sums ? "D" : "A", write ? "written" : "read", h.sums ? "writes" : "reads",
         committed ? "" : "wgmma.commit_group and ", where);
  }
  mine.touch(address - t->stack, bytes);
}

void WgmmaThread::touch(std::uintptr_t offset, std::size_t bytes) {
  if (words_.empty()) words_.resize(kStackBytes / sizeof(std::uint32_t));
  any_ = true;
  for (std::uintptr_t at = offset / sizeof(std::uint32_t);
       at * sizeof(std::uint32_t) < offset + bytes; ++at) {
    if (at < words_.size()) words_[at] = true;
  }
}
bool WgmmaThread::touched(std::uintptr_t offset, std::size_t bytes) const {
  if (!any_) return false;
  const auto first = words_.begin() + std::ptrdiff_t(offset / sizeof(std::uint32_t));
  return std::find(first, first + std::ptrdiff_t(bytes / sizeof(std::uint32_t)), true) !=
         first + std::ptrdiff_t(bytes / sizeof(std::uint32_t));
}
void WgmmaThread::clear_touched() {
  if (any_) std::fill(words_.begin(), words_.end(), false);
  any_ = false;
}

// ---- Pins -------------------------------------------------------------------------------------

void PinnedChunks::reset() {
  if (total_) std::fill(pins_.begin(), pins_.end(), 0);
  total_ = 0;
}
void PinnedChunks::pin(const std::vector<std::uint32_t>& offsets) {
  for (const std::uint32_t offset : offsets) ++pins_[offset / kChunkBytes];
  total_ += offsets.size();
}
void PinnedChunks::unpin(const std::vector<std::uint32_t>& offsets) {
  for (const std::uint32_t offset : offsets) --pins_[offset / kChunkBytes];
  total_ -= offsets.size();
}
bool PinnedChunks::look(std::size_t offset, std::size_t bytes) const {
  for (std::size_t at = offset / kChunkBytes; at * kChunkBytes < offset + bytes; ++at) {
    if (pins_[at]) return true;
  }
  return false;
}

void WrittenSwizzles::reset() {
  if (any_) std::fill(codes_.begin(), codes_.end(), 0);
  any_ = false;
}
void WrittenSwizzles::clear(std::size_t offset, std::size_t bytes) {
  for (std::size_t at = offset / kChunkBytes; at * kChunkBytes < offset + bytes; ++at) {
    codes_[at] = 0;
  }
}

void fail_pinned(const Cta& cta, const char* name, std::size_t offset, std::size_t bytes,
                 const void* pc) {
  const WgmmaProduct* reader = nullptr;
  for (std::uint32_t g = 0; g < kWarpgroups && !reader; ++g) {
    for (const WgmmaProduct& p : cta.warpgroups.groups[g].products) {
      const auto reads = [&](const std::vector<std::uint32_t>& chunks) {
        return std::any_of(chunks.begin(), chunks.end(), [&](std::uint32_t c) {
          return c < offset + bytes && offset < c + kChunkBytes;
        });
      };
      if (std::popcount(p.warps_waited) == kWarpsOfGroup ||
          (!reads(p.a_chunks) && !reads(p.b_chunks)))
        continue;
      reader = &p;
      break;
    }
  }
  char where[kPlaceBytes] = "?";
  if (reader) copy_place(reader->pc, where);
  fail(cudaErrorLaunchFailure, pc,
       "%s of %zu bytes at offset %zu of shared memory, which a wgmma.mma_async in flight reads: "
       "%d of 4 warps have waited for it; expected wgmma.wait_group by all four warps before "
       "the buffer is reused\n  the product: %s",
       name, bytes, offset, reader ? std::popcount(reader->warps_waited) : 0, where);
}

}  // namespace libkernels::emulator
