// A row of the GeLU suite on a GPU: buffers, verification, timing, records.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/ceilings.h"
#include "bench/gelu_suite.h"
#include "bench/harness.h"
#include "bench/records.h"

namespace libkernels::bench {
namespace {

// The input repeats with this period (a prime, so that no kernel's piece divides it): one period is
// compared with fp64 on the host, the rest with the first period on the device.
constexpr std::size_t kPeriod = 524287;
constexpr std::size_t kAlignment = 256;  // of a set's buffers, as cudaMalloc's

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// How much memory a row takes, before any is asked for.
struct Layout {
  Layout(const GeluRow& row, std::size_t l2_bytes) {
    const Floor floor = gelu_floor(row.n, row.types.x, row.types.y);
    copy_bytes = copy_bytes_for(floor.bytes());
    x_size = size_of(row.types.x);
    y_size = size_of(row.types.y);
    x_offset = std::size_t(row.x_offset) * x_size;
    y_offset = std::size_t(row.y_offset) * y_size;
    x_pitch = round_up(std::max(std::size_t(floor.read_bytes) + x_offset, copy_bytes));
    y_pitch = round_up(std::max(std::size_t(floor.written_bytes) + y_offset, copy_bytes));
    scratch = round_up(std::size_t(row.n) * x_size);
    sets = sets_for_cold(floor.bytes(), l2_bytes);
    is_cold = double(floor.bytes()) * sets > 2.0 * double(l2_bytes);
  }
  std::size_t total() const { return std::size_t(sets) * (x_pitch + y_pitch) + 2 * scratch; }

  std::size_t copy_bytes, x_size, y_size, x_offset, y_offset, x_pitch, y_pitch, scratch;
  int sets;
  bool is_cold;
};

// The device memory of a row: `sets` inputs and outputs, and the unfused chain's temporaries, which
// all sets share as an allocator would reuse them.
class Buffers {
 public:
  Buffers(Device& device, const Layout& layout)
      : layout_(layout),
        x_(device, std::size_t(layout.sets) * layout.x_pitch),
        y_(device, std::size_t(layout.sets) * layout.y_pitch),
        first_(device, layout.scratch),
        second_(device, layout.scratch),
        flag_(device, sizeof(std::uint32_t)) {}

  unsigned char* x_base(int set) const { return x_.data() + std::size_t(set) * layout_.x_pitch; }
  unsigned char* y_base(int set) const { return y_.data() + std::size_t(set) * layout_.y_pitch; }
  const void* x(int set) const { return x_base(set) + layout_.x_offset; }
  void* y(int set) const { return y_base(set) + layout_.y_offset; }
  GeluScratch scratch() const { return {.first = first_.data(), .second = second_.data()}; }
  std::uint32_t* flag() const { return reinterpret_cast<std::uint32_t*>(flag_.data()); }

 private:
  const Layout& layout_;
  DeviceMemory x_, y_, first_, second_, flag_;
};

class RowRun {
 public:
  RowRun(const Backend& backend, const Contestants& contestants, const DeviceProperties& properties,
         const GeluReference& reference, const GeluRow& row, const Layout& layout)
      : device_(backend.device()),
        backend_(backend),
        contestants_(contestants),
        properties_(properties),
        reference_(reference),
        row_(row),
        layout_(layout),
        buffers_(device_, layout),
        stream_(device_) {}

  std::vector<Record> run(const Flags& flags, const GpuMonitor& monitor) {
    fill_inputs();
    const CopyBuffers copy_buffers{.dst = [&](int set) -> void* { return buffers_.y_base(set); },
                                   .src = [&](int set) { return buffers_.x_base(set); },
                                   .bytes = layout_.copy_bytes};
    std::vector<Contestant> timed =
        copy_contestants(device_, contestants_, properties_, copy_buffers);
    for (const Contestant& copy : timed) verify_copy(copy);
    const std::size_t copies = timed.size();
    verify_ways(name(flags.mode), &timed);

    std::optional<GpuState> gpu;
    const TimingOptions options{
        .mode = flags.mode, .seconds = flags.seconds, .sets = layout_.sets, .while_busy = [&] {
          gpu = monitor.sample();
        }};
    const auto samples = time_interleaved(device_, stream_.get(), timed, options);
    const auto results = copy_results(std::span(timed).first(copies),
                                      std::span(samples).first(copies), layout_.copy_bytes);
    finish_records(results, std::span(samples).subspan(copies), gpu);
    add_copy_records(results, name(flags.mode), gpu);
    return std::move(records_);
  }

 private:
  // Every set's input: the period repeated, from the input pointer to the end of the set.
  void fill_inputs() {
    unsigned char* first = buffers_.x_base(0) + layout_.x_offset;
    const std::size_t room = (layout_.x_pitch - layout_.x_offset) / layout_.x_size * layout_.x_size;
    const std::size_t period = std::min(kPeriod * layout_.x_size, room);
    enqueue(device_.fill(buffers_.x_base(0), 0, layout_.x_pitch, stream_.get()));
    enqueue(device_.copy_to_device(first, reference_.x.data(), period, stream_.get()));
    for (std::size_t filled = period; filled < room;) {
      const std::size_t more = std::min(filled, room - filled);
      enqueue(device_.copy_on_device(first + filled, first, more, stream_.get()));
      filled += more;
    }
    for (int set = 1; set < layout_.sets; ++set) {
      enqueue(device_.copy_on_device(buffers_.x_base(set), buffers_.x_base(0), layout_.x_pitch,
                                     stream_.get()));
    }
    stream_.synchronize();
  }

  void enqueue(cudaError_t error) { check(device_, error, "preparing a row"); }

  // Whether a[i] has the bits of b[i % period].
  bool same_bits(const void* a, const void* b, std::size_t element_bytes, std::int64_t n,
                 std::int64_t period) {
    enqueue(device_.fill(buffers_.flag(), 0, sizeof(std::uint32_t), stream_.get()));
    enqueue(contestants_.compare({.a = a,
                                  .b = b,
                                  .element_bytes = int(element_bytes),
                                  .n = n,
                                  .period = period,
                                  .flag = buffers_.flag(),
                                  .stream = stream_.get()}));
    std::uint32_t differs = 1;
    enqueue(device_.copy_to_host(&differs, buffers_.flag(), sizeof(differs), stream_.get()));
    stream_.synchronize();
    return differs == 0;
  }

  void poison_output() {
    enqueue(device_.fill(buffers_.y_base(0), 0xff, layout_.y_pitch, stream_.get()));
  }

  void verify_copy(const Contestant& copy) {
    poison_output();
    copy.call(0, stream_.get());
    const std::int64_t words = std::int64_t(layout_.copy_bytes / sizeof(std::uint32_t));
    if (!same_bits(buffers_.y_base(0), buffers_.x_base(0), sizeof(std::uint32_t), words, words)) {
      throw std::runtime_error(fmt::format("{} does not copy", copy.name));
    }
  }

  ErrorSummary verify(const GeluWay& way, std::string* fault) {
    poison_output();
    way.call(buffers_.x(0), buffers_.y(0), stream_.get());
    const std::size_t n = std::min(std::size_t(row_.n), kPeriod);
    std::vector<std::byte> y(n * layout_.y_size);
    enqueue(device_.copy_to_host(y.data(), buffers_.y(0), y.size(), stream_.get()));
    stream_.synchronize();
    const ErrorSummary error = compare(reference_, y.data(), n);
    *fault = judge(way.role, error);
    if (fault->empty() &&
        !same_bits(buffers_.y(0), buffers_.y(0), layout_.y_size, row_.n, std::int64_t(n))) {
      *fault = "WRONG: results differ where inputs are equal";
    }
    return error;
  }

  // Appends what is right to `timed`, and a record for each way.
  void verify_ways(const std::string& mode, std::vector<Contestant>* timed) {
    const auto ways =
        gelu_ways(backend_, contestants_, row_, buffers_.x(0), buffers_.y(0), buffers_.scratch());
    for (const GeluWay& way : ways) {
      Record record = gelu_record(row_, way.role, way.kernel, mode);
      record.launches = way.launches;
      const ErrorSummary error = verify(way, &record.note);
      record.error_ulp = error.max_ulp;
      record.error_fraction = error.max_fraction;
      record.failed = !record.note.empty();
      if (!record.failed) {
        timed->push_back({.name = way.kernel,
                          .launches = way.launches,
                          .bytes = record.floor_bytes * way.launches,
                          .call = [this, call = way.call](int set, cudaStream_t stream) {
                            call(buffers_.x(set), buffers_.y(set), stream);
                          }});
      }
      records_.push_back(std::move(record));
    }
  }

  // `samples`: of the records that did not fail, in their order.
  void finish_records(std::span<const CopyResult> copies,
                      std::span<const std::vector<double>> samples,
                      const std::optional<GpuState>& gpu) {
    std::size_t next = 0;
    for (Record& r : records_) {
      if (r.failed) continue;
      set_time(&r, samples[next++]);
      set_ceiling(&r, best(copies));
      r.gpu = gpu;
      if (!layout_.is_cold) r.note = "warm: more sets than lkbench makes would be needed";
    }
    set_speedups(&records_);
  }

  void add_copy_records(std::span<const CopyResult> copies, const std::string& mode,
                        const std::optional<GpuState>& gpu) {
    const CopyResult* ceiling = best(copies);
    for (const CopyResult& copy : copies) {
      Record r = gelu_record(row_, "ceiling", copy.kernel, mode);
      r.floor_bytes = 2 * std::int64_t(layout_.copy_bytes);
      r.us = copy.seconds;
      for (double* v : {&r.us->median, &r.us->q1, &r.us->q3, &r.us->min, &r.us->max}) *v *= 1e6;
      r.gb_per_s = copy.bytes_per_s * 1e-9;
      r.gpu = gpu;
      if (ceiling != nullptr) {
        r.ceiling_kernel = ceiling->kernel;
        r.ceiling_gb_per_s = ceiling->bytes_per_s * 1e-9;
        r.ceiling_fraction = copy.bytes_per_s / ceiling->bytes_per_s;
      }
      records_.push_back(std::move(r));
    }
  }

  Device& device_;
  const Backend& backend_;
  const Contestants& contestants_;
  const DeviceProperties& properties_;
  const GeluReference& reference_;
  const GeluRow& row_;
  const Layout& layout_;
  Buffers buffers_;
  Stream stream_;
  std::vector<Record> records_;
};

class TimedGelu : public GeluSuite {
 public:
  TimedGelu(const Backend& backend, const Contestants& contestants, const Flags& flags,
            const GpuMonitor& monitor)
      : backend_(backend), contestants_(contestants), flags_(flags), monitor_(monitor) {
    check(backend.device(), backend.device().properties(&properties_), "reading the device");
    backend.preload(LK_OP_GELU);
  }

  std::vector<Record> run(const GeluRow& row) override {
    const Layout layout(row, properties_->l2_bytes);
    return records_or_reason(gelu_record(row, "fused", "gelu", name(flags_.mode)), "", [&] {
      try {
        return RowRun(backend_, contestants_, *properties_, references_.get(row, kPeriod), row,
                      layout)
            .run(flags_, monitor_);
      } catch (const SkipRow& reason) {
        throw SkipRow(fmt::format("needs {} bytes in all; {}", layout.total(), reason.what()));
      }
    });
  }

 private:
  const Backend& backend_;
  const Contestants& contestants_;
  const Flags& flags_;
  const GpuMonitor& monitor_;
  const DeviceProperties* properties_ = nullptr;
  GeluReferences references_;
};

}  // namespace

std::unique_ptr<GeluSuite> make_timed_gelu(const Backend& backend, const Contestants& contestants,
                                           const Flags& flags, const GpuMonitor& monitor) {
  return std::make_unique<TimedGelu>(backend, contestants, flags, monitor);
}

}  // namespace libkernels::bench
