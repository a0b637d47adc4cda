// Tensor copies: boxes of random tensors in every swizzle, anywhere in and around the tensor, bit
// for bit against a scalar reference, on both backends; and the rules of tensor maps.
// Cost: 1.5 s emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/ptx/tensor_copy_case.h"
#include "tests/support/bytes.h"
#include "tests/support/sides.h"

namespace libkernels {
namespace emu {
const test::TensorSide& tensor_side();
}
namespace cuda {
const test::TensorSide& tensor_side();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr int kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};  // of TensorType

int element_bytes(const TensorDraw& d) { return kElementBytes[d.type]; }
int swizzle_bytes(int swizzle) { return 16 << swizzle; }

// ---- Reference --------------------------------------------------------------------------------

// Where byte `in_row` of row `row` of a dense tile lies: the manual's tables. A swizzle of W bytes
// moves 16-byte chunk c of line l (of 128 bytes) within a group of W / 16 chunks by l mod (W / 16).
std::size_t tile_place(int swizzle, std::size_t row_bytes, std::size_t row, std::size_t in_row) {
  if (swizzle == 0) return row * row_bytes + in_row;
  const std::size_t width = std::size_t(swizzle_bytes(swizzle));
  const std::size_t byte = row * width + in_row;
  const std::size_t line = byte / 128, chunk = byte % 128 / 16;
  const std::size_t group = width / 16;
  const std::size_t moved = chunk / group * group + (chunk % group ^ line % group);
  return line * 128 + moved * 16 + byte % 16;
}

struct Place {
  std::size_t tile;
  bool inside;
  std::size_t tensor;  // byte offset
};

// Calls step(place) for every byte of the box.
template <class Step>
void for_box(const TensorDraw& d, Step step) {
  const int e = element_bytes(d);
  const std::size_t row_bytes = d.box[0] * std::size_t(e);
  std::size_t row = 0;
  for (std::uint32_t z = 0; z < (d.rank > 2 ? d.box[2] : 1); ++z) {
    for (std::uint32_t y = 0; y < (d.rank > 1 ? d.box[1] : 1); ++y, ++row) {
      for (std::uint32_t x = 0; x < d.box[0]; ++x) {
        const std::int64_t at[3] = {std::int64_t(d.at[0]) + x, std::int64_t(d.at[1]) + y,
                                    std::int64_t(d.at[2]) + z};
        bool inside = true;
        for (int i = 0; i < d.rank; ++i) {
          inside &= at[i] >= 0 && at[i] < std::int64_t(d.extents[i]);
        }
        std::int64_t offset = at[0] * e;
        for (int i = 1; i < d.rank; ++i) offset += at[i] * std::int64_t(d.strides[i - 1]);
        for (int b = 0; b < e; ++b) {
          step(Place{tile_place(d.swizzle, row_bytes, row, x * std::size_t(e) + std::size_t(b)),
                     inside, std::size_t(offset) + std::size_t(b)});
        }
      }
    }
  }
}

// Bytes from the first element to behind the last.
std::size_t tensor_bytes(const TensorDraw& d) {
  std::size_t bytes = std::size_t(d.extents[0]) * std::size_t(element_bytes(d));
  for (int i = 1; i < d.rank; ++i) bytes += (d.extents[i] - 1) * d.strides[i - 1];
  return bytes;
}

// ---- Draws ------------------------------------------------------------------------------------

int round_up(int n, int to) { return (n + to - 1) / to * to; }

TensorDraw draw_tensor(std::uint64_t seed, std::size_t most_bytes) {
  Dice dice(seed);
  TensorDraw d;
  d.type = dice.roll(0, 9);
  d.rank = dice.roll(1, 3);
  d.swizzle = dice.roll(0, 3);
  d.promotion = dice.roll(0, 3);
  d.hint = dice.chance(3);
  const int e = element_bytes(d), unit = 16 / e;  // elements of 16 bytes
  // Swizzled boxes are as wide as their pattern.
  const int most_units = std::min({256 / unit, 16, int(most_bytes) / 16});
  d.box[0] = std::uint32_t(d.swizzle ? swizzle_bytes(d.swizzle) / e
                                     : unit * dice.roll(1, std::max(1, most_units)));
  std::size_t left = most_bytes / (d.box[0] * std::size_t(e));
  for (int i = 1; i < d.rank; ++i) {
    d.box[i] = std::uint32_t(dice.roll(1, int(std::min<std::size_t>(left, i == 1 ? 64 : 8))));
    left /= d.box[i];
  }
  std::uint64_t pitch = 0;
  for (int i = 0; i < d.rank; ++i) {
    const int box = int(d.box[i]);
    d.extents[i] = std::uint64_t(dice.roll(1, dice.chance(2) ? 2 * box + 5 : box));
    // From wholly before the tensor to wholly behind it.
    const int lo = -box - 1, hi = int(d.extents[i]) + 1;
    d.at[i] = dice.roll(lo, hi);
    if (dice.chance(3)) d.at[i] = 0;
    if (i == 0) d.at[0] = d.at[0] >= 0 ? d.at[0] / unit * unit : -round_up(-d.at[0], unit);
    if (i == 0) {
      pitch = d.extents[0] * std::uint64_t(e);
    } else {
      pitch *= d.extents[i];
    }
    // Rows and planes may be apart, and need not be dense.
    pitch = std::uint64_t(round_up(int(pitch), 16) + 16 * dice.roll(0, 3));
    if (i < 2) d.strides[i] = pitch;
  }
  return d;
}

// The box, from the start of `tile`.
void fill_tile(const TensorDraw& d, const Bytes& tensor, std::uint8_t* tile) {
  for_box(d, [&](const Place& p) { tile[p.tile] = p.inside ? tensor[p.tensor] : 0; });
}

// A store takes no negative coordinates, and clips rows in pieces of 16 bytes: what crosses their
// end must find one there.
void make_storable(TensorDraw* d) {
  for (int i = 0; i < d->rank; ++i) d->at[i] = std::max(d->at[i], 0);
  const int unit = 16 / element_bytes(*d), end = d->at[0] + int(d->box[0]);
  if (end > int(d->extents[0])) {
    d->extents[0] = std::uint64_t(round_up(int(d->extents[0]), unit));  // the pitch has room
  }
}

std::string show(const TensorDraw& d) {
  std::string s = "type " + std::to_string(d.type) + " swizzle " + std::to_string(d.swizzle);
  for (int i = 0; i < d.rank; ++i) {
    s += " [" + std::to_string(d.extents[i]) + " box " + std::to_string(d.box[i]) + " at " +
         std::to_string(d.at[i]) + "]";
  }
  return s;
}

// ---- Tests ------------------------------------------------------------------------------------

using TensorCopy = SidesTest<TensorSide>;

TEST_P(TensorCopy, Loads) {
  for (int i = 0; i < draws(250, 300); ++i) {
    const TensorDraw d = draw_tensor(std::uint64_t(i), i % 8 ? 4096 : kTileBytes);
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    const Bytes tensor = random_bytes(tensor_bytes(d), std::uint64_t(i));
    const DeviceBuffer in = upload(device(), tensor), out(device(), kTileBytes);
    const cudaError_t error =
        kernels().load(in.data(), d, static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Bytes expected = repeated(kTilePoison, kTileWords);
    fill_tile(d, tensor, expected.data());
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

TEST_P(TensorCopy, Stores) {
  for (int i = 0; i < draws(250, 300); ++i) {
    TensorDraw d = draw_tensor(1000000 + std::uint64_t(i), i % 8 ? 4096 : kTileBytes);
    make_storable(&d);
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    Bytes tensor = random_bytes(tensor_bytes(d), std::uint64_t(i));
    const Bytes tile = random_bytes(kTileBytes, 77 + std::uint64_t(i));
    const DeviceBuffer in = upload(device(), tile), out = upload(device(), tensor);
    const cudaError_t error =
        kernels().store(out.data(), d, static_cast<const std::uint32_t*>(in.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    for_box(d, [&](const Place& p) {
      if (p.inside) tensor[p.tensor] = tile[p.tile];
    });
    ASSERT_TRUE(same_bytes(download(out), tensor));
  }
}

TEST_P(TensorCopy, Multicasts) {
  for (int i = 0; i < draws(100, 200); ++i) {
    const TensorDraw d = draw_tensor(2000000 + std::uint64_t(i), kSlotWords * 4);
    Dice dice(3000000 + std::uint64_t(i));
    MulticastDraw cast;
    cast.ctas = dice.roll(1, kMostCtas);
    cast.shift = d.rank == 1 ? 16 / element_bytes(d) : dice.roll(-2, 2);
    for (int r = 0; r < cast.ctas; ++r) {
      cast.masks[r] = std::uint32_t(dice.roll(0, (1 << cast.ctas) - 1));
    }
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    const Bytes tensor = random_bytes(tensor_bytes(d), std::uint64_t(i));
    const std::size_t words = std::size_t(cast.ctas) * kMostCtas * kSlotWords;
    const DeviceBuffer in = upload(device(), tensor), out(device(), words * 4);
    const cudaError_t error =
        kernels().multicast(in.data(), d, cast, static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Bytes expected = repeated(kTilePoison, words);
    for (int to = 0; to < cast.ctas; ++to) {
      for (int from = 0; from < cast.ctas; ++from) {
        if (!(cast.masks[from] >> to & 1)) continue;
        TensorDraw moved = d;
        moved.at[d.rank - 1] += cast.shift * from;
        fill_tile(moved, tensor, &expected[std::size_t(to * kMostCtas + from) * kSlotWords * 4]);
      }
    }
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

// ---- tf32: rounded on the way ------------------------------------------------------------------

constexpr int kTf32 = 11;  // of TensorType

// The neighbour of 11 significant bits that is closer; of two, the even one.
std::uint32_t rounded_to_tf32(std::uint32_t x) {
  constexpr std::uint32_t kUnit = 0x2000, kHalf = kUnit / 2, kNaN = 0x7fffe000;
  const std::uint32_t magnitude = x & 0x7fffffff, rest = x % kUnit, below = x - rest;
  if (magnitude > 0x7f800000) return kNaN;
  const bool even = below / kUnit % 2 == 0;
  return rest < kHalf || (rest == kHalf && even) ? below : below + kUnit;
}

// Words around every kind of boundary, and random ones.
std::uint32_t word_to_round(int i) {
  constexpr std::uint32_t kExponents[] = {0, 1, 2, 127, 128, 253, 254, 255};
  constexpr std::uint32_t kKept[] = {0, 1, 2, 3, 0x200, 0x3fe, 0x3ff};
  constexpr std::uint32_t kRest[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff};
  const std::uint32_t n = std::uint32_t(i);
  if (n >= 8 * 7 * 6 * 2) return std::uint32_t(random_bits(5, n));
  return (n % 2) << 31 | kExponents[n / 2 % 8] << 23 | kKept[n / 16 % 7] << 13 | kRest[n / 112];
}

TEST_P(TensorCopy, RoundsToTf32) {
  constexpr int kRow = 32, kWords = kRow * 64;
  TensorDraw d;
  d.type = kTf32;
  d.rank = 2;
  d.swizzle = 3;
  d.extents[0] = d.box[0] = kRow, d.extents[1] = d.box[1] = kWords / kRow;
  d.strides[0] = kRow * 4;
  Bytes tensor(kWords * 4), rounded(kWords * 4);
  for (int i = 0; i < kWords; ++i) {
    const std::uint32_t x = word_to_round(i), y = rounded_to_tf32(x);
    std::memcpy(&tensor[std::size_t(i) * 4], &x, 4);
    std::memcpy(&rounded[std::size_t(i) * 4], &y, 4);
  }
  const DeviceBuffer in = upload(device(), tensor), out(device(), kTileBytes);
  const cudaError_t error =
      kernels().load(in.data(), d, static_cast<std::uint32_t*>(out.data()), nullptr);
  ASSERT_EQ(error, cudaSuccess) << why(error);
  Bytes expected = repeated(kTilePoison, kTileWords);
  fill_tile(d, rounded, expected.data());
  EXPECT_TRUE(same_bytes(download(out), expected));
}

// A dense tensor that every rule allows.
TensorDraw legal() {
  TensorDraw d;
  d.type = 9;  // bf16
  d.rank = 2;
  d.swizzle = 3;
  d.extents[0] = 256, d.extents[1] = 64;
  d.strides[0] = 512;
  d.box[0] = 64, d.box[1] = 64;
  return d;
}

TEST_P(TensorCopy, MapsThatBreakARuleAreRefused) {
  struct Rule {
    const char* text;  // of the emulator's complaint
    std::size_t shift;
    void (*break_it)(TensorDraw*);
  };
  const Rule rules[] = {
      {"base address", 8, [](TensorDraw*) {}},
      {"rank 6", 0, [](TensorDraw* d) { d->rank = 6; }},
      {"extent 0 of dimension 1", 0, [](TensorDraw* d) { d->extents[1] = 0; }},
      {"extent 4294967297", 0, [](TensorDraw* d) { d->extents[0] = (std::uint64_t(1) << 32) + 1; }},
      {"stride of 520 bytes", 0, [](TensorDraw* d) { d->strides[0] = 520; }},
      {"stride of 1099511627776", 0, [](TensorDraw* d) { d->strides[0] = std::uint64_t(1) << 40; }},
      {"box of 0 elements", 0, [](TensorDraw* d) { d->box[1] = 0; }},
      {"box of 257 elements", 0, [](TensorDraw* d) { d->box[1] = 257; }},
      {"rows of the box of 120 bytes", 0, [](TensorDraw* d) { d->box[0] = 60; }},
      {"with a swizzle of 128", 0, [](TensorDraw* d) { d->box[0] = 72; }},
      {"with a swizzle of 32", 0, [](TensorDraw* d) { d->swizzle = 1; }},
  };
  const DeviceBuffer tensor(device(), tensor_bytes(legal()));
  const char* base = static_cast<const char*>(tensor.data());
  ASSERT_EQ(kernels().encode(base, legal()), cudaSuccess);
  for (const Rule& rule : rules) {
    TensorDraw d = legal();
    rule.break_it(&d);
    EXPECT_EQ(kernels().encode(base + rule.shift, d), cudaErrorInvalidValue) << rule.text;
    if (emulated()) {
      EXPECT_NE(emulator::last_fault().find(rule.text), std::string::npos)
          << emulator::last_fault();
    }
  }
}

LK_INSTANTIATE_SIDES(TensorCopy, tensor_side);

}  // namespace
}  // namespace libkernels::test
