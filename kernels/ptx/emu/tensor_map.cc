// The rules of cuTensorMapEncodeTiled, one by one (cuda.h, without interleaving).
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::emulator {
namespace {

constexpr std::uint64_t kAlignment = 16;
constexpr std::uint64_t kMaxExtent = std::uint64_t(1) << 32;
constexpr std::uint64_t kMaxStride = std::uint64_t(1) << 40;
constexpr std::uint32_t kMaxBox = 256;

__attribute__((format(printf, 1, 2))) cudaError_t refuse(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  set_last_fault(std::string("tensor map: ") + text);
  return cudaErrorInvalidValue;
}

unsigned long long ull(std::uint64_t v) { return v; }

}  // namespace

cudaError_t encode_tensor_layout(void* map, const TensorLayout& given, const std::uint64_t* extents,
                                 const std::uint32_t* box) {
  TensorLayout m = given;
  if (m.rank < 1 || m.rank > TensorLayout::kMaxRank) {
    return refuse("rank %d; expected 1 to %d", m.rank, TensorLayout::kMaxRank);
  }
  if (m.base == 0 || m.base % kAlignment != 0) {
    return refuse("base address 0x%llx; expected a multiple of %llu", ull(m.base), ull(kAlignment));
  }
  for (int i = 0; i < m.rank; ++i) {
    if (extents[i] < 1 || extents[i] > kMaxExtent) {
      return refuse("extent %llu of dimension %d; expected 1 to 2^32", ull(extents[i]), i);
    }
    if (box[i] < 1 || box[i] > kMaxBox) {
      return refuse("box of %u elements in dimension %d; expected 1 to %u", box[i], i, kMaxBox);
    }
    m.last[i] = std::uint32_t(extents[i] - 1);
    m.box[i] = std::uint16_t(box[i]);
  }
  for (int i = 1; i < m.rank; ++i) {
    const std::uint64_t stride = m.strides[i - 1];
    if (stride % kAlignment != 0 || stride >= kMaxStride) {
      return refuse("stride of %llu bytes of dimension %d; expected a multiple of %llu below 2^40",
                    ull(stride), i, ull(kAlignment));
    }
  }
  const std::uint32_t row = box[0] * m.element_bytes;
  if (row % kAlignment != 0) {
    return refuse("rows of the box of %u bytes; expected a multiple of %llu", row, ull(kAlignment));
  }
  if (m.swizzle > std::uint8_t(ptx::Swizzle::b128)) {
    return refuse("swizzle %d; expected 0 to 3", m.swizzle);
  }
  const std::uint32_t width = ptx::swizzle_width(ptx::Swizzle(m.swizzle));
  if (m.swizzle != 0 && row > width) {
    return refuse("rows of the box of %u bytes with a swizzle of %u; expected at most that", row,
                  width);
  }
  m.magic = TensorLayout::kMagic;
  std::memset(map, 0, 128);
  std::memcpy(map, &m, sizeof(m));
  return cudaSuccess;
}

}  // namespace libkernels::emulator
