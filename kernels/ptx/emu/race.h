// Who touched which bytes last, and is that ordered before what touches them now?
//
// Every 8 bytes of shared or global memory have a cell that remembers up to four accesses. An
// access is judged against them with the clocks of its warp (WarpClock). Forgetting one when a cell
// is full may hide a race; nothing makes one up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace libkernels::emulator {

// One remembered access, packed; the CTA comes first, so that a comparison finds the stale ones.
struct Access {
  static constexpr int kClockBits = 18, kThreadBits = 10, kMaskBits = 8;
  static constexpr int kSyncAt = 1;
  static constexpr int kAgentAt = kSyncAt + 1;
  static constexpr int kMaskAt = kAgentAt + 1;
  static constexpr int kThreadAt = kMaskAt + kMaskBits;
  static constexpr int kClockAt = kThreadAt + kThreadBits;
  static constexpr int kCtaAt = kClockAt + kClockBits;
  static constexpr std::uint32_t kMaxClock = (1u << kClockBits) - 1;
  static constexpr std::uint32_t kMaxCta = (1u << (64 - kCtaAt)) - 1;

  std::uint64_t bits;

  static Access pack(std::uint32_t cta, std::uint32_t clock, std::uint32_t thread,
                     std::uint32_t mask, bool sync, bool write) {
    return {std::uint64_t(cta) << kCtaAt | std::uint64_t(clock) << kClockAt |
            std::uint64_t(thread) << kThreadAt | std::uint64_t(mask) << kMaskAt |
            std::uint64_t(sync) << kSyncAt | std::uint64_t(write)};
  }
  bool write() const { return bits & 1; }
  bool sync() const { return bits >> kSyncAt & 1; }    // ld.acquire, st.release
  bool agent() const { return bits >> kAgentAt & 1; }  // of asynchronous work, not a thread
  std::uint32_t mask() const { return bits >> kMaskAt & 0xff; }
  std::uint32_t thread() const { return bits >> kThreadAt & 0x3ff; }
  std::uint32_t clock() const { return bits >> kClockAt & kMaxClock; }
  std::uint32_t cta() const { return std::uint32_t(bits >> kCtaAt); }  // incarnation, never 0
};

struct RaceCell {
  static constexpr int kAccesses = 4;
  static constexpr std::uintptr_t kBytes = 8;
  Access accesses[kAccesses];
};

// What is known, through ld.acquire, of what any threads of the grid did: a vector clock, sparse
// because a grid has many warps. Shared, and never changed once it is published.
class Knowledge {
 public:
  using Pointer = std::shared_ptr<const Knowledge>;  // null: nothing

  static constexpr int kWarps = 32;
  struct CtaClock {
    std::uint64_t who;  // incarnation
    std::array<std::uint32_t, kWarps> vc;
    bool operator==(const CtaClock&) const = default;
  };
  // Of a thread alone: what no synchronisation of its warp has covered yet.
  struct ThreadClock {
    std::uint64_t who;
    std::uint32_t clock;
    bool operator==(const ThreadClock&) const = default;
  };
  static ThreadClock of_thread(std::uint32_t cta, std::uint32_t thread, std::uint32_t clock,
                               bool agent = false) {
    return {(std::uint64_t(cta) << 1 | agent) << Access::kThreadBits | thread, clock};
  }

  Knowledge(std::vector<CtaClock> ctas, std::vector<ThreadClock> threads)  // ascending by who
      : ctas_(std::move(ctas)), threads_(std::move(threads)) {}
  bool covers(const Access& access) const;
  bool knows(std::uint32_t cta) const;  // anything of it
  static Pointer join(const Pointer& a, const Pointer& b);

 private:
  // Long chains of CTAs would need memory without end: beyond this, everything counts as known.
  static constexpr std::size_t kMaxCtas = 1024;

  std::vector<CtaClock> ctas_;
  std::vector<ThreadClock> threads_;
  bool everything_ = false;
};

struct ReleasedClock;

// What one warp knows of its CTA's past. `clock` stamps its accesses and grows at every release.
struct WarpClock {
  static constexpr int kWarps = 32, kLanes = 32;
  std::uint32_t clock;
  std::uint32_t floor;       // lanes know all that the warp did up to this clock
  std::uint32_t vc[kWarps];  // and what the CTA's other warps did up to these
  bool partial;              // since the last full synchronisation, some lanes met others:
  std::uint32_t seen[kLanes][kLanes];  // lane t knows what lane u did up to seen[t][u]
  bool acquired = false;               // some lanes know of more:
  Knowledge::Pointer known[kLanes];    // what ld.acquire told each

  void reset();
  void sync_lanes(std::uint32_t mask, bool all);
  // Everything before this point, for others to acquire; who acquires has released, too.
  void release_into(ReleasedClock* out, std::uint32_t own_index);
  void acquire(const ReleasedClock& in);
  void tick();

 private:
  void share_known(std::uint32_t mask);
};

// What arrives at a barrier.
struct ReleasedClock {
  std::uint32_t vc[WarpClock::kWarps] = {};
  Knowledge::Pointer known;
};

}  // namespace libkernels::emulator
