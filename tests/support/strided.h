// A logical matrix laid out in guarded device memory with any strides: what the operations take.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "include/libkernels/c_api.h"
#include "tests/support/device_buffer.h"

namespace libkernels::test {

struct Layout {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t row_stride;
  std::int64_t col_stride;
  std::int64_t offset = 0;  // elements between a 256-byte boundary and element (0, 0)

  std::int64_t index(std::int64_t r, std::int64_t c) const {
    return r * row_stride + c * col_stride;
  }
  std::int64_t elements() const { return rows * cols; }
  // Elements from the first to the last, both included.
  std::int64_t extent() const { return elements() == 0 ? 0 : index(rows - 1, cols - 1) + 1; }
};

constexpr Layout row_major(std::int64_t rows, std::int64_t cols, std::int64_t pitch = -1,
                           std::int64_t offset = 0) {
  return {rows, cols, pitch < 0 ? cols : pitch, 1, offset};
}
constexpr Layout col_major(std::int64_t rows, std::int64_t cols, std::int64_t pitch = -1,
                           std::int64_t offset = 0) {
  return {rows, cols, 1, pitch < 0 ? rows : pitch, offset};
}

inline std::string show(const Layout& l) {
  return std::to_string(l.rows) + "x" + std::to_string(l.cols) + " strides " +
         std::to_string(l.row_stride) + "," + std::to_string(l.col_stride) + " offset " +
         std::to_string(l.offset);
}

// Elements cross as bits, in logical row-major order.
class StridedMatrix {
 public:
  // Poisoned throughout.
  StridedMatrix(Device& device, DType type, const Layout& layout)
      : type_(type),
        layout_(layout),
        buffer_(device, bytes_of(layout.extent()), bytes_of(layout.offset)) {}

  // Filled; with strides of 0 the last of the elements that share a place wins.
  StridedMatrix(Device& device, DType type, const Layout& layout,
                const std::vector<std::uint32_t>& bits)
      : StridedMatrix(device, type, layout) {
    write(bits);
  }

  void write(const std::vector<std::uint32_t>& bits) {
    std::vector<std::uint8_t> image = poisoned_image();
    for_each([&](std::int64_t i, std::size_t at) {
      store_element(&image[at], bits[std::size_t(i)], type_);
    });
    if (!image.empty()) buffer_.copy_in(image.data(), image.size());
  }
  std::vector<std::uint32_t> read() const {
    std::vector<std::uint8_t> image(buffer_.bytes());
    if (!image.empty()) buffer_.copy_out(image.data(), image.size());
    std::vector<std::uint32_t> bits(std::size_t(layout_.elements()));
    for_each([&](std::int64_t i, std::size_t at) {
      bits[std::size_t(i)] = load_element(&image[at], type_);
    });
    return bits;
  }

  // Are the bytes between the elements, and around them, as they were?
  testing::AssertionResult gaps_intact() const {
    std::vector<std::uint8_t> image(buffer_.bytes());
    if (!image.empty()) buffer_.copy_out(image.data(), image.size());
    std::vector<bool> owned(image.size(), false);
    for_each([&](std::int64_t, std::size_t at) {
      std::fill_n(owned.begin() + std::ptrdiff_t(at), size_of(type_), true);
    });
    const std::vector<std::uint8_t> before = poisoned_image();
    Failures failures;
    for (std::size_t i = 0; i < image.size(); ++i) {
      if (!owned[i] && image[i] != before[i]) {
        failures.add(i, "a byte between elements was written:", int(image[i]));
      }
    }
    if (failures.count() != 0) return failures.result(image.size());
    return buffer_.canaries_intact();
  }

  lk_matrix view() const {
    return {buffer_.data(), std::int32_t(type_), layout_.rows,
            layout_.cols,   layout_.row_stride,  layout_.col_stride};
  }
  lk_cmatrix cview() const {
    const lk_matrix v = view();
    return {v.data, v.dtype, v.rows, v.cols, v.row_stride, v.col_stride};
  }
  const Layout& layout() const { return layout_; }
  DType type() const { return type_; }
  DeviceBuffer& buffer() { return buffer_; }

 private:
  std::size_t bytes_of(std::int64_t elements) const {
    return std::size_t(elements) * size_of(type_);
  }
  std::vector<std::uint8_t> poisoned_image() const {
    std::vector<std::uint8_t> image(buffer_.bytes());
    const std::size_t shift = bytes_of(layout_.offset);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = poison_byte(shift + i);
    return image;
  }
  template <class F>
  void for_each(F f) const {
    std::int64_t i = 0;
    for (std::int64_t r = 0; r < layout_.rows; ++r) {
      for (std::int64_t c = 0; c < layout_.cols; ++c) f(i++, bytes_of(layout_.index(r, c)));
    }
  }

  DType type_;
  Layout layout_;
  DeviceBuffer buffer_;
};

}  // namespace libkernels::test
