// A warp-specialised matmul on common/pipeline.cuh and common/tile_scheduler.cuh: tensor copies,
// mbarriers, wgmma, clusters with multicast; every variant in every order of completion gives the
// sums of the tensor core's model. Cost: 6 s emulated.
#include <gtest/gtest.h>

#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "tests/kernels/common/matmul_wgmma_case.h"
#include "tests/kernels/ptx/wgmma_reference.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"

namespace libkernels {
namespace emu {
std::span<const test::MatmulCase> matmul_wgmma_cases();
}
namespace cuda {
std::span<const test::MatmulCase> matmul_wgmma_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

using emulator::Completion;

struct Shape {
  int m, n, k;
};

wgmma::Operand draw(int rows, int k, std::uint64_t seed) {
  wgmma::Operand o{wgmma::type_of("bf16"), rows, k, {}};
  for (int i = 0; i < rows * k; ++i) {
    o.bits.push_back(encode(random_normal(seed, std::uint64_t(i)), kBF16));
  }
  return o;
}

struct Problem {
  Shape shape;
  wgmma::Operand a, b;
  std::vector<unsigned char> bytes_a, bytes_b;

  explicit Problem(Shape s) : shape(s), a(draw(s.m, s.k, 1)), b(draw(s.n, s.k, 2)) {
    bytes_a = a.bytes();
    bytes_b = b.bytes();
  }
};

std::vector<std::uint32_t> multiply(const MatmulCase& c, Device& device, const Problem& p,
                                    int ctas) {
  DeviceBuffer a(device, p.bytes_a.size()), b(device, p.bytes_b.size());
  const std::size_t results = std::size_t(p.shape.m) * std::size_t(p.shape.n);
  DeviceBuffer d(device, results * 4);
  a.copy_in(p.bytes_a.data(), p.bytes_a.size());
  b.copy_in(p.bytes_b.data(), p.bytes_b.size());
  require(device,
          c.launch({static_cast<const std::uint16_t*>(a.data()),
                    static_cast<const std::uint16_t*>(b.data()), static_cast<float*>(d.data()),
                    p.shape.m, p.shape.n, p.shape.k, ctas},
                   nullptr),
          c.name);
  std::vector<std::uint32_t> bits(results);
  d.copy_out(bits.data(), results * 4);
  return bits;
}

// Every 17th result against the model; K beyond the end is zero and changes nothing.
void expect_sums(const Problem& p, const std::vector<std::uint32_t>& got, const char* name) {
  constexpr std::size_t kStride = 17;
  wgmma::Problem reference{p.a, p.b, {}};
  const wgmma::Model model = wgmma::published_model(p.a.type);
  const auto a = wgmma::elements(p.a), b = wgmma::elements(p.b);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); i += kStride) {
    const int row = int(i) / p.shape.n, column = int(i) % p.shape.n;
    const std::uint32_t expected = wgmma::result(model, reference, a, b, row, column, false);
    if (got[i] == expected || wrong++ > 3) continue;
    ADD_FAILURE() << name << ", row " << row << ", column " << column << ": got "
                  << float_of(got[i]) << ", model " << float_of(expected);
  }
  EXPECT_EQ(wrong, 0u) << name;
}

const Shape kShapes[] = {{128, 128, 64}, {256, 256, 256}, {200, 136, 96}, {300, 72, 16}};

TEST(MatmulWgmma, EmulatedInEveryOrder) {
  const SettingsScope keep;
  const ProfileScope profile("emu90");
  for (const Shape& s : kShapes) {
    const Problem p(s);
    for (const MatmulCase& c : emu::matmul_wgmma_cases()) {
      emulator::settings().completion = Completion::late;
      const auto late = multiply(c, emu_device(), p, 4);
      expect_sums(p, late, c.name);
      if (s.m == 256) continue;  // the others have tiles enough
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        emulator::settings().completion = seed ? Completion::random : Completion::eager;
        emulator::settings().seed = seed;
        EXPECT_EQ(multiply(c, emu_device(), p, 2), late) << c.name << ", seed " << seed;
      }
    }
  }
}

TEST(MatmulWgmma, Gpu) {
  if (const std::string why = why_no_gpu(9); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  if (properties->cc_major != 9) GTEST_SKIP() << "wgmma is 9.0's alone";
  for (const Shape& s : kShapes) {
    const Problem p(s);
    for (const MatmulCase& c : cuda::matmul_wgmma_cases()) {
      for (const int ctas : {2, 132}) {
        expect_sums(p, multiply(c, cuda_device(), p, ctas), c.name);
      }
    }
  }
#endif
}

// What an emulated kernel may cost, and that its work is counted.
TEST(MatmulWgmma, EmulatedCube256TakesHalfASecondAtMost) {
  const SettingsScope keep;
  const ProfileScope profile("emu90");
  const Problem p({256, 256, 256});
  for (const MatmulCase& c : emu::matmul_wgmma_cases()) {
    const std::clock_t start = std::clock();
    multiply(c, emu_device(), p, 4);
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("256^3 by %s: %.3f s of processor time\n", c.name, seconds);
#if !defined(LK_TEST_SANITIZED)
    EXPECT_LT(seconds, 0.5) << c.name;
#endif
  }
  emulator::settings().count = true;
  emulator::reset_counters();
  multiply(emu::matmul_wgmma_cases()[0], emu_device(), p, 4);
  EXPECT_EQ(emulator::counters().mma_flops, 2u * 256 * 256 * 256);
}

}  // namespace
}  // namespace libkernels::test
