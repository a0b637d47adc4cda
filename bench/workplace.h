// Where a problem is worked on: a device, its memory for one case, and what it is checked with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/contestants.h"
#include "bench/harness.h"
#include "bench/problem.h"
#include "include/libkernels/error.h"

namespace libkernels::bench {

// What all workplaces of a run share.
struct Site {
  const Backend& backend;
  const Contestants& contestants;
  int arch = 0;  // the generation that the library's kernels are pinned to; 0: the library chooses
};

class Workplace {
 public:
  // Allocates. `tight`: buffers end where their data ends, so that the emulator's guards see an
  // access beyond; else they are rounded up to 256 bytes. Throws SkipRow, with the bytes in all, if
  // there is too little memory.
  Workplace(const Site& site, std::span<const BufferSpec> buffers, int sets, bool tight);

  const Backend& backend() const { return site_.backend; }
  const Contestants& contestants() const { return site_.contestants; }
  const DeviceProperties& properties() const { return *properties_; }
  Device& device() const { return device_; }
  int arch() const { return site_.arch; }
  // The one kernel that the library's calls have to take, a name out of kernels(); null: none.
  const char* pin() const { return pin_; }
  void set_pin(const char* kernel) { pin_ = kernel; }
  int sets() const { return sets_; }
  cudaStream_t stream() const { return stream_.get(); }

  // Where buffer `index` of the problem's list begins in a set.
  unsigned char* at(std::size_t index, int set = 0) const;
  std::size_t bytes(std::size_t index) const { return specs_[index].bytes; }

  // ---- For fill() ----
  // The first buffer bytes of set 0 from the host; at most as many as the buffer has.
  void upload(std::size_t index, std::span<const std::byte> data);
  // Fills the whole buffer of set 0 with the data repeated. Whole rows of a period that is no
  // multiple of any kernel's piece let judge() compare one period on the host and the rest here.
  void upload_repeated(std::size_t index, std::span<const std::byte> period);

  // ---- For judge() ----
  std::vector<std::byte> download(std::size_t index, std::size_t first_byte,
                                  std::size_t bytes) const;
  // Whether element i of set 0 has the bits of element i % period, for every i < n.
  bool repeats(std::size_t index, std::size_t element_bytes, std::int64_t n, std::int64_t period);
  void synchronize() { stream_.synchronize(); }

  // ---- For the runner ----
  void copy_inputs_to_all_sets();
  void poison_outputs();  // of set 0

 private:
  std::size_t pitch(std::size_t index) const;
  void enqueue(cudaError_t error) const { check(device_, error, "preparing a row"); }

  Site site_;
  Device& device_;
  const DeviceProperties* properties_ = nullptr;
  std::vector<BufferSpec> specs_;
  int sets_;
  bool tight_;
  const char* pin_ = nullptr;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  DeviceMemory flag_;
  Stream stream_;
};

// Bytes that a Workplace of such buffers takes.
std::size_t workplace_bytes(std::span<const BufferSpec> buffers, int sets);

// The kernel of the pinned generation that takes the call, the first in dispatch order; null if
// none is pinned. Throws `unsupported` where the generation has none for the call.
template <class Call>
const char* pinned_kernel(const Workplace& place, lk_op op, const Functions<Call>& functions,
                          Call call) {
  if (place.pin() != nullptr || place.arch() == 0) return place.pin();
  std::string reasons;
  for (const lk_kernel_info& kernel : place.backend().kernels()) {
    if (kernel.op != op || kernel.arch != place.arch()) continue;
    try {
      call.pin = kernel.name;
      (void)functions.resources(call);
      return kernel.name;
    } catch (const unsupported& reason) {
      reasons += std::string("; ") + reason.what();
    }
  }
  throw SkipRow("no kernel of sm" + std::to_string(place.arch()) + " takes this" + reasons);
}

// The library as a way. make(set).get(stream) is the operation's call on that set; what it points
// at must live as long as make(set)'s result.
template <class Call, class Make>
Way library_way(const Workplace& place, lk_op op, const Functions<Call>& functions, Make make) {
  const auto example = make(0);
  Call call = example.get(nullptr);
  const char* pin = pinned_kernel(place, op, functions, call);
  call.pin = pin;
  const CallResources resources = functions.resources(call);
  return {.role = "fused",
          .kernel = resources.kernel,
          .launches = 1,
          .resources = resources,
          .call = [&functions, make, pin](int set, cudaStream_t stream) {
            const auto made = make(set);
            Call now = made.get(stream);
            now.pin = pin;
            functions.run(now);
          }};
}

}  // namespace libkernels::bench
