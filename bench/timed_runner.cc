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

// The isolated column beside graph mode: enough calls for quartiles.
constexpr int kIsolatedRounds = 15;
constexpr double kIsolatedSeconds = 0.03;
// Before a burst: long enough for the power to fall, short enough for the clocks to stay.
constexpr double kIdleSeconds = 0.1;

TimingOptions options_of(const Flags& flags, const Contestants& contestants) {
  return {.mode = flags.mode,
          .seconds = flags.seconds,
          .precision = flags.precision,
          .max_rounds = flags.max_samples,
          .block = [&contestants](double seconds, cudaStream_t stream) {
            (void)contestants.spin({.nanoseconds = std::uint64_t(seconds * 1e9), .stream = stream});
          }};
}

bool asked_for(const Flags& flags, const Way& way) {
  if (flags.versus.empty()) return true;
  return std::any_of(flags.versus.begin(), flags.versus.end(),
                     [&](const std::string& v) { return v == way.role || v == way.kernel; });
}

class TimedRow {
 public:
  TimedRow(const Site& site, Problem& problem, const Flags& flags, const GpuMonitor& monitor,
           Ceilings& ceilings, int sets)
      : problem_(problem),
        case_(problem.about()),
        flags_(flags),
        monitor_(monitor),
        ceilings_(ceilings),
        site_(site),
        place_(site, problem.buffers(), sets, false),
        options_(options_of(flags, site.contestants)) {
    options_.sets = sets;
    options_.while_busy = [this] {
      if (const auto state = monitor_.sample()) gpu_.push_back(*state);
    };
    problem_.fill(place_);
    place_.copy_inputs_to_all_sets();
  }

  std::vector<Record> run() {
    verify_ways();
    if (!flags_.versus.empty()) {
      time_versus();
    } else {
      add_ceiling();
      time();
    }
    return std::move(records_);
  }

 private:
  // The problem's, and the kernels of the library that --ab names and that would not be chosen.
  std::vector<Way> ways() {
    std::vector<Way> all = problem_.ways(place_);
    for (const std::string& wanted : flags_.versus) {
      for (const lk_kernel_info& kernel : place_.backend().kernels()) {
        if (wanted != kernel.name || all.front().kernel == wanted) continue;
        place_.set_pin(kernel.name);
        all.push_back(problem_.ways(place_).front());
        place_.set_pin(nullptr);
      }
    }
    return all;
  }

  // A record for each way, and a contestant for each that is right.
  void verify_ways() {
    for (const Way& way : ways()) {
      if (!asked_for(flags_, way)) continue;
      Record record = record_of(case_, way.role, way.kernel, name(flags_.mode));
      record.launches = way.launches;
      try {
        place_.poison_outputs();
        way.call(0, place_.stream());
        verify_way(problem_, way, place_, &record);
      } catch (const SkipRow& reason) {
        record.note = fmt::format("skipped: {}", reason.what());
      }
      if (!record.failed && record.note.empty()) {
        timed_.push_back({.name = way.kernel,
                          .launches = way.launches,
                          .bytes = record.floor_bytes * way.launches,
                          .call = way.call,
                          .coarse = way.role.starts_with("naive") || way.role == "unfused"});
        record_of_timed_.push_back(records_.size());
      }
      records_.push_back(std::move(record));
    }
  }

  Traffic traffic() const { return case_.ceiling == Ceiling::read ? Traffic::read : Traffic::copy; }

  // The fastest plain copy or read of the size joins the contestants.
  void add_ceiling() {
    if (case_.ceiling == Ceiling::math || timed_.empty()) return;
    const std::string winner = ceilings_.best_stream(traffic(), case_.floor.bytes());
    if (winner.empty()) return;
    try {
      track_.emplace(site_, traffic(), case_.floor.bytes(), place_.sets());
    } catch (const SkipRow&) {
      return;  // no room for both: the row goes without
    }
    for (const Contestant& candidate : track_->candidates()) {
      if (candidate.name != winner) continue;
      Record record = record_of(case_, "ceiling", winner, name(flags_.mode));
      record_of_timed_.push_back(records_.size());
      records_.push_back(std::move(record));
      timed_.push_back(candidate);
    }
  }

  void time() {
    if (timed_.empty()) return;
    const auto samples = time_interleaved(place_.device(), place_.stream(), timed_, options_);
    const std::optional<GpuState> gpu = merge(gpu_);
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      Record& r = record(i);
      set_time(&r, samples[i], timed_[i].coarse ? 0 : flags_.precision);
      set_conditions(&r, gpu);
    }
    set_ceilings();
    set_speedups(&records_);
    if (flags_.mode == Mode::graph) time_isolated();
    if (is_power_limited(case_) && flags_.sustained > 0) time_sustained();
  }

  Record& record(std::size_t timed) { return records_[record_of_timed_[timed]]; }

  void set_conditions(Record* r, const std::optional<GpuState>& gpu) {
    const bool cold = is_cold(case_.floor.bytes(), place_.sets(), place_.properties().l2_bytes);
    r->cache = cold ? "cold" : "warm";
    if (!cold && !flags_.warm) add_note(r, "warm: more sets than lkbench makes would be needed");
    r->gpu = gpu;
    if (!gpu) return;
    add_note(r, clock_note(*gpu, monitor_.facts()));
    if (gpu->watts > 0 && r->us && r->us->median > 0) {
      r->microjoules = gpu->watts * r->us->median;
      r->energy_from = "power";
    }
  }

  void set_ceilings() {
    if (case_.ceiling == Ceiling::math) {
      const Ceilings::Rate rate = ceilings_.best_math(case_.types, flags_.arch);
      for (Record& r : records_) set_math_ceiling(&r, rate.kernel, rate.flops_per_s);
      return;
    }
    const auto champion = std::find_if(records_.begin(), records_.end(),
                                       [](const Record& r) { return r.role == "ceiling"; });
    if (champion == records_.end() || !track_ || !champion->us || !(champion->us->median > 0)) {
      return;
    }
    const double rate = double(track_->bytes_moved()) / (champion->us->median * 1e-6);
    const std::string kernel = champion->kernel;
    for (Record& r : records_) {
      set_byte_ceiling(&r, traffic() == Traffic::read ? "read" : "copy", kernel, rate);
    }
  }

  // Single calls, in a column of their own: what a caller without a graph sees of the device.
  void time_isolated() {
    TimingOptions options = options_;
    options.mode = Mode::isolated;
    options.seconds = std::min(kIsolatedSeconds, flags_.seconds);
    options.max_rounds = kIsolatedRounds;
    options.precision = 0;
    options.while_busy = {};
    std::vector<Contestant> fine;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      if (timed_[i].coarse || record(i).role == "ceiling") continue;
      fine.push_back(timed_[i]);
      of.push_back(i);
    }
    const auto samples = time_interleaved(place_.device(), place_.stream(), fine, options);
    for (std::size_t i = 0; i < fine.size(); ++i) {
      record(of[i]).isolated_us = summarize(samples[i]).scaled(1e6);
    }
  }

  // The library and its peers, each alone.
  void time_sustained() {
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      if (timed_[i].coarse || record(i).role == "ceiling") continue;
      TimingOptions options = options_;
      options.mode = Mode::graph;
      options.seconds = flags_.sustained;
      std::optional<double> before, after;
      const Endurance e =
          time_endurance(place_.device(), place_.stream(), timed_[i], options, kIdleSeconds,
                         [&](bool end) { (end ? after : before) = monitor_.joules(); });
      Record& r = record(i);
      r.burst_us = summarize(e.burst).scaled(1e6);
      r.sustained_us = summarize(e.sustained).scaled(1e6);
      if (before && after && *after > *before && e.sustained_calls > 0) {
        r.microjoules = (*after - *before) / e.sustained_calls * 1e6;
        r.energy_from = "counter";
      }
    }
  }

  // A B A B: the two contestants of --ab and nobody else.
  void time_versus() {
    if (timed_.size() != 2) {
      std::string have;
      for (const Record& r : records_) have += fmt::format(" {}", r.role);
      throw SkipRow(fmt::format("--ab needs {} and {}; this row has{}", flags_.versus[0],
                                flags_.versus[1], have.empty() ? " neither" : have));
    }
    for (Contestant& c : timed_) c.coarse = false;
    const bool swapped = record(0).role != flags_.versus[0] && record(0).kernel != flags_.versus[0];
    const std::size_t a = swapped ? 1 : 0, b = 1 - a;
    const auto samples = time_interleaved(place_.device(), place_.stream(), timed_, options_);
    const std::optional<GpuState> gpu = merge(gpu_);
    for (std::size_t i = 0; i < 2; ++i) {
      set_time(&record(i), samples[i], flags_.precision);
      set_conditions(&record(i), gpu);
    }
    set_speedups(&records_);
    record(a).versus = Versus{.role = record(b).role,
                              .kernel = record(b).kernel,
                              .ratio = summarize_ratios(samples[b], samples[a])};
  }

  Problem& problem_;
  const Case& case_;
  const Flags& flags_;
  const GpuMonitor& monitor_;
  Ceilings& ceilings_;
  Site site_;
  Workplace place_;
  TimingOptions options_;
  std::optional<StreamTrack> track_;
  std::vector<Contestant> timed_;
  std::vector<std::size_t> record_of_timed_;
  std::vector<Record> records_;
  std::vector<GpuState> gpu_;
};

class TimedRunner : public Runner {
 public:
  TimedRunner(const Backend& backend, const Contestants& contestants, const Flags& flags,
              const GpuMonitor& monitor)
      : site_{.backend = backend, .contestants = contestants, .arch = flags.arch},
        flags_(flags),
        monitor_(monitor),
        ceilings_(site_, options_of(flags, contestants), monitor,
                  flags.warm ? std::optional(1) : std::nullopt) {
    check(backend.device(), backend.device().properties(&properties_), "reading the device");
    backend.preload(LK_OP_ALL);
  }

  std::vector<Record> run(Problem& problem) override {
    const Case& c = problem.about();
    const int sets = flags_.warm ? 1 : sets_for_cold(c.floor.bytes(), properties_->l2_bytes);
    return records_or_reason(record_of(c, "fused", c.op, name(flags_.mode)), "", [&] {
      return TimedRow(site_, problem, flags_, monitor_, ceilings_, sets).run();
    });
  }

  void measure_ceilings() override {
    constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
    for (const std::int64_t size : {32 * kMegabyte, 256 * kMegabyte, 2048 * kMegabyte}) {
      for (const Traffic traffic : {Traffic::copy, Traffic::read, Traffic::write}) {
        (void)ceilings_.best_stream(traffic, size);
      }
    }
    (void)ceilings_.best_math("bf16", 0);
  }

  std::vector<CeilingRecord> ceilings() const override { return ceilings_.records(); }

 private:
  Site site_;
  const Flags& flags_;
  const GpuMonitor& monitor_;
  Ceilings ceilings_;
  const DeviceProperties* properties_ = nullptr;
};

}  // namespace

std::unique_ptr<Runner> make_timed_runner(const Backend& backend, const Contestants& contestants,
                                          const Flags& flags, const GpuMonitor& monitor) {
  return std::make_unique<TimedRunner>(backend, contestants, flags, monitor);
}

}  // namespace libkernels::bench
