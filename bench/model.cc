#include "bench/model.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace libkernels::bench {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kSubPartitions = 4;
constexpr int kRegisterUnit = 256;  // registers of a warp are rounded up to this
constexpr int kMaxRegistersPerThread = 255;
constexpr std::size_t kReservedSmem = 1024;  // bytes of each CTA
constexpr std::size_t kSmemUnit = 128;

template <class T>
constexpr T divide_up(T a, T b) {
  return (a + b - 1) / b;
}

template <class T>
constexpr T round_up(T a, T unit) {
  return divide_up(a, unit) * unit;
}

int ctas_by_registers(const CtaResources& cta, const DeviceProperties& device) {
  if (cta.registers <= 0) return std::numeric_limits<int>::max();
  if (cta.registers > kMaxRegistersPerThread) return 0;
  const int warps = divide_up(cta.threads, kWarpThreads);
  const int per_warp = round_up(cta.registers * kWarpThreads, kRegisterUnit);
  if (per_warp * round_up(warps, kSubPartitions) > device.registers_per_sm) return 0;
  const int warps_per_sm = device.registers_per_sm / kSubPartitions / per_warp * kSubPartitions;
  return warps_per_sm / warps;
}

int ctas_by_smem(const CtaResources& cta, const DeviceProperties& device) {
  if (cta.smem_bytes > device.smem_per_cta_optin) return 0;
  return int(device.smem_per_sm / round_up(cta.smem_bytes + kReservedSmem, kSmemUnit));
}

}  // namespace

Floor gelu_floor(std::int64_t elements, DType x_type, DType y_type) {
  return {.read_bytes = elements * std::int64_t(size_of(x_type)),
          .written_bytes = elements * std::int64_t(size_of(y_type))};
}

const char* name(Limit limit) {
  switch (limit) {
    case Limit::none:
      return "none";
    case Limit::registers:
      return "registers";
    case Limit::shared_memory:
      return "shared memory";
    case Limit::warps:
      return "warps";
    case Limit::cta_slots:
      return "CTA slots";
  }
  return "invalid";
}

Occupancy occupancy(const CtaResources& cta, const DeviceProperties& device) {
  if (cta.threads <= 0 || cta.threads > device.max_threads_per_cta) return {};
  const int warps = divide_up(cta.threads, kWarpThreads);
  const int warp_slots = device.max_threads_per_sm / kWarpThreads;
  const struct {
    int ctas;
    Limit limit;
  } limits[] = {{warp_slots / warps, Limit::warps},
                {device.max_ctas_per_sm, Limit::cta_slots},
                {ctas_by_registers(cta, device), Limit::registers},
                {ctas_by_smem(cta, device), Limit::shared_memory}};
  const auto least = std::min_element(std::begin(limits), std::end(limits),
                                      [](auto& a, auto& b) { return a.ctas < b.ctas; });
  const int resident = least->ctas * warps;
  return {.ctas_per_sm = least->ctas,
          .warps_per_sm = resident,
          .fraction = warp_slots > 0 ? double(resident) / warp_slots : 0,
          .limit = least->limit};
}

int most_registers(int threads, const DeviceProperties& device) {
  const int warps = round_up(divide_up(std::max(threads, 1), kWarpThreads), kSubPartitions);
  const int per_warp = device.registers_per_sm / warps / kRegisterUnit * kRegisterUnit;
  return std::min(per_warp / kWarpThreads, kMaxRegistersPerThread);
}

std::int64_t waves(std::int64_t ctas, int ctas_per_sm, int sm_count) {
  const std::int64_t at_once = std::int64_t(ctas_per_sm) * sm_count;
  return at_once > 0 ? divide_up(ctas, at_once) : 0;
}

std::span<const Datasheet> datasheets() {
  static constexpr Datasheet kDatasheets[] = {
      {.name = "A100",
       .bytes_per_s = 2.0e12,
       .bf16_flops = 312e12,
       .f32_flops = 19.5e12,
       .sm_count = 108},
      {.name = "H100",
       .bytes_per_s = 3.35e12,
       .bf16_flops = 989e12,
       .f32_flops = 67e12,
       .sm_count = 132},
      {.name = "H200",
       .bytes_per_s = 4.8e12,
       .bf16_flops = 989e12,
       .f32_flops = 67e12,
       .sm_count = 132},
      {.name = "B200",
       .bytes_per_s = 8.0e12,
       .bf16_flops = 2250e12,
       .f32_flops = 75e12,
       .sm_count = 148},
  };
  return kDatasheets;
}

Datasheet datasheet_of(const char* device_name) {
  for (const Datasheet& sheet : datasheets()) {
    const char* at = std::strstr(device_name, sheet.name);
    if (at != nullptr && (at == device_name || at[-1] == ' ')) return sheet;  // GH200 is another
  }
  return {.name = "", .bytes_per_s = 0, .bf16_flops = 0, .f32_flops = 0, .sm_count = 0};
}

double roofline_seconds(double bytes, double flops, const Datasheet& gpu) {
  return std::max(bytes / gpu.bytes_per_s, flops / gpu.bf16_flops);
}

}  // namespace libkernels::bench
