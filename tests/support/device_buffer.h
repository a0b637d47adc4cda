// Guarded device memory: a payload at any byte offset with canaries on both sides. The canary and
// the initial payload are a NaN in every 16- and 32-bit storage type (at even offsets), so an
// element read from outside a view shows in the result, and a byte written outside shows here. The
// emulator is told of the payload alone: there every access beside it, reads too, is a fault.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "src/device.h"
#include "tests/support/compare.h"

namespace libkernels::test {

inline constexpr std::uint16_t kPoison = 0xffe7;

// The poison at an offset from the start of an allocation.
constexpr std::uint8_t poison_byte(std::size_t offset) {
  return offset % 2 == 0 ? std::uint8_t(kPoison & 0xff) : std::uint8_t(kPoison >> 8);
}

inline void require(Device& device, cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + device.describe(error));
}

// Copies, fills and waits on the default stream; a failure throws, which fails the test.
class DeviceBuffer {
 public:
  static constexpr std::size_t kCanary = 256;  // bytes on each side; keeps the payload's alignment

  // The payload starts `offset` bytes after a 256-byte boundary.
  DeviceBuffer(Device& device, std::size_t bytes, std::size_t offset = 0)
      : device_(&device),
        emulated_(std::string(device.backend()) == "emu"),
        bytes_(bytes),
        before_(kCanary + offset) {
    std::vector<std::uint8_t> image(total());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = poison_byte(i);
    if (emulated_) {
      base_ = std::aligned_alloc(kCanary, (total() + kCanary - 1) / kCanary * kCanary);
      if (base_ == nullptr) throw std::bad_alloc();
      emulator::register_buffer(data(), bytes_);
    } else {
      require(device, device.allocate(&base_, total()), "allocate");
    }
    write(base_, image.data(), total());
  }
  ~DeviceBuffer() {
    if (base_ == nullptr) return;
    if (check_on_destruction_) {
      EXPECT_TRUE(canaries_intact());
    }
    if (emulated_) {
      if (bytes_ != 0) emulator::unregister_buffer(data());
      std::free(base_);
    } else {
      EXPECT_EQ(device_->release(base_), cudaSuccess);
    }
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(other.device_),
        emulated_(other.emulated_),
        bytes_(other.bytes_),
        before_(other.before_),
        base_(other.base_),
        check_on_destruction_(other.check_on_destruction_) {
    other.base_ = nullptr;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  void* data() const { return static_cast<char*>(base_) + before_; }
  std::size_t bytes() const { return bytes_; }
  Device& device() const { return *device_; }

  void copy_in(const void* src, std::size_t bytes, std::size_t at = 0) {
    write(static_cast<char*>(data()) + at, src, bytes);
  }
  void copy_out(void* dst, std::size_t bytes, std::size_t at = 0) const {
    read(dst, static_cast<const char*>(data()) + at, bytes);
  }

  // From now on a write of an emulated kernel is a fault; on a GPU, compare the contents instead.
  void forbid_writes() {
    if (!emulated_ || bytes_ == 0) return;
    emulator::unregister_buffer(data());
    emulator::register_buffer(data(), bytes_, false);
  }

  // Is every byte outside the payload as it was?
  testing::AssertionResult canaries_intact() const {
    std::vector<std::uint8_t> image(total());
    read(image.data(), base_, total());
    Failures failures;
    for (std::size_t i = 0; i < image.size(); ++i) {
      if (i == before_) i += bytes_;
      if (i >= image.size()) break;
      if (image[i] == poison_byte(i)) continue;
      const bool front = i < before_;
      failures.add(i, front ? "a byte before the payload:" : "a byte after the payload:",
                   front ? before_ - i : i - before_ - bytes_, "was written:", int(image[i]));
    }
    return failures.result(image.size() - bytes_);
  }
  // For tests that break canaries on purpose.
  void leave_unchecked() { check_on_destruction_ = false; }

 private:
  std::size_t total() const { return before_ + bytes_ + kCanary; }
  void wait() const {
    require(*device_, device_->stream_synchronize(nullptr), "stream_synchronize");
  }
  // Emulated memory is host memory, and its device refuses to touch canaries.
  void write(void* p, const void* src, std::size_t bytes) {
    if (bytes == 0) return;
    if (emulated_) {
      std::memcpy(p, src, bytes);
      return;
    }
    require(*device_, device_->copy_to_device(p, src, bytes, nullptr), "copy_to_device");
    wait();
  }
  void read(void* dst, const void* p, std::size_t bytes) const {
    if (bytes == 0) return;
    if (emulated_) {
      std::memcpy(dst, p, bytes);
      return;
    }
    wait();
    require(*device_, device_->copy_to_host(dst, p, bytes, nullptr), "copy_to_host");
    wait();
  }

  Device* device_;
  bool emulated_;
  std::size_t bytes_;
  std::size_t before_;
  void* base_ = nullptr;
  bool check_on_destruction_ = true;
};

}  // namespace libkernels::test
