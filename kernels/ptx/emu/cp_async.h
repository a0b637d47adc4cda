// Copies from global to shared memory that have not been waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libkernels::emulator {

// cp.async of `bytes`, of which src_size are read. `name` is the instruction's, for faults.
void cp_async(void* dst, const void* src, std::uint32_t bytes, std::uint32_t src_size,
              const char* name);
void cp_async_commit_group();
void cp_async_wait_group(std::uint32_t pending);

inline constexpr std::uint32_t kMaxCopyBytes = 16;
inline constexpr std::uint32_t kCopyGranule = 4;  // copies are multiples of it, aligned

struct AsyncCopy {
  std::size_t offset;  // in shared memory
  const void* source;
  const void* pc;
  std::uint32_t bytes, src_size;
  std::uint32_t group;
  bool arrived;
  unsigned char data[kMaxCopyBytes];  // what the source held when the copy was issued
};

// Of one thread.
struct AsyncCopies {
  std::vector<AsyncCopy> unfinished;  // oldest first
  std::uint32_t groups = 0;           // committed

  void reset() {
    if (!unfinished.empty()) unfinished.clear();
    groups = 0;
  }
};

// Destinations of a CTA's unfinished copies.
class BytesInFlight {
 public:
  explicit BytesInFlight(std::size_t bytes) : granules_(bytes / kCopyGranule) {}
  void reset();
  void add(const AsyncCopy& copy) { set(copy, true); }
  void remove(const AsyncCopy& copy) { set(copy, false); }
  // Is any of these bytes a destination? Fast while there is none.
  bool touch(std::size_t offset, std::size_t bytes) const { return count_ && look(offset, bytes); }

 private:
  void set(const AsyncCopy& copy, bool in_flight);
  bool look(std::size_t offset, std::size_t bytes) const;
  std::vector<bool> granules_;
  std::size_t count_ = 0;  // of copies
};

struct Thread;
// A fault: `thread` touches what a copy of its CTA has not been waited for.
[[noreturn]] void fail_in_flight(const Thread& thread, std::size_t offset, std::size_t bytes,
                                 bool write, const void* pc);

}  // namespace libkernels::emulator
