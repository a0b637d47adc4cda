#include "bench/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <optional>
#include <thread>

#include "bench/process.h"
#include "bench/statistics.h"

namespace libkernels::bench {
namespace {

constexpr double kColdBytes = 300e6;
constexpr double kColdL2Multiple = 2.5;
constexpr int kMaxSets = 4096;
// A graph runs about this long: 0.05% of it is the resolution of an event.
constexpr double kGraphSeconds = 1e-3;
constexpr int kMaxGraphLaunches = 4096;  // capturing and instantiating cost about 3 us each
constexpr int kMinRounds = 7;            // with six the interval is the samples' whole range
constexpr int kRoundsBetweenChecks = 4;
constexpr int kMinWarmUpRounds = 2;
constexpr double kWarmUpSeconds = 0.03;    // until the clocks are up
constexpr double kSampleSeconds = 0.1;     // between two looks at the clocks
constexpr double kEnqueueSeconds = 20e-6;  // of the host, for a launch between two events
// For planning alone: a launch in a graph, the memory's rate, two events around a call.
constexpr double kLaunchSeconds = 1.3e-6;
constexpr double kBytesPerSecond = 4e12;
constexpr double kEventSeconds = 4e-6;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Event {
 public:
  explicit Event(Device& device) : device_(device) {
    check(device, device.event_create(&event_), "creating an event");
  }
  ~Event() { (void)device_.event_destroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) {
    check(device_, device_.event_record(event_, stream), "recording an event");
  }
  // Waits for `end`.
  static double seconds(const Event& begin, const Event& end) {
    float ms = 0;
    check(begin.device_, begin.device_.elapsed_ms(begin.event_, end.event_, &ms),
          "reading an event");
    return ms * 1e-3;
  }

 private:
  Device& device_;
  cudaEvent_t event_ = nullptr;
};

// What is timed between two events: a graph of many calls, or one call.
class Work {
 public:
  Work(Device& device, cudaStream_t stream, const Contestant& contestant,
       const TimingOptions& options)
      : device_(device),
        contestant_(contestant),
        sets_(options.sets),
        begin_(device),
        end_(device) {
    if (options.mode != Mode::graph) return;
    calls_ = calls_per_graph(estimate(stream), sets_, contestant.launches);
    check(device, device.capture_begin(stream), "starting a capture");
    for (int i = 0; i < calls_; ++i) contestant.call(i % sets_, stream);
    check(device, device.capture_end(stream, &graph_), "ending a capture");
  }
  ~Work() {
    if (graph_ != nullptr) (void)device_.graph_destroy(graph_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // `turn` picks the set of an isolated call: successive calls, whoever makes them, take successive
  // sets, so that none finds what the call before it left in the cache.
  void enqueue(cudaStream_t stream, int turn) {
    if (graph_ != nullptr) {
      check(device_, device_.graph_launch(graph_, stream), "launching a graph");
    } else {
      contestant_.call(turn % sets_, stream);
    }
  }
  void enqueue_timed(cudaStream_t stream, int turn) {
    begin_.record(stream);
    enqueue(stream, turn);
    end_.record(stream);
  }
  int calls() const { return calls_; }
  // Waits.
  double seconds_per_call() { return Event::seconds(begin_, end_) / calls_; }

 private:
  // Seconds of a call, for planning: one call between two events, but no less than its bytes take.
  double estimate(cudaStream_t stream) {
    begin_.record(stream);
    contestant_.call(0, stream);
    end_.record(stream);
    const double probe = Event::seconds(begin_, end_) - kEventSeconds;
    return std::max({contestant_.launches * kLaunchSeconds,
                     double(contestant_.bytes) / kBytesPerSecond, probe});
  }

  Device& device_;
  const Contestant& contestant_;
  int sets_;
  int calls_ = 1;
  cudaGraphExec_t graph_ = nullptr;
  Event begin_, end_;
};

class Rounds {
 public:
  Rounds(Device& device, cudaStream_t stream, std::span<const Contestant> contestants,
         const TimingOptions& options)
      : stream_(stream), options_(options), samples_(contestants.size()) {
    for (const Contestant& c : contestants) {
      works_.push_back(std::make_unique<Work>(device, stream, c, options));
      coarse_.push_back(c.coarse);
    }
  }

  // Every contestant once, each round starting with another, so that none always follows the same
  // one. All is enqueued before anything is waited for: the device never waits for the host between
  // two events. Untimed work goes first, while the queue fills.
  void run_round(bool keep) {
    const std::size_t n = works_.size();
    const auto at = [&](std::size_t i) { return (i + round_) % n; };
    if (options_.block && options_.mode == Mode::isolated) {
      options_.block(kEnqueueSeconds * double(n + 1), stream_);
    }
    works_[at(n - 1)]->enqueue(stream_, turn_++);
    for (std::size_t i = 0; i < n; ++i) works_[at(i)]->enqueue_timed(stream_, turn_++);
    if (keep && options_.while_busy && now() > next_look_) {
      options_.while_busy();
      next_look_ = now() + kSampleSeconds;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double seconds = works_[at(i)]->seconds_per_call();
      if (keep) samples_[at(i)].push_back(seconds);
    }
    ++round_;
  }

  void run() {
    const double begin = now();
    int warm_up = 0;
    double round_seconds = 0;
    while (warm_up < kMinWarmUpRounds || now() < begin + kWarmUpSeconds) {
      const double round_begin = now();
      run_round(false);
      const double seconds = now() - round_begin;
      round_seconds = warm_up == 0 ? seconds : std::min(round_seconds, seconds);
      ++warm_up;
    }
    const int rounds = rounds_within(options_.seconds, round_seconds, options_.max_rounds);
    // The plan bounds the samples; the clock bounds the time, should the plan be wrong.
    const double end = now() + options_.seconds;
    for (int i = 0; i < rounds; ++i) {
      if (i >= kMinRounds && (now() >= end || interrupted())) break;
      if (i >= kMinRounds && i % kRoundsBetweenChecks == 0 && converged()) break;
      run_round(true);
    }
  }

  std::vector<std::vector<double>> samples() { return std::move(samples_); }

 private:
  bool converged() const {
    if (!(options_.precision > 0)) return false;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (coarse_[i]) continue;
      const std::optional<double> half_width = summarize(samples_[i]).half_width();
      if (!half_width || *half_width > options_.precision) return false;
    }
    return true;
  }

  cudaStream_t stream_;
  const TimingOptions& options_;
  std::vector<bool> coarse_;
  std::vector<std::unique_ptr<Work>> works_;
  std::vector<std::vector<double>> samples_;
  std::size_t round_ = 0;
  int turn_ = 0;
  double next_look_ = 0;
};

}  // namespace

void check(Device& device, cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(fmt::format("{}: {}", what, device.describe(error)));
}

DeviceMemory::DeviceMemory(Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
  const cudaError_t error = device.allocate(&data_, bytes);
  if (error == cudaSuccess) return;
  if (error != cudaErrorMemoryAllocation) check(device, error, "allocating");  // throws
  throw SkipRow(fmt::format("needs {} bytes more device memory than there is: {}", bytes,
                            device.describe(error)));
}

DeviceMemory::~DeviceMemory() { (void)device_.release(data_); }

Stream::Stream(Device& device) : device_(device) {
  check(device, device.stream_create(&stream_), "creating a stream");
}

Stream::~Stream() { (void)device_.stream_destroy(stream_); }

void Stream::synchronize() const {
  check(device_, device_.stream_synchronize(stream_), "synchronising");
}

std::vector<std::vector<double>> time_interleaved(Device& device, cudaStream_t stream,
                                                  std::span<const Contestant> contestants,
                                                  const TimingOptions& options) {
  Rounds rounds(device, stream, contestants, options);
  rounds.run();
  return rounds.samples();
}

Endurance time_endurance(Device& device, cudaStream_t stream, const Contestant& contestant,
                         const TimingOptions& options, double idle_seconds,
                         const std::function<void(bool)>& on_sustained) {
  Work work(device, stream, contestant, options);
  check(device, device.stream_synchronize(stream), "waiting");
  std::this_thread::sleep_for(std::chrono::duration<double>(idle_seconds));
  // Two pieces are always in the queue, so that the device never pauses.
  Work other(device, stream, contestant, options);
  Work* pieces[] = {&work, &other};
  Endurance result;
  const double begin = now();
  double sustained_begin = 0;
  int turn = 0;
  pieces[0]->enqueue_timed(stream, turn++);
  while (true) {
    pieces[turn % 2]->enqueue_timed(stream, turn);
    const double seconds = pieces[(turn - 1) % 2]->seconds_per_call();
    ++turn;
    const double elapsed = now() - begin;
    if (elapsed <= kBurstSeconds || result.burst.empty()) result.burst.push_back(seconds);
    if (sustained_begin > 0) result.sustained.push_back(seconds);
    if (sustained_begin == 0 && elapsed >= options.seconds / 2) {
      on_sustained(false);
      sustained_begin = now();
    }
    if ((elapsed >= options.seconds && !result.sustained.empty()) || interrupted()) break;
  }
  on_sustained(true);
  result.sustained_seconds = sustained_begin > 0 ? now() - sustained_begin : 0;
  result.sustained_calls = double(result.sustained.size()) * work.calls();
  check(device, device.stream_synchronize(stream), "waiting");
  return result;
}

int sets_for_cold(std::int64_t bytes_per_set, std::size_t l2_bytes) {
  const double footprint = std::max(kColdBytes, kColdL2Multiple * double(l2_bytes));
  const double sets = std::ceil(footprint / double(std::max<std::int64_t>(bytes_per_set, 1)));
  return int(std::clamp(sets, 1.0, double(kMaxSets)));
}

int calls_per_graph(double seconds_per_call, int sets, int launches_per_call) {
  const int most = std::max(1, kMaxGraphLaunches / launches_per_call);
  const double rotation = std::max(seconds_per_call, kLaunchSeconds) * sets;
  const double rotations = std::max(1.0, std::ceil(kGraphSeconds / rotation));
  return int(std::min<double>(most, rotations * sets));
}

bool is_cold(std::int64_t bytes_per_set, int sets, std::size_t l2_bytes) {
  return double(bytes_per_set) * sets > 2.0 * double(l2_bytes);
}

int rounds_within(double seconds, double seconds_per_round, int max_rounds) {
  if (!(seconds_per_round > 0)) return kMinRounds;
  return int(std::clamp(seconds / seconds_per_round, double(kMinRounds),
                        double(std::max(max_rounds, kMinRounds))));
}

}  // namespace libkernels::bench
