#include "bench/workplace.h"

#include <fmt/format.h>

#include <algorithm>

namespace libkernels::bench {
namespace {

constexpr std::size_t kAlignment = 256;  // of a set's buffers, as cudaMalloc's
constexpr int kPoison = 0xff;            // NaN in every type

std::size_t pitch_of(const BufferSpec& spec, bool tight) {
  const std::size_t bytes = std::max<std::size_t>(spec.offset + spec.bytes, 1);
  return tight ? bytes : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t copies_of(const BufferSpec& spec, int sets) {
  return spec.use == BufferUse::scratch ? 1 : std::size_t(sets);
}

}  // namespace

std::size_t workplace_bytes(std::span<const BufferSpec> buffers, int sets) {
  std::size_t total = 0;
  for (const BufferSpec& spec : buffers) total += pitch_of(spec, false) * copies_of(spec, sets);
  return total;
}

Workplace::Workplace(const Site& site, std::span<const BufferSpec> buffers, int sets, bool tight)
    : site_(site),
      device_(site.backend.device()),
      specs_(buffers.begin(), buffers.end()),
      sets_(sets),
      tight_(tight && sets == 1),
      flag_(device_, sizeof(std::uint32_t)),
      stream_(device_) {
  check(device_, device_.properties(&properties_), "reading the device");
  try {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      memory_.push_back(
          std::make_unique<DeviceMemory>(device_, pitch(i) * copies_of(specs_[i], sets_)));
    }
  } catch (const SkipRow& reason) {
    throw SkipRow(
        fmt::format("needs {} bytes in all; {}", workplace_bytes(buffers, sets), reason.what()));
  }
}

std::size_t Workplace::pitch(std::size_t index) const { return pitch_of(specs_[index], tight_); }

unsigned char* Workplace::at(std::size_t index, int set) const {
  const BufferSpec& spec = specs_[index];
  const std::size_t skipped = spec.use == BufferUse::scratch ? 0 : std::size_t(set) * pitch(index);
  return memory_[index]->data() + skipped + spec.offset;
}

void Workplace::upload(std::size_t index, std::span<const std::byte> data) {
  const std::size_t count = std::min(data.size(), bytes(index));
  if (count > 0) enqueue(device_.copy_to_device(at(index), data.data(), count, stream()));
  stream_.synchronize();
}

void Workplace::upload_repeated(std::size_t index, std::span<const std::byte> period) {
  upload(index, period);
  unsigned char* first = at(index);
  for (std::size_t filled = std::min(period.size(), bytes(index)); filled < bytes(index);) {
    const std::size_t more = std::min(filled, bytes(index) - filled);
    enqueue(device_.copy_on_device(first + filled, first, more, stream()));
    filled += more;
  }
  stream_.synchronize();
}

std::vector<std::byte> Workplace::download(std::size_t index, std::size_t first_byte,
                                           std::size_t count) const {
  std::vector<std::byte> data(count);
  if (count > 0) {
    enqueue(device_.copy_to_host(data.data(), at(index) + first_byte, count, stream()));
  }
  check(device_, device_.stream_synchronize(stream()), "reading a result");
  return data;
}

bool Workplace::repeats(std::size_t index, std::size_t element_bytes, std::int64_t n,
                        std::int64_t period) {
  if (n <= period) return true;
  auto* flag = reinterpret_cast<std::uint32_t*>(flag_.data());
  enqueue(device_.fill(flag, 0, sizeof(*flag), stream()));
  enqueue(contestants().compare({.a = at(index),
                                 .b = at(index),
                                 .element_bytes = int(element_bytes),
                                 .n = n,
                                 .period = period,
                                 .flag = flag,
                                 .stream = stream()}));
  std::uint32_t differs = 1;
  enqueue(device_.copy_to_host(&differs, flag, sizeof(differs), stream()));
  stream_.synchronize();
  return differs == 0;
}

void Workplace::copy_inputs_to_all_sets() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].use != BufferUse::input || bytes(i) == 0) continue;
    for (int set = 1; set < sets_; ++set) {
      enqueue(device_.copy_on_device(at(i, set), at(i), bytes(i), stream()));
    }
  }
  stream_.synchronize();
}

void Workplace::poison_outputs() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].use == BufferUse::output && bytes(i) > 0) {
      enqueue(device_.fill(at(i), kPoison, bytes(i), stream()));
    }
  }
}

}  // namespace libkernels::bench
