// What the emulated wgmma and setmaxnreg instructions call, and what the core keeps for them.
//
// A product is issued by the 128 threads of a warpgroup one after another; none waits for the
// others until wgmma.wait_group. Once all have issued it, its operands are judged and the shared
// memory they lie in is pinned: nobody may write there until all four warps have waited. It is
// computed as late as legal (for the first thread that waits for it), or as early. Registers of D
// hold NaN meanwhile, and whoever touches them, or those of A, before the wait is at fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernels/ptx/descriptor.cuh"
#include "kernels/ptx/emu/core.h"
#include "kernels/ptx/emu/mma_model.h"

namespace libkernels::emulator {

using emu::ptx::Major;

// What the instruction says by itself. One object an instantiation.
struct WgmmaForm {
  int n;
  MmaInput a, b;
  Major major_a, major_b;
  bool a_in_registers;
  bool operator==(const WgmmaForm&) const = default;
};

// ---- The front door's side --------------------------------------------------------------------

std::uint32_t shared_address(const void* p);
void wgmma_fence();
void wgmma_commit_group();
void wgmma_wait_group(int pending);
// a: a descriptor, or registers (four of them).
void wgmma_mma_async(const WgmmaForm& form, float* d, std::uint64_t a,
                     const std::uint32_t* a_registers, std::uint64_t b, bool scale_d);

void set_max_registers(int count, bool increase);

// ---- The core's side --------------------------------------------------------------------------

struct Cta;
struct Thread;

inline constexpr std::uint32_t kWarpsOfGroup = 4, kThreadsOfGroup = 128, kWarpgroups = 8;
inline constexpr std::uint32_t kChunkBytes = 16;  // what swizzles move

// D of one or more products of a warpgroup that add up in the same registers.
struct WgmmaSums {
  int n = 0;
  std::vector<float> d;  // [64, n]
  bool shown = false;    // the registers hold them, too, though nobody may look yet
};

// A product between its issue by the first thread and the wait of the last.
struct WgmmaProduct {
  const void* pc = nullptr;
  WgmmaForm form{};
  std::uint64_t a = 0, b = 0;  // descriptors
  bool scale_d = false, continues = false;
  const Thread* first = nullptr;         // whose operands these are
  std::uint32_t issued = 0, waited = 0;  // threads that have
  std::uint32_t warps_waited = 0;        // one bit each
  bool computed = false;
  std::shared_ptr<WgmmaSums> sums;
  std::vector<unsigned char> a_bytes;  // [64, 32] from registers
  std::vector<std::uint32_t>
      a_chunks;  // offsets in shared memory, [rows, 2]; or [k, ...], MN-major
  std::vector<std::uint32_t> b_chunks;
};

struct Warpgroup {
  std::deque<WgmmaProduct> products;
  std::uint64_t first = 0;    // number of products.front()
  std::uint64_t count = 0;    // of products that all threads have issued
  int registers = 0;          // a thread's, of setmaxnreg; 0: as launched
  int setting = 0;            // what some of its warps have asked for
  std::uint32_t arrived = 0;  // threads that have
  const void* setting_pc = nullptr;

  WgmmaProduct& at(std::uint64_t number) { return products[std::size_t(number - first)]; }
};

// Registers of one thread that a product will write (D) or reads (A).
struct HeldRegisters {
  std::uintptr_t begin = 0, bytes = 0;
  std::uint64_t last = 0;           // number of the youngest product that uses them
  std::shared_ptr<WgmmaSums> sums;  // null: A
  std::uint32_t a[4] = {};          // what A held when it was issued

  bool overlaps(std::uintptr_t other, std::size_t other_bytes) const {
    return other < begin + bytes && begin < other + other_bytes;
  }
};

class WgmmaThread {
 public:
  std::uint64_t issued = 0;  // products
  std::uint64_t waited = 0;  // products that it has waited for
  std::uint64_t target = 0;  // while it waits
  std::vector<std::uint64_t>
      groups;  // products issued up to each wgmma.commit_group, not waited for
  std::uint64_t committed = 0;
  bool fenced = false;
  std::vector<HeldRegisters> held;

  void touch(std::uintptr_t offset, std::size_t bytes);
  bool touched(std::uintptr_t offset, std::size_t bytes) const;
  void clear_touched();

 private:
  std::vector<bool> words_;  // of the stack, accessed since the last wgmma.fence
  bool any_ = false;
};

// How often products in flight read each 16 bytes of a CTA's shared memory.
class PinnedChunks {
 public:
  explicit PinnedChunks(std::size_t bytes) : pins_(bytes / kChunkBytes) {}
  void reset();
  void pin(const std::vector<std::uint32_t>& offsets);
  void unpin(const std::vector<std::uint32_t>& offsets);
  // Fast while there is none.
  bool any(std::size_t offset, std::size_t bytes) const { return total_ && look(offset, bytes); }

 private:
  bool look(std::size_t offset, std::size_t bytes) const;
  std::vector<std::uint16_t> pins_;
  std::size_t total_ = 0;
};

// The swizzle with which a tensor copy wrote each 16 bytes of a CTA's shared memory: a product that
// reads them with another one is wrong.
class WrittenSwizzles {
 public:
  explicit WrittenSwizzles(std::size_t bytes) : codes_(bytes / kChunkBytes) {}
  void reset();
  void note(std::size_t offset, std::uint8_t swizzle) {
    codes_[offset / kChunkBytes] = std::uint8_t(swizzle + 1);
    any_ = true;
  }
  // By something that knows of no swizzle. Fast while nobody does.
  void forget(std::size_t offset, std::size_t bytes) {
    if (any_) clear(offset, bytes);
  }
  static constexpr int kUnknown = -1;
  int at(std::size_t offset) const { return int(codes_[offset / kChunkBytes]) - 1; }

 private:
  void clear(std::size_t offset, std::size_t bytes);
  std::vector<std::uint8_t> codes_;  // plus 1
  bool any_ = false;
};

struct WarpgroupStates {
  Warpgroup groups[kWarpgroups];
  PinnedChunks pinned;
  WrittenSwizzles swizzles;
  explicit WarpgroupStates(std::size_t bytes) : pinned(bytes), swizzles(bytes) {}
  void reset();
};

// The name of a place in the program, for faults: those leave no strings behind.
inline constexpr std::size_t kPlaceBytes = 512;
void copy_place(const void* pc, char* text);

// Does the thread's warpgroup have four warps, and are they all alive?
void check_warpgroup(const Thread& thread, const char* name, const void* pc);
// An access of the running thread to its own stack.
void note_register_access(Thread* thread, std::uintptr_t address, std::size_t bytes, bool write,
                          const void* pc);
// Faults: `name` writes to shared memory that a product in flight reads.
[[noreturn]] void fail_pinned(const Cta& cta, const char* name, std::size_t offset,
                              std::size_t bytes, const void* pc);
// The thread has exited: faults if a product waits for it, or it has not waited for one.
void leave_warpgroup(Thread* thread);
// "wait in wgmma.wait_group ..." for reports on deadlocks.
void describe_wgmma_wait(const Thread& thread, char* text, std::size_t size);

}  // namespace libkernels::emulator
