#include "bench/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/model.h"
#include "bench/statistics.h"
#include "bench/verify.h"

namespace libkernels::bench {
namespace {

constexpr std::size_t kUnit = 16;
constexpr std::size_t kPeriod = 1 << 20;  // bytes of random data, repeated
constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kSrc = 0, kDst = 1;
// A math kernel runs about this long in each launch.
constexpr double kMathSeconds = 300e-6;
constexpr int kProbeIterations = 200;

std::vector<BufferSpec> specs(Traffic traffic, std::size_t bytes) {
  return {{.use = BufferUse::input, .bytes = traffic == Traffic::write ? kUnit : bytes},
          {.use = BufferUse::output, .bytes = traffic == Traffic::read ? kUnit : bytes}};
}

const char* name(Traffic traffic) {
  return traffic == Traffic::copy ? "copy" : traffic == Traffic::read ? "read" : "write";
}

std::span<const StreamKernel> kernels_of(const Contestants& all, Traffic traffic) {
  return traffic == Traffic::copy ? all.copies : traffic == Traffic::read ? all.reads : all.writes;
}

// Marks the record with the highest rate among those from `first` on; null if there is none.
CeilingRecord* mark_best(std::vector<CeilingRecord>* records, std::size_t first) {
  CeilingRecord* best = nullptr;
  for (std::size_t i = first; i < records->size(); ++i) {
    CeilingRecord& r = (*records)[i];
    if (r.us.samples > 0 && (best == nullptr || r.per_s > best->per_s)) best = &r;
  }
  if (best != nullptr) best->best = true;
  return best;
}

// The type of the multiplications: "tf32" of "tf32x3->f32"; both fp8 types are as fast as e4m3.
std::string multiplied_as(const std::string& types) {
  const std::string input = types.substr(0, types.find("->"));
  if (input.starts_with("f8")) return "e4m3";
  return input == "tf32x3" ? "tf32" : input;
}

}  // namespace

std::size_t stream_bytes(Traffic traffic, std::int64_t op_bytes) {
  const std::size_t all = std::size_t(op_bytes);
  const std::size_t one_way = traffic == Traffic::copy ? (all + 1) / 2 : all;
  return (one_way + kUnit - 1) / kUnit * kUnit;
}

StreamTrack::StreamTrack(const Site& site, Traffic traffic, std::int64_t op_bytes, int sets)
    : traffic_(traffic),
      bytes_(stream_bytes(traffic, op_bytes)),
      place_(site, specs(traffic, bytes_), sets, false) {
  place_.upload_repeated(
      kSrc, normal_values(DType::f32, std::min(kPeriod, bytes_) / sizeof(float), kSeed));
  place_.copy_inputs_to_all_sets();
}

std::int64_t StreamTrack::bytes_moved() const {
  return std::int64_t(bytes_) * (traffic_ == Traffic::copy ? 2 : 1);
}

StreamCall StreamTrack::call(int set, cudaStream_t stream) const {
  return {.dst = place_.at(kDst, set),
          .src = place_.at(kSrc, set),
          .bytes = bytes_,
          .properties = &place_.properties(),
          .stream = stream};
}

std::vector<Contestant> StreamTrack::candidates() {
  std::vector<Contestant> all;
  const auto add = [&](const char* kernel, std::function<cudaError_t(const StreamCall&)> launch) {
    all.push_back(
        {.name = kernel,
         .launches = 1,
         .bytes = bytes_moved(),
         .call = [this, kernel, launch = std::move(launch)](int set, cudaStream_t stream) {
           check(place_.device(), launch(call(set, stream)), kernel);
         }});
  };
  for (const StreamKernel& kernel : kernels_of(place_.contestants(), traffic_)) {
    add(kernel.name, kernel.launch);
  }
  if (traffic_ == Traffic::copy) {
    add("copy_on_device", [this](const StreamCall& c) {
      return place_.device().copy_on_device(c.dst, c.src, c.bytes, c.stream);
    });
  } else if (traffic_ == Traffic::write) {
    add("fill",
        [this](const StreamCall& c) { return place_.device().fill(c.dst, 0, c.bytes, c.stream); });
  }
  return all;
}

void StreamTrack::verify(const Contestant& candidate) {
  place_.poison_outputs();
  candidate.call(0, place_.stream());
  place_.synchronize();
  if (traffic_ == Traffic::read) return;  // it leaves nothing to look at; the emulator counts it
  const std::size_t period = traffic_ == Traffic::copy ? std::min(kPeriod, bytes_) : kUnit;
  const std::int64_t words = std::int64_t(bytes_ / sizeof(std::uint32_t));
  const std::vector<std::byte> first = place_.download(kDst, 0, period);
  const std::vector<std::byte> wanted =
      traffic_ == Traffic::copy ? place_.download(kSrc, 0, period) : std::vector<std::byte>(period);
  if (first != wanted || !place_.repeats(kDst, sizeof(std::uint32_t), words,
                                         std::int64_t(period / sizeof(std::uint32_t)))) {
    throw std::runtime_error(fmt::format("{} does not {}", candidate.name, name(traffic_)));
  }
}

Ceilings::Ceilings(const Site& site, const TimingOptions& options, const GpuMonitor& monitor,
                   std::optional<int> sets)
    : site_(site), options_(options), monitor_(monitor), sets_(sets) {
  check(site.backend.device(), site.backend.device().properties(&properties_),
        "reading the device");
}

std::string Ceilings::best_stream(Traffic traffic, std::int64_t op_bytes) {
  const auto [found, fresh] = winners_.try_emplace({traffic, size_class(op_bytes)});
  if (!fresh) return found->second;
  try {
    TimingOptions options = options_;
    options.sets = sets_.value_or(sets_for_cold(op_bytes, properties_->l2_bytes));
    std::optional<GpuState> gpu;
    options.while_busy = [&] { gpu = monitor_.sample(); };
    StreamTrack track(site_, traffic, op_bytes, options.sets);
    const std::vector<Contestant> all = track.candidates();
    for (const Contestant& candidate : all) track.verify(candidate);
    const Stream stream(site_.backend.device());
    const auto samples = time_interleaved(site_.backend.device(), stream.get(), all, options);
    const std::size_t first = records_.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      CeilingRecord r{.kind = name(traffic), .kernel = all[i].name, .bytes = track.bytes_moved()};
      const Summary seconds = summarize(samples[i]);
      r.us = seconds.scaled(1e6);
      r.per_s = seconds.median > 0 ? double(r.bytes) / seconds.median : 0;
      r.datasheet_per_s = datasheet_of(properties_->name).bytes_per_s;
      r.gpu = gpu;
      records_.push_back(std::move(r));
    }
    if (const CeilingRecord* best = mark_best(&records_, first)) found->second = best->kernel;
  } catch (const SkipRow&) {  // the row says so itself, if it is too large as well
  }
  return found->second;
}

void Ceilings::measure_math() {
  has_math_ = true;
  Device& device = site_.backend.device();
  const DeviceMemory sink(device, sizeof(std::uint32_t));
  const Stream stream(device);
  for (const MathKernel& kernel : site_.contestants.maths) {
    if (properties_->cc_major < kernel.cc_major || properties_->cc_major > kernel.cc_major_last) {
      continue;
    }
    MathCall call{.sink = reinterpret_cast<std::uint32_t*>(sink.data()),
                  .iterations = kProbeIterations,
                  .properties = properties_,
                  .stream = stream.get()};
    const Contestant contestant{
        .name = kernel.name, .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t s) {
          MathCall now = call;
          now.stream = s;
          check(device, kernel.launch(now), kernel.name);
        }};
    TimingOptions options = options_;
    options.sets = 1;
    std::optional<GpuState> gpu;
    options.while_busy = [&] { gpu = monitor_.sample(); };
    const auto time = [&] {
      return summarize(
          time_interleaved(device, stream.get(), std::span(&contestant, 1), options)[0]);
    };
    TimingOptions full = options;
    options.max_rounds = 1;
    const double probe = time().median;
    if (!(probe > 0)) continue;
    call.iterations = int(std::clamp(kProbeIterations * kMathSeconds / probe, 1.0, 1e8));
    options = full;
    const Summary seconds = time();
    CeilingRecord r{.kind = kernel.unit, .kernel = kernel.name};
    r.flops = kernel.flops(call);
    r.us = seconds.scaled(1e6);
    r.per_s = seconds.median > 0 ? r.flops / seconds.median : 0;
    const Datasheet sheet = datasheet_of(properties_->name);
    const double factor = tensor_factor(r.kind.substr(r.kind.find_last_of(' ') + 1));
    r.datasheet_per_s = factor == 0 ? sheet.f32_flops : factor * sheet.bf16_flops;
    r.gpu = gpu;
    records_.push_back(std::move(r));
  }
  for (std::size_t i = 0; i < records_.size(); ++i) {  // of each unit the best
    CeilingRecord& r = records_[i];
    if (!(r.flops > 0) || r.us.samples == 0) continue;
    r.best = std::none_of(records_.begin(), records_.end(), [&](const CeilingRecord& o) {
      return o.kind == r.kind && o.per_s > r.per_s;
    });
  }
}

Ceilings::Rate Ceilings::best_math(const std::string& types, int arch) {
  if (!has_math_) measure_math();
  return best_rate(records_, types, arch);
}

Ceilings::Rate best_rate(const std::vector<CeilingRecord>& records, const std::string& types,
                         int arch) {
  const double factor = tensor_factor(types);
  const std::string type = multiplied_as(types);
  Ceilings::Rate own, derived;  // of the type itself; by the data sheet's ratio to bf16
  for (const CeilingRecord& r : records) {
    if (!(r.flops > 0)) continue;
    const std::size_t space = r.kind.find_last_of(' ');
    const std::string of = r.kind.substr(space + 1);
    if (arch == 80 && factor != 0 && !r.kind.starts_with("mma.sync")) continue;
    const auto better = [&](Ceilings::Rate* best, double share) {
      if (r.per_s * share <= best->flops_per_s) return;
      best->flops_per_s = r.per_s * share;
      best->kernel = share == 1 ? r.kind : fmt::format("{} x {:.3g}", r.kind, share);
    };
    if (of == type) {
      better(&own, types.starts_with("tf32x3") ? 1.0 / 3 : 1);
    } else if (of == "bf16" && factor != 0) {
      better(&derived, factor);
    }
  }
  return own.flops_per_s > 0 ? own : derived;
}

std::int64_t size_class(std::int64_t bytes) {
  if (bytes < 64) return bytes;
  const int shift = std::bit_width(std::uint64_t(bytes)) - 6;
  const std::int64_t unit = std::int64_t{1} << shift;
  return (bytes + unit / 2) / unit * unit;
}

double fraction_of_ceiling(double amount, double seconds, double ceiling_per_s) {
  if (!(seconds > 0) || !(ceiling_per_s > 0)) return 0;
  return amount / ceiling_per_s / seconds;
}

double tensor_factor(const std::string& types) {
  const std::string input = types.substr(0, types.find("->"));
  if (input == "f32") return 0;
  if (input == "tf32") return 0.5;
  if (input == "tf32x3") return 0.5 / 3;
  if (input.starts_with("f8") || input == "e4m3") return 2;
  return 1;
}

}  // namespace libkernels::bench
