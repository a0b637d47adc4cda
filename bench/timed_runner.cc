// A row on a GPU: memory, verification, timing, records.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/ceilings.h"
#include "bench/harness.h"
#include "bench/records.h"
#include "bench/runner.h"

namespace libkernels::bench {
namespace {

class TimedRow {
 public:
  TimedRow(const Site& site, Problem& problem, const Flags& flags, const GpuMonitor& monitor,
           int sets)
      : problem_(problem),
        flags_(flags),
        monitor_(monitor),
        place_(site, problem.buffers(), sets, false) {
    problem_.fill(place_);
    place_.copy_inputs_to_all_sets();
  }

  std::vector<Record> run() {
    const Case& c = problem_.about();
    const std::size_t copy_bytes = copy_bytes_for(c.floor.bytes());
    const DeviceMemory src(place_.device(), copy_bytes * std::size_t(place_.sets()));
    const DeviceMemory dst(place_.device(), copy_bytes * std::size_t(place_.sets()));
    const CopyBuffers copy_buffers{
        .dst = [&](int set) -> void* { return dst.data() + copy_bytes * std::size_t(set); },
        .src = [&](int set) { return src.data() + copy_bytes * std::size_t(set); },
        .bytes = copy_bytes};
    std::vector<Contestant> timed =
        copy_contestants(place_.device(), place_.contestants(), place_.properties(), copy_buffers);
    const std::size_t copies = timed.size();
    verify_ways(&timed);
    std::optional<GpuState> gpu;
    const TimingOptions options{
        .mode = flags_.mode, .seconds = flags_.seconds, .sets = place_.sets(), .while_busy = [&] {
          gpu = monitor_.sample();
        }};
    const auto samples = time_interleaved(place_.device(), place_.stream(), timed, options);
    const auto results =
        copy_results(std::span(timed).first(copies), std::span(samples).first(copies), copy_bytes);
    finish_records(results, std::span(samples).subspan(copies), gpu);
    add_copy_records(results, gpu);
    return std::move(records_);
  }

 private:
  // Appends what is right to `timed`, and a record for each way.
  void verify_ways(std::vector<Contestant>* timed) {
    for (const Way& way : problem_.ways(place_)) {
      Record record = record_of(problem_.about(), way.role, way.kernel, name(flags_.mode));
      record.launches = way.launches;
      if (!way.skipped.empty()) {
        record.note = "skipped: " + way.skipped;
        records_.push_back(std::move(record));
        continue;
      }
      place_.poison_outputs();
      way.call(0, place_.stream());
      verify_way(problem_, way, place_, &record);
      if (!record.failed) {
        timed->push_back({.name = way.kernel,
                          .launches = way.launches,
                          .bytes = record.floor_bytes * way.launches,
                          .call = way.call});
      }
      records_.push_back(std::move(record));
    }
  }

  // `samples`: of the records that did not fail, in their order.
  void finish_records(std::span<const CopyResult> copies,
                      std::span<const std::vector<double>> samples,
                      const std::optional<GpuState>& gpu) {
    const bool is_cold = double(problem_.about().floor.bytes()) * place_.sets() >
                         2.0 * double(place_.properties().l2_bytes);
    std::size_t next = 0;
    for (Record& r : records_) {
      if (!r.note.empty()) continue;  // skipped or failed
      set_time(&r, samples[next++]);
      set_ceiling(&r, best(copies));
      r.gpu = gpu;
      if (!is_cold) r.note = "warm: more sets than lkbench makes would be needed";
    }
    set_speedups(&records_);
  }

  void add_copy_records(std::span<const CopyResult> copies, const std::optional<GpuState>& gpu) {
    const CopyResult* ceiling = best(copies);
    for (const CopyResult& copy : copies) {
      Record r = record_of(problem_.about(), "ceiling", copy.kernel, name(flags_.mode));
      std::vector<double> seconds;
      r.us = copy.seconds;
      for (double* t : {&r.us->median, &r.us->q1, &r.us->q3, &r.us->min, &r.us->max}) *t *= 1e6;
      r.gb_per_s = copy.bytes_per_s * 1e-9;
      set_ceiling(&r, ceiling);
      r.gpu = gpu;
      records_.push_back(std::move(r));
    }
  }

  Problem& problem_;
  const Flags& flags_;
  const GpuMonitor& monitor_;
  Workplace place_;
  std::vector<Record> records_;
};

class TimedRunner : public Runner {
 public:
  TimedRunner(const Backend& backend, const Contestants& contestants, const Flags& flags,
              const GpuMonitor& monitor)
      : site_{.backend = backend, .contestants = contestants, .arch = flags.arch},
        flags_(flags),
        monitor_(monitor) {
    check(backend.device(), backend.device().properties(&properties_), "reading the device");
    backend.preload(LK_OP_ALL);
  }

  std::vector<Record> run(Problem& problem) override {
    const Case& c = problem.about();
    const int sets = sets_for_cold(c.floor.bytes(), properties_->l2_bytes);
    return records_or_reason(record_of(c, "fused", c.op, name(flags_.mode)), "", [&] {
      return TimedRow(site_, problem, flags_, monitor_, sets).run();
    });
  }

 private:
  Site site_;
  const Flags& flags_;
  const GpuMonitor& monitor_;
  const DeviceProperties* properties_ = nullptr;
};

}  // namespace

std::unique_ptr<Runner> make_timed_runner(const Backend& backend, const Contestants& contestants,
                                          const Flags& flags, const GpuMonitor& monitor) {
  return std::make_unique<TimedRunner>(backend, contestants, flags, monitor);
}

}  // namespace libkernels::bench
