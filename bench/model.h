// What can be said of a kernel without a clock: least traffic, occupancy, waves, roofline time.
//
// Pure functions of numbers. Nothing here is a measurement, and nothing that prints these numbers
// may call them one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "include/libkernels/dtype.h"
#include "kernels/ptx/device_properties.h"

namespace libkernels::bench {

// The least bytes GeLU can move: every input read once, every output written once.
struct Floor {
  std::int64_t read_bytes;
  std::int64_t written_bytes;
  std::int64_t bytes() const { return read_bytes + written_bytes; }
};
Floor gelu_floor(std::int64_t elements, DType x_type, DType y_type);

// What a CTA takes of an SM.
struct CtaResources {
  int threads;
  int registers = 0;           // per thread; 0: unknown, does not limit
  std::size_t smem_bytes = 0;  // static + dynamic
};

enum class Limit { none, registers, shared_memory, warps, cta_slots };
const char* name(Limit limit);

struct Occupancy {
  int ctas_per_sm = 0;  // 0: the CTA does not fit an SM
  int warps_per_sm = 0;
  double fraction = 0;  // of the SM's warp slots
  Limit limit = Limit::none;
};

// By the rules of the vendor's occupancy calculator (cuda_occupancy.h), compute capability 8 to 12,
// with the SM's whole shared memory as carve-out: registers are handed out by warp in units of 256
// to four sub-partitions; shared memory by CTA in units of 128 bytes, 1 KiB of it reserved.
Occupancy occupancy(const CtaResources& cta, const DeviceProperties& device);

// The most registers a thread can have so that a CTA of `threads` starts at all: what is left to
// say of a kernel whose count nobody knows.
int most_registers(int threads, const DeviceProperties& device);

// How often the device has to be filled to run all CTAs: ceil(ctas / (ctas_per_sm * sm_count)).
// 0 if ctas_per_sm or sm_count is.
std::int64_t waves(std::int64_t ctas, int ctas_per_sm, int sm_count);

// A GPU as its data sheet has it.
struct Datasheet {
  const char* name;
  double bytes_per_s;
  double bf16_flops;  // on tensor cores, dense
  double f32_flops;   // outside of them
  int sm_count;
};
std::span<const Datasheet> datasheets();  // A100, H100 SXM, H200, B200

// That of the GPU of such a name ("NVIDIA H200"); its figures are 0 where it is none of them.
Datasheet datasheet_of(const char* device_name);

// The larger of the two floors, in seconds: bytes over bandwidth, tensor FLOPs over their peak.
double roofline_seconds(double bytes, double flops, const Datasheet& gpu);

}  // namespace libkernels::bench
