// A row of the GeLU suite on the emulator: what it counted, what follows, and no time.
#include <fmt/format.h>

#include <cstring>

#include "bench/gelu_suite.h"
#include "bench/harness.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::bench {
namespace {

constexpr const char* kMode = "counted";

// Counting, and the emulated device, for as long as this lives.
class EmulatorScope {
 public:
  explicit EmulatorScope(const std::string& device)
      : profile_(emulator::current_profile()), settings_(emulator::settings()) {
    const DeviceProperties* profile = emulator::find_profile(device);
    if (profile == nullptr) throw std::runtime_error("no emulated device " + device);
    emulator::set_current_profile(*profile);
    emulator::settings().count = true;
  }
  ~EmulatorScope() {
    emulator::settings() = settings_;
    emulator::set_current_profile(profile_);
  }
  EmulatorScope(const EmulatorScope&) = delete;
  EmulatorScope& operator=(const EmulatorScope&) = delete;

 private:
  DeviceProperties profile_;
  emulator::Settings settings_;
};

std::optional<double> per_request(std::uint64_t sectors, std::uint64_t requests) {
  if (requests == 0) return std::nullopt;
  return double(sectors) / double(requests);
}

Counted counted_of(const std::string& device, const GeluWay& way,
                   const emulator::Counters& counters) {
  const DeviceProperties& properties = emulator::current_profile();
  CtaResources cta = way.cta;
  if (cta.registers == 0) cta.registers = most_registers(cta.threads, properties);
  const Occupancy fit = occupancy(cta, properties);
  if (!way.registers_exact) cta.registers = 0;
  const Occupancy most = occupancy(cta, properties);
  Counted c;
  c.device = device;
  c.bytes_read = counters.global_bytes_read;
  c.bytes_written = counters.global_bytes_written;
  c.read_sectors_per_request =
      per_request(counters.global_read_sectors, counters.global_read_requests);
  c.write_sectors_per_request =
      per_request(counters.global_write_sectors, counters.global_write_requests);
  c.bank_conflicts = counters.shared_bank_conflicts;
  c.ctas = counters.ctas;
  c.ctas_per_sm = fit.ctas_per_sm;
  c.ctas_per_sm_most = most.ctas_per_sm;
  c.occupancy = fit.fraction;
  c.occupancy_most = most.fraction;
  c.occupancy_limit = name(fit.limit);
  c.registers = way.cta.registers > 0 ? way.cta.registers : most_registers(cta.threads, properties);
  c.registers_exact = way.registers_exact;
  if (counters.launches > 0) {
    // The launches of a chain are alike, so the mean grid is each one's.
    const std::int64_t launches = std::int64_t(counters.launches);
    const std::int64_t grid = std::int64_t(counters.ctas) / launches;
    c.waves = launches * waves(grid, fit.ctas_per_sm, properties.sm_count);
    c.waves_least = launches * waves(grid, most.ctas_per_sm, properties.sm_count);
  }
  const double bytes = double(counters.global_bytes_read + counters.global_bytes_written);
  for (const Datasheet& gpu : datasheets()) {
    c.modelled_us.emplace_back(gpu.name,
                               1e6 * roofline_seconds(bytes, double(counters.mma_flops), gpu));
  }
  return c;
}

class CountedGelu : public GeluSuite {
 public:
  CountedGelu(const Backend& backend, const Contestants& contestants, const Flags& flags)
      : backend_(backend), contestants_(contestants), flags_(flags) {}

  std::vector<Record> run(const GeluRow& row) override {
    std::vector<Record> records;
    for (const std::string& device : flags_.devices) {
      try {
        const EmulatorScope scope(device);
        for (Record& record : run_on(device, row)) records.push_back(std::move(record));
      } catch (const std::exception& error) {
        Record failed = gelu_record(row, "fused", "gelu", kMode);
        const bool skipped = dynamic_cast<const SkipRow*>(&error) != nullptr;
        failed.note =
            fmt::format("{} on {}: {}", skipped ? "skipped" : "FAILED", device, error.what());
        failed.failed = !skipped;
        records.push_back(std::move(failed));
      }
    }
    return records;
  }

 private:
  // Buffers end where the data ends: the emulator's guards then see an access beyond it.
  std::vector<Record> run_on(const std::string& name_of_device, const GeluRow& row) {
    Device& device = backend_.device();
    const std::size_t x_size = size_of(row.types.x);
    const std::size_t y_size = size_of(row.types.y);
    const std::size_t n = std::size_t(row.n);
    const DeviceMemory x(device, (n + std::size_t(row.x_offset)) * x_size);
    const DeviceMemory y(device, (n + std::size_t(row.y_offset)) * y_size);
    const DeviceMemory first(device, n * x_size);
    const DeviceMemory second(device, n * x_size);
    unsigned char* x_data = x.data() + std::size_t(row.x_offset) * x_size;
    unsigned char* y_data = y.data() + std::size_t(row.y_offset) * y_size;
    const GeluReference& reference = references_.get(row, n);
    check(device, device.copy_to_device(x_data, reference.x.data(), n * x_size, nullptr),
          "preparing a row");

    std::vector<Record> records;
    const GeluScratch scratch{.first = first.data(), .second = second.data()};
    for (const GeluWay& way : gelu_ways(backend_, contestants_, row, x_data, y_data, scratch)) {
      check(device, device.fill(y.data(), 0xff, y.bytes(), nullptr), "preparing a row");
      emulator::reset_counters();
      way.call(x_data, y_data, nullptr);
      const emulator::Counters counters = emulator::counters();
      std::vector<std::byte> result(n * y_size);
      check(device, device.copy_to_host(result.data(), y_data, result.size(), nullptr),
            "reading a result");
      records.push_back(
          record_of(name_of_device, row, way, counters, compare(reference, result.data(), n)));
    }
    for (Record& record : records) record.speedup_unfused = fewer_bytes(records.back(), record);
    return records;
  }

  static Record record_of(const std::string& device, const GeluRow& row, const GeluWay& way,
                          const emulator::Counters& counters, const ErrorSummary& error) {
    Record record = gelu_record(row, way.role, way.kernel, kMode);
    record.launches = int(counters.launches);
    record.error_ulp = error.max_ulp;
    record.error_fraction = error.max_fraction;
    record.counted = counted_of(device, way, counters);
    record.note = judge(way.role, error);
    record.failed = !record.note.empty();
    return record;
  }

  // `unfused` comes last of the ways.
  static std::optional<double> fewer_bytes(const Record& unfused, const Record& record) {
    const auto bytes = [](const Record& r) {
      return double(r.counted->bytes_read + r.counted->bytes_written);
    };
    if (bytes(record) <= 0) return std::nullopt;
    return bytes(unfused) / bytes(record);
  }

  const Backend& backend_;
  const Contestants& contestants_;
  const Flags& flags_;
  GeluReferences references_;
};

}  // namespace

std::unique_ptr<GeluSuite> make_counted_gelu(const Backend& backend, const Contestants& contestants,
                                             const Flags& flags) {
  return std::make_unique<CountedGelu>(backend, contestants, flags);
}

}  // namespace libkernels::bench
