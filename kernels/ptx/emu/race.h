// Who touched which bytes last, and is that ordered before what touches them now?
//
// Every 8 bytes of shared or global memory have a cell that remembers up to four accesses. An
// access is judged against them with the clocks of its warp (WarpClock). Forgetting one when a cell
// is full may hide a race; nothing makes one up.
#pragma once

#include <cstdint>

namespace libkernels::emulator {

// One remembered access, packed; the CTA comes first, so that a comparison finds the stale ones.
struct Access {
  static constexpr int kClockBits = 19, kThreadBits = 10, kMaskBits = 8;
  static constexpr int kMaskAt = 1;
  static constexpr int kThreadAt = kMaskAt + kMaskBits;
  static constexpr int kClockAt = kThreadAt + kThreadBits;
  static constexpr int kCtaAt = kClockAt + kClockBits;
  static constexpr std::uint32_t kMaxClock = (1u << kClockBits) - 1;
  static constexpr std::uint32_t kMaxCta = (1u << (64 - kCtaAt)) - 1;

  std::uint64_t bits;

  static Access pack(std::uint32_t cta, std::uint32_t clock, std::uint32_t thread,
                     std::uint32_t mask, bool write) {
    return {std::uint64_t(cta) << kCtaAt | std::uint64_t(clock) << kClockAt |
            std::uint64_t(thread) << kThreadAt | std::uint64_t(mask) << kMaskAt |
            std::uint64_t(write)};
  }
  bool write() const { return bits & 1; }
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

// What one warp knows of its CTA's past. `clock` stamps its accesses and grows at every release.
struct WarpClock {
  static constexpr int kWarps = 32, kLanes = 32;
  std::uint32_t clock;
  std::uint32_t floor;       // lanes know all that the warp did up to this clock
  std::uint32_t vc[kWarps];  // and what the CTA's other warps did up to these
  bool partial;              // since the last full synchronisation, some lanes met others:
  std::uint32_t seen[kLanes][kLanes];  // lane t knows what lane u did up to seen[t][u]

  void reset();
  void sync_lanes(std::uint32_t mask, bool all);
  // Everything before this point, for others to acquire.
  void release_into(std::uint32_t* vc_out, std::uint32_t own_index);
  void acquire(const std::uint32_t* vc_in);
  void tick();
};

}  // namespace libkernels::emulator
