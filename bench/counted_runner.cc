// A row on the emulator: what it counted, what follows, and no time.
#include <fmt/format.h>

#include <algorithm>

#include "bench/counted.h"
#include "bench/runner.h"

namespace libkernels::bench {
namespace {

// What the emulator takes minutes for, and the interrupt would wait for.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
constexpr std::int64_t kMostMultiplyAdds = std::int64_t{1} << 31;

// Why the emulator does not take the case on; "": it does.
std::string too_large(const Case& c) {
  for (std::size_t i = 0; i < c.shape.size(); ++i) {
    std::int64_t elements = c.shape[i];
    if (c.shape.size() > 1) elements *= c.shape[(i + 1) % c.shape.size()];
    if (elements <= kMostElements) continue;
    return fmt::format("{} elements are too many for the emulator, which takes {}", elements,
                       kMostElements);
  }
  if (c.flops <= 2.0 * double(kMostMultiplyAdds)) return "";
  return fmt::format("{:.0f} multiply-adds are too many for the emulator, which takes {}",
                     c.flops / 2, kMostMultiplyAdds);
}

class CountedRunner : public Runner {
 public:
  CountedRunner(const Backend& backend, const Contestants& contestants, const Flags& flags)
      : site_{.backend = backend, .contestants = contestants, .arch = flags.arch}, flags_(flags) {}

  std::vector<Record> run(Problem& problem) override {
    const Case& c = problem.about();
    if (const std::string reason = too_large(c); !reason.empty()) {
      Record record = record_of(c, "fused", c.op, "counted");
      record.note = fmt::format("skipped: {}", reason);
      return {record};
    }
    return count_on_devices(flags_.devices, record_of(c, "fused", c.op, ""),
                            [&] { return run_here(problem); });
  }

 private:
  // Buffers end where the data ends: the emulator's guards then see an access beyond it.
  std::vector<Record> run_here(Problem& problem) {
    Workplace place(site_, problem.buffers(), 1, true);
    problem.fill(place);
    std::vector<Record> records;
    for (const Way& way : problem.ways(place)) {
      place.poison_outputs();
      Record record = record_of(problem.about(), way.role, way.kernel, "counted");
      try {
        count_call(&record, way.resources, [&] { way.call(0, place.stream()); });
        verify_way(problem, way, place, &record);
      } catch (const SkipRow& reason) {
        record.note = fmt::format("skipped: {}", reason.what());
      }
      records.push_back(std::move(record));
    }
    const auto unfused = std::find_if(records.begin(), records.end(),
                                      [](const Record& r) { return r.role == "unfused"; });
    if (unfused == records.end()) return records;
    const Record chain = *unfused;
    for (Record& record : records) record.speedup_unfused = fewer_bytes(chain, record);
    return records;
  }

  static std::optional<double> fewer_bytes(const Record& unfused, const Record& record) {
    const auto bytes = [](const Record& r) {
      return double(r.counted->bytes_read + r.counted->bytes_written);
    };
    if (!unfused.counted || !record.counted || bytes(record) <= 0) return std::nullopt;
    return bytes(unfused) / bytes(record);
  }

  Site site_;
  const Flags& flags_;
};

}  // namespace

std::unique_ptr<Runner> make_counted_runner(const Backend& backend, const Contestants& contestants,
                                            const Flags& flags) {
  return std::make_unique<CountedRunner>(backend, contestants, flags);
}

}  // namespace libkernels::bench
