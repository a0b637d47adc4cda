// A 4 x 8 call on emulated memory, for the tests of an operation's host layer.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "src/backend.h"
#include "tests/support/device_buffer.h"

namespace libkernels::test {

// Of an operation that takes x and y of 8 columns, or y of fewer. x is all ones, y poisoned.
template <class OpCall, class Options, int kYCols = 8>
struct SmallCall {
  static constexpr std::size_t kBytes = 4 * 8 * sizeof(float), kYBytes = 4 * kYCols * sizeof(float);
  DeviceBuffer x_memory{emu_backend().device(), kBytes}, y_memory{emu_backend().device(), kYBytes};
  lk_cmatrix x{x_memory.data(), LK_F32, 4, 8, 8, 1};
  lk_matrix y{y_memory.data(), LK_F32, 4, kYCols, kYCols, 1};
  Options options = LK_OPTIONS_INIT(Options);
  const char* pin = nullptr;

  SmallCall() { x_memory.copy_in(std::vector<float>(32, 1.0f).data(), kBytes); }
  OpCall operator()() const { return {&x, &y, &options, nullptr, pin}; }
  std::vector<float> result() const {
    std::vector<float> r(4 * kYCols);
    y_memory.copy_out(r.data(), kYBytes);
    return r;
  }
  bool y_untouched() const {
    for (float v : result()) {
      if (!std::isnan(v)) return false;
    }
    return true;
  }
};

}  // namespace libkernels::test
