// GeLU beyond 32 bits: strides and offsets past 2^31 elements in memory of which only the few
// pages that hold elements exist; rows beyond the limits of a grid's y dimension.
// Cost: 1.3 s emulated, all cases.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "tests/kernels/gelu/layout_fixture.h"

namespace libkernels::test {
namespace {

// Memory for `elements` elements of which few will be touched. On a GPU all of it is real.
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

class GeluLargeIndex : public GeluLayoutTest {
 protected:
  static constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;

  static void check_sparse(const Layout& x_layout, const Layout& y_layout) {
    SCOPED_TRACE("x " + show(x_layout) + ", y " + show(y_layout));
    const std::size_t x_size = size_of(param().x_type), y_size = size_of(param().y_type);
    SparseBuffer x(device(), emulated(), std::size_t(x_layout.extent()) * x_size);
    SparseBuffer y(device(), emulated(), std::size_t(y_layout.extent()) * y_size);
    if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough memory";
    for (std::int64_t r = 0; r < x_layout.rows; ++r) {
      for (std::int64_t c = 0; c < x_layout.cols; ++c) {
        const std::size_t i = std::size_t(r * x_layout.cols + c);
        x.set(std::size_t(x_layout.index(r, c)) * x_size, pool().x[i], param().x_type);
        y.set(std::size_t(y_layout.index(r, c)) * y_size, 0x1234u, param().y_type);
      }
    }
    const lk_cmatrix xv{x.data(),      std::int32_t(param().x_type), x_layout.rows,
                        x_layout.cols, x_layout.row_stride,          x_layout.col_stride};
    const lk_matrix yv{y.data(),      std::int32_t(param().y_type), y_layout.rows,
                       y_layout.cols, y_layout.row_stride,          y_layout.col_stride};
    if (!try_call(xv, yv)) return;
    for (std::int64_t r = 0; r < x_layout.rows; ++r) {
      for (std::int64_t c = 0; c < x_layout.cols; ++c) {
        const std::size_t i = std::size_t(r * x_layout.cols + c);
        EXPECT_EQ(y.get(std::size_t(y_layout.index(r, c)) * y_size, param().y_type), pool().y[i])
            << r << "," << c;
      }
    }
  }
};

TEST_P(GeluLargeIndex, RowStridesPast2To31) {
  const Layout far{3, 17, kFar, 1}, near = row_major(3, 17);
  check_sparse(far, near);
  check_sparse(near, far);
  check_sparse(far, far);
}

TEST_P(GeluLargeIndex, ColumnStridesPast2To31) {
  const Layout far{1, 3, 1, kFar}, near = row_major(1, 3);
  check_sparse(far, near);
  check_sparse(near, far);
  const Layout far_columns{5, 3, 1, kFar}, far_rows{5, 3, kFar, 1};
  check_sparse(far_columns, far_rows);
}

INSTANTIATE_TEST_SUITE_P(, GeluLargeIndex, testing::ValuesIn(gelu_params()), gelu_name);

// C6: the limit of a grid's y and z dimensions.
class GeluManyRows : public GeluLayoutTest {};

TEST_P(GeluManyRows, C6RowsAround65535) {
  for (const std::int64_t rows : {65535, 65536, 65537}) {
    EXPECT_TRUE(check({rows, 2, 0, 1}, row_major(rows, 2, 3)));
    EXPECT_GE(check({rows, 1, 0, 1}, row_major(rows, 1, 2)), portable());
  }
  EXPECT_TRUE(check({65537, 3, 0, 1}, row_major(65537, 3)));
}

INSTANTIATE_TEST_SUITE_P(, GeluManyRows, testing::ValuesIn(gelu_params_one_type()), gelu_name);

}  // namespace
}  // namespace libkernels::test
