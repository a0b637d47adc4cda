// The emulated devices. Limits: CUDA's own tables; peaks: data sheets (dense bf16, fp32
// accumulation).
#include <cstdlib>
#include <cstring>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::emulator {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kGiB = 1024 * kMiB;

// What all devices of one compute capability share.
struct Generation {
  int cc_major, cc_minor;
  int threads_per_sm, ctas_per_sm;
  int smem_per_sm_kib;  // a CTA may have 1 KiB less
};
constexpr Generation k80{8, 0, 2048, 32, 164};
constexpr Generation k86{8, 6, 1536, 16, 100};
constexpr Generation k89{8, 9, 1536, 24, 100};
constexpr Generation k90{9, 0, 2048, 32, 228};
constexpr Generation k100{10, 0, 2048, 32, 228};
constexpr Generation k103{10, 3, 2048, 32, 228};
constexpr Generation k120{12, 0, 1536, 24, 100};

DeviceProperties make(const char* name, const Generation& g, int sms, std::size_t l2,
                      std::size_t memory, double bytes_per_s, double bf16_flops) {
  DeviceProperties p{.cc_major = g.cc_major,
                     .cc_minor = g.cc_minor,
                     .sm_count = sms,
                     .max_threads_per_cta = 1024,
                     .max_threads_per_sm = g.threads_per_sm,
                     .max_ctas_per_sm = g.ctas_per_sm,
                     .registers_per_sm = 65536,
                     .smem_per_sm = std::size_t(g.smem_per_sm_kib) * kKiB,
                     .smem_per_cta_optin = std::size_t(g.smem_per_sm_kib - 1) * kKiB,
                     .l2_bytes = l2,
                     .memory_bytes = memory,
                     .peak_bytes_per_s = bytes_per_s,
                     .peak_bf16_flops = bf16_flops};
  std::snprintf(p.name, sizeof(p.name), "%s", name);
  return p;
}

// Small devices: few SMs, so that persistent loops and partial waves happen in little time.
DeviceProperties make_small(const char* name, const Generation& g) {
  return make(name, g, 6, 4 * kMiB, 16 * kGiB, 0, 0);
}

// A name that is no profile makes every launch fail (settings.cc), so what stands for it is moot.
DeviceProperties& current() {
  static DeviceProperties profile = [] {
    const char* name = std::getenv("LK_EMU_DEVICE");
    const DeviceProperties* found = find_profile(name ? name : "");
    return found ? *found : *find_profile("emu100");
  }();
  return profile;
}

}  // namespace

const std::vector<DeviceProperties>& profiles() {
  static const auto& all = *new std::vector<DeviceProperties>{
      // outlives other statics
      make_small("emu80", k80),
      make_small("emu90", k90),
      make_small("emu100", k100),
      make("a100", k80, 108, 40 * kMiB, 80 * kGiB, 2.039e12, 312e12),
      make("rtx3090", k86, 82, 6 * kMiB, 24 * kGiB, 0.936e12, 71e12),
      make("rtx4090", k89, 128, 72 * kMiB, 24 * kGiB, 1.008e12, 165e12),
      make("h100", k90, 132, 50 * kMiB, 80 * kGiB, 3.35e12, 989e12),
      make("h200", k90, 132, 60 * kMiB, 141 * kGiB, 4.8e12, 989e12),
      make("b200", k100, 148, 126 * kMiB, 180 * kGiB, 8e12, 2250e12),
      make("b300", k103, 148, 126 * kMiB, 288 * kGiB, 8e12, 2250e12),
      make("rtx5090", k120, 170, 96 * kMiB, 32 * kGiB, 1.792e12, 209e12),
  };
  return all;
}

const DeviceProperties* find_profile(const std::string& name) {
  for (const DeviceProperties& p : profiles()) {
    if (name == p.name) return &p;
  }
  return nullptr;
}

const DeviceProperties& current_profile() { return current(); }

void set_current_profile(const DeviceProperties& profile) { current() = profile; }

}  // namespace libkernels::emulator
