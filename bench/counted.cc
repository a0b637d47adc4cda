#include "bench/counted.h"

#include <fmt/format.h>

#include <stdexcept>

#include "bench/model.h"
#include "bench/process.h"
#include "bench/records.h"

namespace libkernels::bench {
namespace {

constexpr const char* kMode = "counted";

std::optional<double> per_request(std::uint64_t sectors, std::uint64_t requests) {
  if (requests == 0) return std::nullopt;
  return double(sectors) / double(requests);
}

int threads_of(const dim3& block) { return int(block.x * block.y * block.z); }

}  // namespace

CountingScope::CountingScope(const std::string& device)
    : profile_(emulator::current_profile()), settings_(emulator::settings()) {
  const DeviceProperties* profile = emulator::find_profile(device);
  if (profile == nullptr) throw std::runtime_error("no emulated device " + device);
  emulator::set_current_profile(*profile);
  emulator::settings().count = true;
}

CountingScope::~CountingScope() {
  emulator::settings() = settings_;
  emulator::set_current_profile(profile_);
}

Counted counted_of(const DeviceProperties& device, const std::optional<CallResources>& resources,
                   const emulator::Counters& counters, const emulator::LastLaunch& last) {
  const bool exact = resources && resources->registers_exact;
  CtaResources cta{.threads = resources ? resources->threads_per_cta : threads_of(last.block),
                   .registers = resources ? resources->registers : 0,
                   .smem_bytes = resources ? resources->smem_bytes : last.smem};
  if (cta.registers == 0) cta.registers = most_registers(cta.threads, device);
  const Occupancy fit = occupancy(cta, device);
  CtaResources without_registers = cta;
  without_registers.registers = 0;
  const Occupancy most = exact ? fit : occupancy(without_registers, device);
  Counted c;
  c.device = device.name;
  c.bytes_read = counters.global_bytes_read;
  c.bytes_written = counters.global_bytes_written;
  c.mma_flops = double(counters.mma_flops);
  c.read_sectors_per_request =
      per_request(counters.global_read_sectors, counters.global_read_requests);
  c.write_sectors_per_request =
      per_request(counters.global_write_sectors, counters.global_write_requests);
  c.bank_conflicts = counters.shared_bank_conflicts;
  c.ctas = counters.ctas;
  c.registers = cta.registers;
  c.registers_exact = exact;
  c.ctas_per_sm = fit.ctas_per_sm;
  c.ctas_per_sm_most = most.ctas_per_sm;
  c.occupancy = fit.fraction;
  c.occupancy_most = most.fraction;
  c.occupancy_limit = name(fit.limit);
  if (counters.launches > 0) {
    // The launches of a chain are alike, so the mean grid is each one's.
    const std::int64_t launches = std::int64_t(counters.launches);
    const std::int64_t grid = std::int64_t(counters.ctas) / launches;
    c.waves = launches * waves(grid, fit.ctas_per_sm, device.sm_count);
    c.waves_least = launches * waves(grid, most.ctas_per_sm, device.sm_count);
  }
  const double bytes = double(counters.global_bytes_read + counters.global_bytes_written);
  for (const Datasheet& gpu : datasheets()) {
    c.modelled_us.emplace_back(gpu.name,
                               1e6 * roofline_seconds(bytes, double(counters.mma_flops), gpu));
  }
  return c;
}

void count_call(Record* record, const std::optional<CallResources>& resources,
                const std::function<void()>& call) {
  record->mode = kMode;
  emulator::reset_counters();
  call();
  const emulator::Counters counters = emulator::counters();
  record->launches = int(counters.launches);
  record->counted =
      counted_of(emulator::current_profile(), resources, counters, emulator::last_launch());
}

std::vector<Record> count_on_devices(const std::vector<std::string>& devices, const Record& row,
                                     const std::function<std::vector<Record>()>& body) {
  Record blank = row;
  blank.mode = kMode;
  std::vector<Record> records;
  for (const std::string& device : devices) {
    if (interrupted() && !records.empty()) break;
    const auto counted = [&] {
      const CountingScope scope(device);
      return body();
    };
    for (Record& r : records_or_reason(blank, "on " + device, counted)) {
      records.push_back(std::move(r));
    }
  }
  return records;
}

}  // namespace libkernels::bench
