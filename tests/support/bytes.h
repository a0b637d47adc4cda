// Bytes in host and device memory, for tests whose data has no type.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"

namespace libkernels::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes random_bytes(std::size_t n, std::uint64_t seed) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = std::uint8_t(random_bits(seed, i));
  return bytes;
}

inline Bytes repeated(std::uint32_t word, std::size_t words) {
  Bytes bytes(words * sizeof(word));
  for (std::size_t i = 0; i < words; ++i)
    std::memcpy(&bytes[i * sizeof(word)], &word, sizeof(word));
  return bytes;
}

inline DeviceBuffer upload(Device& device, const Bytes& bytes) {
  DeviceBuffer buffer(device, bytes.size());
  buffer.copy_in(bytes.data(), bytes.size());
  return buffer;
}

inline Bytes download(const DeviceBuffer& buffer) {
  Bytes bytes(buffer.bytes());
  buffer.copy_out(bytes.data(), bytes.size());
  return bytes;
}

inline testing::AssertionResult same_bytes(const Bytes& got, const Bytes& expected) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    return testing::AssertionFailure()
           << "byte " << i << ": got " << int(got[i]) << ", expected " << int(expected[i]);
  }
  return testing::AssertionSuccess();
}

}  // namespace libkernels::test
