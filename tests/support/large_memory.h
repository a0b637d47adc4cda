// Memory that is too large to be copied, compared or guarded as a whole.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ptx/emu/emulator.h"
#include "src/device.h"
#include "tests/support/device_buffer.h"
#include "tests/support/storage.h"

namespace libkernels::test {

// Memory for many elements of which few will be touched. On a GPU all of it is real.
class SparseBuffer {
 public:
  SparseBuffer(Device& device, bool emulated, std::size_t bytes)
      : device_(device), emulated_(emulated), bytes_(bytes) {
    if (emulated_) {
      void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) return;
      data_ = p;
      emulator::register_buffer(data_, bytes_);
    } else if (device_.allocate(&data_, bytes) != cudaSuccess) {
      data_ = nullptr;
    }
  }
  ~SparseBuffer() {
    if (data_ == nullptr) return;
    if (emulated_) {
      emulator::unregister_buffer(data_);
      munmap(data_, bytes_);
    } else {
      EXPECT_EQ(device_.release(data_), cudaSuccess);
    }
  }
  SparseBuffer(const SparseBuffer&) = delete;
  SparseBuffer& operator=(const SparseBuffer&) = delete;

  void* data() const { return data_; }  // null if there is not so much memory

  void set(std::size_t at, std::uint32_t bits, DType type) {
    unsigned char element[4];
    store_element(element, bits, type);
    require(device_,
            device_.copy_to_device(static_cast<char*>(data_) + at, element, size_of(type), nullptr),
            "copy_to_device");
    require(device_, device_.stream_synchronize(nullptr), "stream_synchronize");
  }
  std::uint32_t get(std::size_t at, DType type) const {
    unsigned char element[4];
    require(
        device_,
        device_.copy_to_host(element, static_cast<const char*>(data_) + at, size_of(type), nullptr),
        "copy_to_host");
    require(device_, device_.stream_synchronize(nullptr), "stream_synchronize");
    return load_element(element, type);
  }

 private:
  Device& device_;
  bool emulated_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

// Device memory that is there or is not: no canaries, no host copy of it.
class BigBuffer {
 public:
  BigBuffer(Device& device, std::size_t bytes) : device_(device) {
    if (device.allocate(&data_, bytes) != cudaSuccess) data_ = nullptr;
  }
  ~BigBuffer() {
    if (data_ != nullptr) {
      EXPECT_EQ(device_.release(data_), cudaSuccess);
    }
  }
  BigBuffer(const BigBuffer&) = delete;
  BigBuffer& operator=(const BigBuffer&) = delete;
  void* data() const { return data_; }

 private:
  Device& device_;
  void* data_ = nullptr;
};

}  // namespace libkernels::test
