// Clusters: where CTAs stand, exchanges through distributed shared memory, barrier.cluster; and
// elect.sync. Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/ptx/cluster_case.h"
#include "tests/support/bytes.h"
#include "tests/support/sides.h"

namespace libkernels {
namespace emu {
const test::ClusterKernels& cluster_kernels();
}
namespace cuda {
const test::ClusterKernels& cluster_kernels();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

using Words = std::vector<std::uint32_t>;

class Cluster : public SidesTest<ClusterKernels> {
 protected:
  DeviceBuffer upload_words(const Words& words) const {
    DeviceBuffer buffer(device(), words.size() * 4);
    buffer.copy_in(words.data(), buffer.bytes());
    return buffer;
  }
  static const std::uint32_t* read(const DeviceBuffer& b) {
    return static_cast<const std::uint32_t*>(b.data());
  }
  static std::uint32_t* write(const DeviceBuffer& b) {
    return static_cast<std::uint32_t*>(b.data());
  }
  static Words download_words(const DeviceBuffer& buffer) {
    Words words(buffer.bytes() / 4);
    buffer.copy_out(words.data(), buffer.bytes());
    return words;
  }
};

std::uint32_t packed(unsigned x, unsigned y, unsigned z) { return x | y << 10 | z << 20; }

TEST_P(Cluster, EveryCtaKnowsItsPlace) {
  for (int i = 0; i < draws(40, 100); ++i) {
    Dice dice{std::uint64_t(i)};
    constexpr unsigned kMost = 8;
    dim3 cluster, grid;
    cluster.x = unsigned(dice.roll(1, int(kMost)));
    cluster.y = unsigned(dice.roll(1, int(kMost / cluster.x)));
    cluster.z = unsigned(dice.roll(1, int(kMost / cluster.x / cluster.y)));
    const dim3 n{unsigned(dice.roll(1, 4)), unsigned(dice.roll(1, 3)), unsigned(dice.roll(1, 3))};
    grid = {n.x * cluster.x, n.y * cluster.y, n.z * cluster.z};
    const DeviceBuffer out(device(), std::size_t(grid.x) * grid.y * grid.z * kPlaceWords * 4);
    const cudaError_t error = kernels().places(grid, cluster, write(out), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Words expected;
    for (unsigned z = 0; z < grid.z; ++z) {
      for (unsigned y = 0; y < grid.y; ++y) {
        for (unsigned x = 0; x < grid.x; ++x) {
          const unsigned cx = x % cluster.x, cy = y % cluster.y, cz = z % cluster.z;
          expected.push_back((cz * cluster.y + cy) * cluster.x + cx);
          expected.push_back(cluster.x * cluster.y * cluster.z);
          expected.push_back(packed(cx, cy, cz));
          expected.push_back(packed(cluster.x, cluster.y, cluster.z));
          expected.push_back(packed(x / cluster.x, y / cluster.y, z / cluster.z));
          expected.push_back(packed(n.x, n.y, n.z));
        }
      }
    }
    ASSERT_EQ(download_words(out), expected) << i;
  }
}

TEST_P(Cluster, Exchanges) {
  for (int i = 0; i < draws(120, 400); ++i) {
    Dice dice{1000000 + std::uint64_t(i)};
    const int ctas = dice.roll(2, 8), words = 1 << dice.roll(0, 2), how = i % 3;
    SCOPED_TRACE(std::to_string(i) + ": " + std::to_string(ctas) + " CTAs, " +
                 std::to_string(words) + " words, " + std::to_string(how));
    const std::size_t threads = std::size_t(ctas) * kClusterThreads;
    Words in(threads * std::size_t(words)), to(threads), expected(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = random_word(std::uint64_t(i), k);
    for (std::size_t t = 0; t < kClusterThreads; ++t) {
      // A drawn permutation of the ranks.
      std::vector<std::uint32_t> ranks(static_cast<std::size_t>(ctas));
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        ranks[r] = std::uint32_t(r);
        std::swap(ranks[r], ranks[std::size_t(dice.roll(0, int(r)))]);
      }
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::size_t here = r * kClusterThreads + t;
        const std::size_t there = ranks[r] * std::size_t(kClusterThreads) + t;
        to[here] = ranks[r];
        const std::size_t from = how == 1 ? there : here, at = how == 1 ? here : there;
        std::copy_n(&in[from * std::size_t(words)], words, &expected[at * std::size_t(words)]);
      }
    }
    const DeviceBuffer input = upload_words(in), targets = upload_words(to),
                       out(device(), in.size() * 4);
    const cudaError_t error =
        kernels().exchange(ctas, words, how, read(input), read(targets), write(out), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    ASSERT_EQ(download_words(out), expected);
  }
}

TEST_P(Cluster, Rounds) {
  for (const int ctas : {2, 3, 4, 8}) {
    const int clusters = draws(5, 60), rounds = draws(9, 100);
    const std::size_t total = std::size_t(ctas * clusters);
    const DeviceBuffer out(device(), total * kClusterThreads * 4);
    const cudaError_t error = kernels().rounds(ctas, clusters, rounds, write(out), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Words sums(total);
    for (std::size_t c = 0; c < total; ++c) sums[c] = std::uint32_t(c);
    for (int round = 0; round < rounds; ++round) {
      const Words before = sums;
      for (std::size_t c = 0; c < total; ++c) {
        const std::size_t n = std::size_t(ctas), base = c / n * n;
        sums[c] = 5 * before[c] + std::uint32_t(round) + before[base + (c - base + n - 1) % n];
      }
    }
    const Words got = download_words(out);
    for (std::size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k], sums[k / kClusterThreads]) << ctas << " CTAs, thread " << k;
    }
  }
}

TEST_P(Cluster, OneLaneIsElected) {
  constexpr std::size_t kWarps = 32;
  for (int i = 0; i < draws(20, 40); ++i) {
    Words masks(kWarps);
    for (std::size_t w = 0; w < kWarps; ++w) {
      const std::uint32_t mask = random_word(std::uint64_t(i), w) & random_word(7, w);
      masks[w] = mask == 0 ? 0xffffffffu : mask;
    }
    masks[0] = 0xffffffffu;
    const DeviceBuffer in = upload_words(masks), out(device(), kWarps * 32 * 4);
    const cudaError_t error = kernels().elect(read(in), write(out), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    const Words got = download_words(out);
    for (std::size_t w = 0; w < kWarps; ++w) {
      int elected = 0;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if (!(masks[w] >> lane & 1)) continue;
        const std::uint32_t calls = got[w * 32 + lane];
        EXPECT_TRUE(calls == 0 || calls == 3) << "another lane in the second call";
        elected += calls != 0;
      }
      EXPECT_EQ(elected, 1) << "mask " << masks[w];
    }
  }
}

LK_INSTANTIATE_SIDES(Cluster, cluster_kernels);

}  // namespace
}  // namespace libkernels::test
