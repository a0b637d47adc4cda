// The emulator from outside: what a device implementation, a launcher or a test may ask of it.
//
// It executes a kernel on the calling CPU thread, one fiber per CUDA thread, and judges every
// access and every barrier. Device memory is host memory that the emulator handed out and guards;
// streams are synchronous. Launches from several host threads are serialised.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ptx/device_properties.h"

namespace libkernels::emulator {

// ---- Device -----------------------------------------------------------------------------------

// Known profiles. "emu80", "emu90", "emu100" are small (6 SMs), so that persistent loops, partial
// waves and grid-wide waits are exercised in little time; "a100", "rtx3090" (8.6), "rtx4090" (8.9),
// "h100", "h200", "b200", "b300" (10.3), "rtx5090" (12.0) have the limits of the real parts.
const std::vector<DeviceProperties>& profiles();
const DeviceProperties* find_profile(const std::string& name);  // null if unknown

// The device that launches run on, and its default: LK_EMU_DEVICE, or "emu100".
const DeviceProperties& current_profile();
void set_current_profile(const DeviceProperties& profile);

// ---- Memory -----------------------------------------------------------------------------------

// Aligned to 256 bytes like cudaMalloc's, and no better; filled with 0xFF (NaN in every storage
// type) up to 64 MiB, beyond which it reads 0; with guards: an access of a kernel outside a live
// buffer is a fault that names the nearest one. Untouched pages cost nothing, so a sparse buffer
// may be larger than the machine; a byte that kernels touch costs four more, to find races.
cudaError_t memory_allocate(void** p, std::size_t bytes);
cudaError_t memory_free(void* p);

// The live buffer that holds p.
struct Buffer {
  const void* data = nullptr;
  std::size_t bytes = 0;
  bool found = false;
};
Buffer find_buffer(const void* p);

// Makes foreign memory (a test's mapping) legal for kernels, or not any more.
void register_buffer(const void* p, std::size_t bytes, bool writable = true);
void unregister_buffer(const void* p);

// ---- How a launch runs ------------------------------------------------------------------------

// When asynchronous work completes: as late as legal, as early as legal, or drawn from `seed`.
// Also the order in which runnable CTAs and warps are picked: fixed (late: a CTA for as long as it
// can go on, then the next; eager: in turns) or drawn (random). At most as many CTAs at once as the
// device holds, and 24576 threads.
//
// A thread keeps the processor until it waits at a barrier or collective, reads an unchanged value
// again by ld.acquire, or has made 4096 accesses: then others go first, so that CTAs may wait for
// one another through memory. Loops that wait and never end are found (Settings::patience), with
// two exceptions, which hang: a loop that accesses no memory, and one that also stores.
enum class Completion { late, eager, random };

struct Settings {
  Completion completion = Completion::late;  // LK_EMU_COMPLETION=late|eager|random
  std::uint64_t seed = 1;                    // LK_EMU_SEED
  bool worst_ulp = false;                    // LK_EMU_ULP=worst: approximations at their bound
  bool count = false;                        // fill Counters (slower); the bench and tests ask
  // Threads that made so many accesses, while nobody in the grid stored or exited, are deadlocked;
  // a few seconds' worth. Hardly a kernel only loads for so long.
  std::uint64_t patience = std::uint64_t(1) << 27;
};
Settings& settings();

// ---- What happened ----------------------------------------------------------------------------

// Sums over all launches since reset_counters(), while settings().count.
struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t ctas = 0;
  std::uint64_t threads = 0;
  std::uint64_t global_bytes_read = 0;  // bytes that lanes asked for
  std::uint64_t global_bytes_written = 0;
  std::uint64_t global_read_requests = 0;  // one per warp and executed instruction
  std::uint64_t global_write_requests = 0;
  std::uint64_t global_read_sectors = 0;  // 32-byte sectors those requests touch
  std::uint64_t global_write_sectors = 0;
  std::uint64_t shared_read_requests = 0;
  std::uint64_t shared_write_requests = 0;
  std::uint64_t shared_wavefronts = 0;      // passes the shared-memory banks need
  std::uint64_t shared_bank_conflicts = 0;  // passes beyond the least possible for each request
  std::uint64_t mma_flops = 0;
};
Counters counters();
void reset_counters();

// The shape of the last launch, for occupancy and waves.
struct LastLaunch {
  dim3 grid{0, 0, 0};
  dim3 block{0, 0, 0};
  std::size_t smem = 0;
};
LastLaunch last_launch();

// The text of the calling thread's last fault: kind, kernel, CTA, thread, address, and what was
// expected. Empty if its last launch succeeded. Unlike on a GPU no error is sticky: the next launch
// starts afresh. A launch that cannot start leaves a text, too.
std::string last_fault();

}  // namespace libkernels::emulator
