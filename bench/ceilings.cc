#include "bench/ceilings.h"

#include <algorithm>

namespace libkernels::bench {
namespace {

constexpr std::size_t kCopyUnit = 16;

}  // namespace

std::size_t copy_bytes_for(std::int64_t op_bytes) {
  const std::size_t half = (std::size_t(op_bytes) + 1) / 2;
  return (half + kCopyUnit - 1) / kCopyUnit * kCopyUnit;
}

std::vector<Contestant> copy_contestants(Device& device, const Contestants& contestants,
                                         const DeviceProperties& properties,
                                         const CopyBuffers& buffers) {
  std::vector<Contestant> copies;
  const std::int64_t moved = 2 * std::int64_t(buffers.bytes);
  for (const CopyKernel& kernel : contestants.copies) {
    copies.push_back(
        {.name = kernel.name, .bytes = moved, .call = [&](int set, cudaStream_t stream) {
           check(device,
                 kernel.launch({.dst = buffers.dst(set),
                                .src = buffers.src(set),
                                .bytes = buffers.bytes,
                                .properties = &properties,
                                .stream = stream}),
                 kernel.name);
         }});
  }
  copies.push_back(
      {.name = "copy_on_device", .bytes = moved, .call = [&](int set, cudaStream_t stream) {
         check(device,
               device.copy_on_device(buffers.dst(set), buffers.src(set), buffers.bytes, stream),
               "copy_on_device");
       }});
  return copies;
}

std::vector<CopyResult> copy_results(std::span<const Contestant> copies,
                                     std::span<const std::vector<double>> samples,
                                     std::size_t copy_bytes) {
  std::vector<CopyResult> results;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Summary seconds = summarize(samples[i]);
    const double rate = seconds.median > 0 ? 2.0 * double(copy_bytes) / seconds.median : 0;
    results.push_back({.kernel = copies[i].name, .seconds = seconds, .bytes_per_s = rate});
  }
  return results;
}

const CopyResult* best(std::span<const CopyResult> results) {
  const auto fastest = std::max_element(
      results.begin(), results.end(),
      [](const CopyResult& a, const CopyResult& b) { return a.bytes_per_s < b.bytes_per_s; });
  return fastest == results.end() || fastest->seconds.samples == 0 ? nullptr : &*fastest;
}

double fraction_of_ceiling(double op_bytes, double seconds, double ceiling_bytes_per_s) {
  if (!(seconds > 0) || !(ceiling_bytes_per_s > 0)) return 0;
  return op_bytes / ceiling_bytes_per_s / seconds;
}

}  // namespace libkernels::bench
