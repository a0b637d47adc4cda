// mbarriers: random sequences of operations by the owning CTA and its peer, the state observed
// after each, against a model of the manual's words; and a ring that they alone order.
// Cost: 1.5 s emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/ptx/mbarrier_case.h"
#include "tests/support/bytes.h"
#include "tests/support/sides.h"

namespace libkernels {
namespace emu {
const test::MbarrierKernels& mbarrier_kernels();
}
namespace cuda {
const test::MbarrierKernels& mbarrier_kernels();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

// A phase is over when no arrival is pending and the transaction count is zero.
struct Model {
  std::uint32_t expected, pending;
  std::int64_t tx = 0;
  std::uint32_t phase = 0;

  explicit Model(std::uint32_t count) : expected(count), pending(count) {}
  void end_phase_if_over() {
    if (pending != 0 || tx != 0) return;
    pending = expected;
    ++phase;
  }
  void apply(const ScriptStep& step) {
    switch (step.op) {
      case ScriptOp::arrive:
        --pending;
        break;
      case ScriptOp::arrive_count:
        pending -= step.argument;
        break;
      case ScriptOp::expect_tx:
        tx += step.argument;
        return;
      case ScriptOp::arrive_expect_tx:
        tx += step.argument;
        --pending;
        break;
      case ScriptOp::complete_tx:
        tx -= step.argument;
        break;
      case ScriptOp::reinit:
        *this = Model(step.argument);
        return;
    }
    end_phase_if_over();
  }
  std::uint32_t observed() const { return phase % 2 == 0 ? 2u | 8u : 1u | 4u; }
};

constexpr std::uint32_t kMaxTx = (1u << 20) - 1;

// A step that the rules allow now. Without arrivals pending only the bytes are missing, and they
// land: the manual leaves open what more expecting would mean then.
ScriptStep draw_step(Dice& dice, const Model& m) {
  ScriptStep s{};
  s.who = std::uint32_t(dice.roll(0, 2 * kScriptWarps - 1));
  const std::uint32_t owner = s.who % kScriptWarps;
  if (m.pending == 0) {
    s.who = owner;
    s.op = ScriptOp::complete_tx;
    s.argument = dice.chance(2) ? std::uint32_t(m.tx) : std::uint32_t(dice.roll(1, int(m.tx)));
    return s;
  }
  switch (dice.roll(0, 9)) {
    case 0:
      s.op = ScriptOp::expect_tx;
      s.argument = std::uint32_t(dice.roll(0, dice.chance(20) ? int(kMaxTx / 4) : 5000));
      break;
    case 1:
    case 2: {
      s.who = owner;
      s.op = ScriptOp::complete_tx;  // maybe before it is expected
      s.argument = std::uint32_t(m.tx > 0 ? m.tx : dice.roll(0, 3000));
      break;
    }
    case 3:
      if (dice.chance(3)) {
        s.who = owner;
        s.op = ScriptOp::reinit;
        s.argument = std::uint32_t(dice.chance(8) ? int(kMaxTx) : dice.roll(1, 9));
        break;
      }
      [[fallthrough]];
    case 4:
    case 5:
      s.op = ScriptOp::arrive_expect_tx;
      s.argument = std::uint32_t(dice.roll(0, 5000));
      break;
    case 6:
      s.op = ScriptOp::arrive_count;
      s.argument = dice.chance(2) ? m.pending : std::uint32_t(dice.roll(1, int(m.pending)));
      break;
    default:
      s.op = ScriptOp::arrive;
  }
  // Bytes that have landed are expected before the last arrival.
  Model after = m;
  after.apply(s);
  const bool stuck = after.pending == 0 && after.tx < 0;
  if (stuck || after.tx > std::int64_t(kMaxTx) || after.tx < -std::int64_t(kMaxTx)) {
    s.op = ScriptOp::expect_tx;
    s.argument = m.tx < 0 ? std::uint32_t(-m.tx) : 0;
  }
  return s;
}

using Mbarrier = SidesTest<MbarrierKernels>;

TEST_P(Mbarrier, Scripts) {
  constexpr int kSteps = 60;
  for (int i = 0; i < draws(40, 400); ++i) {
    SCOPED_TRACE(i);
    Dice dice{std::uint64_t(i)};
    const std::uint32_t count = std::uint32_t(dice.roll(1, 12));
    Model model(count);
    std::vector<ScriptStep> steps;
    std::vector<std::uint32_t> expected;
    for (int k = 0; k < kSteps; ++k) {
      steps.push_back(draw_step(dice, model));
      model.apply(steps.back());
      expected.push_back(model.observed());
    }
    Bytes image(steps.size() * sizeof(ScriptStep));
    std::memcpy(image.data(), steps.data(), image.size());
    const DeviceBuffer in = upload(device(), image), out(device(), kSteps * 4);
    const cudaError_t error =
        kernels().script(static_cast<const ScriptStep*>(in.data()), kSteps, count,
                         static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    std::vector<std::uint32_t> got(kSteps);
    out.copy_out(got.data(), out.bytes());
    for (int k = 0; k < kSteps; ++k) {
      ASSERT_EQ(got[std::size_t(k)], expected[std::size_t(k)])
          << "step " << k << ": operation " << int(steps[std::size_t(k)].op) << " of "
          << steps[std::size_t(k)].argument << " by " << steps[std::size_t(k)].who;
    }
  }
}

TEST_P(Mbarrier, OrderAlone) {
  constexpr std::uint32_t kRingWarps = 5;
  const int ctas = draws(10, 500);
  for (const int rounds : {1, 2, 7, 30}) {
    const DeviceBuffer out(device(), std::size_t(ctas) * 4);
    const cudaError_t error =
        kernels().ring(rounds, ctas, static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    std::vector<std::uint32_t> got(std::size_t(ctas), 0);
    out.copy_out(got.data(), out.bytes());
    for (std::uint32_t cta = 0; cta < std::uint32_t(ctas); ++cta) {
      std::uint32_t number = cta;
      for (std::uint32_t k = 0; k < std::uint32_t(rounds) * kRingWarps; ++k) {
        number = 3 * number + k % kRingWarps;
      }
      ASSERT_EQ(got[cta], number) << rounds << " rounds, CTA " << cta;
    }
  }
}

LK_INSTANTIATE_SIDES(Mbarrier, mbarrier_kernels);

}  // namespace
}  // namespace libkernels::test
