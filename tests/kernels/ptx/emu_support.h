// What the tests of the emulator share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::test {

// Restores the emulator's settings and device at the end of a test.
class KeepSettings {
 public:
  KeepSettings() = default;
  ~KeepSettings() {
    emulator::settings() = settings_;
    emulator::set_current_profile(profile_);
  }
  KeepSettings(const KeepSettings&) = delete;
  KeepSettings& operator=(const KeepSettings&) = delete;

 private:
  emulator::Settings settings_ = emulator::settings();
  DeviceProperties profile_ = emulator::current_profile();
};

// Device memory of n words.
class Words {
 public:
  explicit Words(std::size_t n) : n_(n) {
    void* p = nullptr;
    EXPECT_EQ(emulator::memory_allocate(&p, n * sizeof(std::uint32_t)), cudaSuccess);
    data_ = static_cast<std::uint32_t*>(p);
  }
  ~Words() { EXPECT_EQ(emulator::memory_free(data_), cudaSuccess); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  std::uint32_t* data() const { return data_; }
  std::uint32_t& operator[](std::size_t i) const { return data_[i]; }
  std::vector<std::uint32_t> copy() const { return {data_, data_ + n_}; }

 private:
  std::uint32_t* data_ = nullptr;
  std::size_t n_;
};

}  // namespace libkernels::test
