#include "kernels/matmul/matmul_repack_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_operand.h"
#include "kernels/matmul/matmul_plan_sm90.h"
#include "kernels/matmul/matmul_tiles_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr std::int64_t kPitch = 128;           // bytes, on which lines start
constexpr std::size_t kPlaceAlignment = 1024;  // bytes

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// What becomes of an operand: `matrix` is it, and comes to be the copy if there is one.
Repack make_repack(Matrix* matrix, bool rows_are_mn, std::int64_t mn, std::int64_t k,
                   std::int64_t batch, bool any_major, void* scratch, std::size_t* used) {
  const Operand o = operand(*matrix, rows_are_mn, mn, k, batch);
  const Major major = major_of(o);
  const bool k_major = major == Major::k || !any_major;
  if (k_major == (major == Major::k) && why_not_copied(o, major, mn, batch) == nullptr) return {};
  Repack r{};
  r.element = int(size_of(o.type));
  r.from = o.data;
  r.line_stride = k_major ? o.mn_stride : o.k_stride;
  r.step = k_major ? o.k_stride : o.mn_stride;
  r.batch_stride = o.batch_stride;
  r.lines = k_major ? mn : k;
  r.length = k_major ? k : mn;
  r.batch = o.batch_stride != 0 ? batch : 1;
  r.transposes = r.line_stride == 1 && r.step != 1 && r.lines > 1;
  r.dense =
      r.transposes ? r.step == r.lines : r.step == 1 && (r.line_stride == r.length || r.lines == 1);
  r.place = *used;
  r.pitch = rounded_up(r.length, kPitch / r.element);
  const auto pieces = [](std::int64_t n, std::int64_t of) { return (n - 1) / of + 1; };
  if (r.transposes) {
    r.per_line = make_divider(pieces(r.length, kRepackRows));
    r.per_matrix = make_divider(pieces(r.lines, kRepackRow / r.element));
    r.items = r.per_line.divisor * r.per_matrix.divisor * r.batch;
  } else {
    r.per_line = make_divider(pieces(r.length, kRepackVector / r.element));
    r.per_matrix = make_divider(r.lines);
    r.items = pieces(r.per_line.divisor * r.lines * r.batch, kRepackItem);
  }
  *used += std::size_t(rounded_up(std::int64_t(r.bytes()), kPlaceAlignment));

  matrix->data = static_cast<unsigned char*>(scratch) + r.place;
  matrix->row_stride = rows_are_mn == k_major ? r.pitch : 1;
  matrix->col_stride = rows_are_mn == k_major ? 1 : r.pitch;
  matrix->batch_stride = r.batch > 1 ? r.pitch * r.lines : 0;
  return r;
}

// May the operands of the product have M or N adjacent? Of f32 one may: if neither has K adjacent,
// the larger.
struct AnyMajor {
  bool a, b;
};
AnyMajor any_major(const Problem& p) {
  const Arithmetic arithmetic = arithmetic_of(p);
  if (arithmetic != Arithmetic::tf32 && arithmetic != Arithmetic::tf32x3) {
    return {takes_any_major(arithmetic), takes_any_major(arithmetic)};
  }
  const Operand a = operand(p.a, true, p.m, p.k, p.batch);
  const Operand b = operand(p.b, false, p.n, p.k, p.batch);
  if (major_of(a) == Major::k || major_of(b) == Major::k) return {true, true};
  const std::int64_t of_a = p.m * (a.batch_stride != 0 ? p.batch : 1);
  const std::int64_t of_b = p.n * (b.batch_stride != 0 ? p.batch : 1);
  return {of_a > of_b, of_a <= of_b};
}

// Of the general kernels, ns: waves of tiles, as measured at 1793^3 and 4095^3 of bf16 (H200,
// 2026-12-01). f32 takes twice that or more.
double cost_general(const Problem& p, int sms) {
  struct Tile {
    int edge;
    double k_ns;
  };
  double least = std::numeric_limits<double>::infinity();
  for (const Tile t : {Tile{128, 50}, Tile{64, 13}}) {
    const double tiles =
        double(tiles_in(p.m, t.edge)) * double(tiles_in(p.n, t.edge)) * double(p.batch);
    const double waves = std::max(1.0, tiles / sms);
    least = std::min(least, waves * double(p.k) * t.k_ns * (p.a.type == DType::f32 ? 2 : 1));
  }
  return least;
}

double cost_repacked(const RepackPlan& plan, const DeviceProperties& device) {
  constexpr double kLaunch = 2000;  // ns
  constexpr double kRate = 4000;    // bytes a ns
  const Problem& p = plan.problem;
  const Problem oriented = transposes_sm90(p) ? transposed(p) : p;
  const double product = cost_sm90(make_plan_sm90(p, device).tile, oriented, device.sm_count);
  return kLaunch + double(plan.traffic) / kRate + product;
}

}  // namespace

RepackPlan make_repack_plan(const Problem& problem, void* scratch) {
  RepackPlan plan{};
  Problem& p = plan.problem;
  p = problem;
  const AnyMajor any = any_major(p);
  plan.params.a = make_repack(&p.a, true, p.m, p.k, p.batch, any.a, scratch, &plan.scratch);
  plan.params.b = make_repack(&p.b, false, p.n, p.k, p.batch, any.b, scratch, &plan.scratch);
  plan.params.scratch = scratch;
  for (const Repack* r : {&plan.params.a, &plan.params.b}) {
    if (r->items > 0) plan.traffic += std::size_t(2 * r->element * r->length * r->lines * r->batch);
  }
  return plan;
}

const char* why_not_repacked(const Problem& problem, const DeviceProperties& device) {
  if (const char* why = why_not_multiplied(problem)) return why;
  if (why_not_sm90(problem) == nullptr) return "the copy engine reads a and b as they are";
  const RepackPlan plan = make_repack_plan(problem, nullptr);
  if (const char* why = why_not_sm90(plan.problem)) return why;
  if (cost_repacked(plan, device) >= cost_general(problem, device.sm_count)) {
    return "copying a or b first would take longer than the product does without";
  }
  return nullptr;
}

std::int64_t repack_items(const RepackParams& params) { return params.a.items + params.b.items; }

std::string describe_repack_plan(const Problem& problem, const LaunchContext& context) {
  const RepackPlan plan = make_repack_plan(problem, nullptr);
  std::string text = "first, to scratch:\n";
  const auto describe = [&](const char* name, const Repack& r, const Operand& o, std::int64_t mn) {
    if (r.items == 0) return fmt::format("  {} is read where it is\n", name);
    const char* why = why_not_copied(o, major_of(o), mn, problem.batch);
    return fmt::format("  {}: {} lines of {} elements to a pitch of {}, {}; the copy engine {}\n",
                       name, r.lines * r.batch, r.length, r.pitch,
                       r.transposes  ? "transposed"
                       : r.step == 1 ? "realigned vectors"
                                     : "element by element",
                       why != nullptr ? why : "could, but wgmma wants k adjacent");
  };
  const Problem& p = problem;
  text += describe("a", plan.params.a, operand(p.a, true, p.m, p.k, p.batch), p.m);
  text += describe("b", plan.params.b, operand(p.b, false, p.n, p.k, p.batch), p.n);
  text +=
      fmt::format("  {} bytes read and written, launch: grid {}, block {}\n", plan.traffic,
                  capped_grid(repack_items(plan.params), context, kRepackThreads), kRepackThreads);
  return text + describe_plan_sm90(plan.problem, context);
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
