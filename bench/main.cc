// lkbench: chooses the mode (a GPU: measured; none: counted on the emulator), lets Google Benchmark
// drive the suite and prints one table from the records.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "bench/baselines/libraries.h"
#include "bench/bench_row.h"
#include "bench/context.h"
#include "bench/counted.h"
#include "bench/process.h"
#include "bench/runner.h"
#include "bench/suites.h"
#include "include/libkernels/error.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kFailure = 1;

// Google Benchmark's own output, when nobody asked for it.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// Null if the CUDA backend has a device, else why it has none.
std::string why_no_gpu() {
#if defined(LK_HAVE_CUDA)
  int count = 0;
  Device& device = cuda_backend().device();
  const cudaError_t error = device.count(&count);
  if (error != cudaSuccess) return device.describe(error);
  return count > 0 ? "" : "no GPU here";
#else
  return "built without CUDA";
#endif
}

void check_emulated_devices(Flags* flags) {
  if (flags->devices.empty()) flags->devices = {"h200"};
  for (const std::string& name : flags->devices) {
    if (emulator::find_profile(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const DeviceProperties& p : emulator::profiles()) known.emplace_back(p.name);
    throw FlagError(
        fmt::format("--device={}: no such emulated device{}", name, did_you_mean(name, known)));
  }
}

// What the library, and where it counts the emulator, would refuse every row for.
void check_environment(const Backend& backend, bool counted) {
  try {
    if (counted) (void)emulator::settings();
    backend.preload(LK_OP_ALL);
  } catch (const std::invalid_argument& fault) {  // the emulator's
    throw FlagError(fault.what());
  } catch (const invalid_argument& fault) {
    throw FlagError(fault.what());
  }
}

void list_rows(const std::vector<BenchRow>& rows) {
  for (const BenchRow& row : rows) fmt::print("{}  {} bytes\n", row.name, row.floor_bytes);
}

// What the library says of each problem; its reasons, where it refuses.
void explain_rows(const Backend& backend, const Contestants& contestants, const Flags& flags,
                  const Problems& problems) {
  const Site site{.backend = backend, .contestants = contestants, .arch = flags.arch};
  for (const std::unique_ptr<Problem>& problem : problems) {
    std::string text;
    try {
      Workplace place(site, problem->buffers(), 1, false);
      text = problem->explain(place);
    } catch (const std::exception& reason) {
      text = fmt::format("{}\n", reason.what());
    }
    fmt::print("{}\n{}\n", benchmark_name(problem->about()), text);
  }
}

// Hands Google Benchmark its flags and runs what is registered.
void drive(const Flags& flags, char* program, const Context& context) {
  // A row runs once, whatever the environment's BENCHMARK_REPETITIONS says.
  std::vector<std::string> texts{"--benchmark_repetitions=1"};
  texts.insert(texts.end(), flags.benchmark.begin(), flags.benchmark.end());
  std::vector<char*> arguments{program};
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = int(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) {
    throw FlagError(fmt::format("Google Benchmark does not accept {}", arguments[1]));
  }
  for (const auto& [key, value] : context) benchmark::AddCustomContext(key, value);
  SilentReporter silent;
  const bool speaks = flags.benchmark_console || flags.benchmark_list;
  const std::size_t matched =
      speaks ? benchmark::RunSpecifiedBenchmarks() : benchmark::RunSpecifiedBenchmarks(&silent);
  if (matched == 0) {
    throw FlagError(
        fmt::format("the filters leave no row: {} match none", fmt::join(flags.benchmark, " ")));
  }
}

int report_and_judge(const Flags& flags, const Report& report) {
  // The file first, but what is wrong with it is said last: neither output is lost with the other.
  std::exception_ptr unwritten;
  try {
    if (!flags.out.empty() && !report.records.empty()) write_file(flags.out, to_json(report));
  } catch (const std::exception&) {
    unwritten = std::current_exception();
  }
  // With Google Benchmark's output on stdout, stdout must stay parsable.
  std::FILE* stream = flags.benchmark_console ? stderr : stdout;
  const std::string versus = versus_table(report);
  fmt::print(stream, "{}\n{}{}{}", headline(report.context),
             versus.empty() ? measured_table(report) : versus, counted_table(report),
             ceilings_table(report));
  flush_output();
  if (unwritten) std::rethrow_exception(unwritten);
  int failed = 0;
  for (const Record& record : report.records) failed += record.failed;
  if (failed > 0) fmt::print(stderr, "lkbench: {} records failed; see the last column\n", failed);
  if (interrupted()) return kInterruptedExit;
  return failed > 0 ? kFailure : 0;
}

int run(Flags flags, const std::string& command, char* program) {
  const std::string no_gpu = why_no_gpu();
  const bool counted = flags.emulate || !flags.devices.empty() || !no_gpu.empty();
  if (counted) check_emulated_devices(&flags);
  if (counted && !no_gpu.empty() && !flags.list) {
    fmt::print(stderr, "lkbench: {}; the emulator counts instead\n", no_gpu);
  }
  if (counted && !flags.timing.empty()) {
    fmt::print(stderr, "lkbench: no effect on counted rows: {}\n", fmt::join(flags.timing, ", "));
  }
  Report report;
  std::unique_ptr<GpuMonitor> monitor;
  std::unique_ptr<Runner> runner;
  if (counted) {
    check_environment(emu_backend(), true);
    report.context = counted_context(flags, command);
    runner = make_counted_runner(emu_backend(), emu_contestants(), flags);
  } else {
#if defined(LK_HAVE_CUDA)
    check_environment(cuda_backend(), false);
    const DeviceProperties* device = nullptr;
    if (cuda_backend().device().properties(&device) != cudaSuccess) {
      throw std::runtime_error("the GPU's properties cannot be read");
    }
    char bus_id[32] = {};
    if (cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), 0) != cudaSuccess) bus_id[0] = 0;
    monitor = std::make_unique<GpuMonitor>(device->name, bus_id);
    report.context = measured_context(flags, command, *device, *monitor);
    runner = make_timed_runner(cuda_backend(), cuda_contestants_with_libraries(), flags, *monitor);
#endif
  }
  const Problems problems = chosen_problems(flags, counted);
  if (problems.empty()) throw FlagError(why_no_row(flags, counted));
  const std::vector<BenchRow> rows = bench_rows(*runner, problems, counted);
  if (flags.list) {
    list_rows(rows);
    return 0;
  }
  if (flags.explain) {
#if defined(LK_HAVE_CUDA)
    if (!counted) explain_rows(cuda_backend(), cuda_contestants_with_libraries(), flags, problems);
#endif
    if (counted) {
      const CountingScope device(flags.devices.front());
      explain_rows(emu_backend(), emu_contestants(), flags, problems);
    }
    return 0;
  }
  if (const std::string reason = flags.out.empty() ? "" : why_not_writable(flags.out);
      !reason.empty() && !flags.benchmark_list) {
    throw FlagError(fmt::format("--out={}: cannot be written: {}", flags.out, reason));
  }
  register_rows(rows, counted, &report);
  drive(flags, program, report.context);
  benchmark::Shutdown();
  if (flags.ceilings && !flags.benchmark_list && !interrupted()) runner->measure_ceilings();
  report.ceilings = runner->ceilings();
  return flags.benchmark_list ? 0 : report_and_judge(flags, report);
}

}  // namespace
}  // namespace libkernels::bench

int main(int argc, char** argv) {
  using namespace libkernels::bench;
  try {
    prepare_process();
    const Flags flags = parse_flags(std::vector<std::string>(argv + 1, argv + argc));
    if (flags.help) {
      fmt::print("{}", help_text());
      flush_output();
      return 0;
    }
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const int code = run(flags, fmt::format("{}", fmt::join(arguments, " ")), argv[0]);
    flush_output();
    return code;
  } catch (const FlagError& error) {
    fmt::print(stderr, "lkbench: {}\n", error.what());
    return kUsageError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lkbench: {}\n", error.what());
    return kFailure;
  }
}
