// A row of the GeLU suite on the emulator: what it counted, what follows, and no time.
#include "bench/counted.h"
#include "bench/gelu_suite.h"
#include "bench/harness.h"

namespace libkernels::bench {
namespace {

class CountedGelu : public GeluSuite {
 public:
  CountedGelu(const Backend& backend, const Contestants& contestants, const Flags& flags)
      : backend_(backend), contestants_(contestants), flags_(flags) {}

  std::vector<Record> run(const GeluRow& row) override {
    return count_on_devices(flags_.devices, gelu_record(row, "fused", "gelu", ""),
                            [&] { return run_here(row); });
  }

 private:
  // Buffers end where the data ends: the emulator's guards then see an access beyond it.
  std::vector<Record> run_here(const GeluRow& row) {
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
      Record record = gelu_record(row, way.role, way.kernel, "");
      count_call(&record, way.resources, [&] { way.call(x_data, y_data, nullptr); });
      std::vector<std::byte> result(n * y_size);
      check(device, device.copy_to_host(result.data(), y_data, result.size(), nullptr),
            "reading a result");
      const ErrorSummary error = compare(reference, result.data(), n);
      record.error_ulp = error.max_ulp;
      record.error_fraction = error.max_fraction;
      record.note = judge(way.role, error);
      record.failed = !record.note.empty();
      records.push_back(std::move(record));
    }
    for (Record& record : records) record.speedup_unfused = fewer_bytes(records.back(), record);
    return records;
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
