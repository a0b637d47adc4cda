#include <fmt/format.h>

#include <algorithm>

#include "bench/gelu_suite.h"
#include "bench/harness.h"

namespace libkernels::bench {
namespace {

constexpr std::uint64_t kSeed = 20;

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

GeluWay fused_way(const Backend& backend, const GeluRow& row, const void* x, void* y) {
  const CallResources resources = backend.gelu.resources(LibraryCall(row, x, y).get(nullptr));
  return {.role = "fused",
          .kernel = resources.kernel,
          .launches = 1,
          .resources = resources,
          .call = [&backend, row](const void* x, void* y, cudaStream_t stream) {
            backend.gelu.run(LibraryCall(row, x, y).get(stream));
          }};
}

GeluWay baseline_way(const Backend& backend, const GeluBaseline& baseline, const std::string& role,
                     const GeluRow& row, const GeluScratch& scratch) {
  GeluCallArgs args{.x = nullptr,
                    .y = nullptr,
                    .scratch = {scratch.first, scratch.second},
                    .x_type = row.types.x,
                    .y_type = row.types.y,
                    .form = row.form,
                    .n = row.n,
                    .stream = nullptr};
  return {.role = role,
          .kernel = baseline.name,
          .launches = baseline.launches(args),
          .resources = std::nullopt,
          .call = [&backend, &baseline, args](const void* x, void* y, cudaStream_t stream) mutable {
            args.x = x;
            args.y = y;
            args.stream = stream;
            check(backend.device(), baseline.launch(args), baseline.name);
          }};
}

}  // namespace

std::vector<GeluWay> gelu_ways(const Backend& backend, const Contestants& contestants,
                               const GeluRow& row, const void* x, void* y,
                               const GeluScratch& scratch) {
  return {fused_way(backend, row, x, y),
          baseline_way(backend, *contestants.gelu_naive, "naive", row, scratch),
          baseline_way(backend, *contestants.gelu_unfused, "unfused", row, scratch)};
}

std::string judge(const std::string& role, const ErrorSummary& error) {
  if (error.not_finite > 0) {
    return fmt::format("WRONG: {} results are NaN or infinite", error.not_finite);
  }
  const double fraction = role == "fused" ? error.max_fraction : error.max_baseline_fraction;
  if (fraction <= 1) return "";
  return fmt::format("WRONG: the error at element {} is {:.3g} times the bound", error.worst,
                     fraction);
}

Record gelu_record(const GeluRow& row, const std::string& role, const std::string& kernel,
                   const std::string& mode) {
  Record record;
  record.op = "gelu";
  record.role = role;
  record.kernel = kernel;
  record.types = format_types(row.types);
  record.form = name(row.form);
  record.elements = row.n;
  record.variant = variant(row);
  record.floor_bytes = gelu_floor(row.n, row.types.x, row.types.y).bytes();
  record.mode = mode;
  return record;
}

const GeluReference& GeluReferences::get(const GeluRow& row, std::size_t n) {
  std::erase_if(all_, [&](const auto& r) {
    return r->x_type == row.types.x && r->y_type == row.types.y && r->form == row.form &&
           r->y.size() < n;
  });
  for (const auto& r : all_) {
    if (r->x_type == row.types.x && r->y_type == row.types.y && r->form == row.form) return *r;
  }
  all_.push_back(std::make_unique<GeluReference>(row.types.x, row.types.y, row.form, n, kSeed));
  return *all_.back();
}

}  // namespace libkernels::bench
