// GeLU for lkbench: the library, a naive kernel and the unfused chain.
#include <fmt/format.h>

#include <algorithm>

#include "bench/gelu_rows.h"
#include "bench/suites.h"
#include "bench/verify.h"
#include "bench/workplace.h"

namespace libkernels::bench {
namespace {

// The input repeats with this period (a prime, so that no kernel's piece divides it): one period is
// compared with fp64 on the host, the rest with the first period on the device.
constexpr std::size_t kPeriod = 524287;
constexpr std::uint64_t kSeed = 20;

enum Buffer : std::size_t { kX, kY, kFirst, kSecond };

// References, made once each for all the problems of a run.
class References {
 public:
  // Holds at least `n` elements.
  const GeluReference& get(const GeluRow& row, std::size_t n) {
    const auto matches = [&](const auto& r) {
      return r->x_type == row.types.x && r->y_type == row.types.y && r->form == row.form;
    };
    std::erase_if(all_, [&](const auto& r) { return matches(r) && r->y.size() < n; });
    const auto found = std::find_if(all_.begin(), all_.end(), matches);
    if (found != all_.end()) return **found;
    all_.push_back(std::make_unique<GeluReference>(row.types.x, row.types.y, row.form, n, kSeed));
    return *all_.back();
  }

 private:
  std::vector<std::unique_ptr<GeluReference>> all_;
};

// The arguments of the library's call for one row vector.
struct LibraryCall {
  LibraryCall(const GeluRow& row, const void* x, void* y)
      : x{x, lk_dtype(row.types.x), 1, row.n, row.n, 1}, y{y,     lk_dtype(row.types.y),
                                                           1,     row.n,
                                                           row.n, 1} {
    options.call.size = sizeof(options);
    options.form = row.form == GeluForm::tanh ? LK_GELU_TANH : LK_GELU_ERF;
  }
  GeluCall get(cudaStream_t stream) const {
    return {.x = &x, .y = &y, .options = &options, .stream = stream, .pin = nullptr};
  }

  lk_cmatrix x;
  lk_matrix y;
  lk_gelu_options options{};
};

Way baseline_way(const Workplace& place, const GeluBaseline& baseline, const std::string& role,
                 const GeluRow& row) {
  const GeluCallArgs args{.x = nullptr,
                          .y = nullptr,
                          .scratch = {place.at(kFirst), place.at(kSecond)},
                          .x_type = row.types.x,
                          .y_type = row.types.y,
                          .form = row.form,
                          .n = row.n,
                          .stream = nullptr};
  return {.role = role,
          .kernel = baseline.name,
          .launches = baseline.launches(args),
          .resources = std::nullopt,
          .call = [&place, &baseline, args](int set, cudaStream_t stream) {
            GeluCallArgs now = args;
            now.x = place.at(kX, set);
            now.y = place.at(kY, set);
            now.stream = stream;
            check(place.device(), baseline.launch(now), baseline.name);
          }};
}

class GeluProblem : public Problem {
 public:
  GeluProblem(const GeluRow& row, std::shared_ptr<References> references)
      : Problem(gelu_case(row)), row_(row), references_(std::move(references)) {}

  std::vector<BufferSpec> buffers() const override {
    const std::size_t n = std::size_t(row_.n);
    const std::size_t x_size = size_of(row_.types.x), y_size = size_of(row_.types.y);
    const BufferSpec scratch{.use = BufferUse::scratch, .bytes = n * x_size};
    return {{.use = BufferUse::input,
             .bytes = n * x_size,
             .offset = std::size_t(row_.x_offset) * x_size},
            {.use = BufferUse::output,
             .bytes = n * y_size,
             .offset = std::size_t(row_.y_offset) * y_size},
            scratch,
            scratch};
  }

  void fill(Workplace& place) override {
    const std::size_t period = std::min(std::size_t(row_.n), kPeriod);
    place.upload_repeated(kX, std::span(reference().x).first(period * size_of(row_.types.x)));
  }

  std::vector<Way> ways(Workplace& place) override {
    const auto library = [&place, row = row_](int set) {
      return LibraryCall(row, place.at(kX, set), place.at(kY, set));
    };
    return {library_way(place, LK_OP_GELU, place.backend().gelu, library),
            baseline_way(place, *place.contestants().gelu_naive, "naive", row_),
            baseline_way(place, *place.contestants().gelu_unfused, "unfused", row_)};
  }

  // The library must keep its own bound, a baseline a wide one.
  Verdict judge(const Way& way, Workplace& place) override {
    const std::size_t y_size = size_of(row_.types.y);
    const std::size_t n = std::min(std::size_t(row_.n), kPeriod);
    const std::vector<std::byte> y = place.download(kY, 0, n * y_size);
    const ErrorSummary error = compare(reference(), y.data(), n);
    Verdict verdict{.ulp = error.max_ulp, .fraction = error.max_fraction, .fault = ""};
    const double fraction = way.role == "fused" ? error.max_fraction : error.max_baseline_fraction;
    if (error.not_finite > 0) {
      verdict.fault = fmt::format("WRONG: {} results are NaN or infinite", error.not_finite);
    } else if (!(fraction <= 1)) {
      verdict.fault = fmt::format("WRONG: the error at element {} is {:.3g} times the bound",
                                  error.worst, fraction);
    } else if (!place.repeats(kY, y_size, row_.n, std::int64_t(n))) {
      verdict.fault = "WRONG: results differ where inputs are equal";
    }
    return verdict;
  }

  std::string explain(Workplace& place) override {
    const LibraryCall call(row_, place.at(kX), place.at(kY));
    return place.backend().gelu.explain(call.get(place.stream()));
  }

 private:
  const GeluReference& reference() {
    return references_->get(row_, std::min(std::size_t(row_.n), kPeriod));
  }

  GeluRow row_;
  std::shared_ptr<References> references_;
};

}  // namespace

Case gelu_case(const GeluRow& row) {
  return {.op = "gelu",
          .types = format_types(row.types),
          .form = name(row.form),
          .shape = {row.n},
          .layout = variant(row),
          .floor = gelu_floor(row.n, row.types.x, row.types.y),
          .flops = 0,
          .ceiling = Ceiling::copy};
}

std::unique_ptr<Problem> gelu_problem(const GeluRow& row) {
  return std::make_unique<GeluProblem>(row, std::make_shared<References>());
}

Problems gelu_problems(const Selection& selection) {
  const auto references = std::make_shared<References>();
  Problems problems;
  for (const GeluRow& row : gelu_rows(selection)) {
    problems.push_back(std::make_unique<GeluProblem>(row, references));
  }
  return problems;
}

}  // namespace libkernels::bench
