// Softmax and row-sum for lkbench: the library, naive kernels, softmax's unfused chain, CUB.
#include "bench/inputs.h"
#include "bench/row_cases.h"
#include "bench/suites.h"
#include "bench/ways.h"

namespace libkernels::bench {
namespace {

enum Buffer : std::size_t { kX, kY, kScratch, kFacts, kPieces, kFindingsBuffer };

// The views and options of a library call.
template <class Options>
struct LibraryCall {
  LibraryCall(const lk_cmatrix& x, const lk_matrix& y, void* workspace, std::size_t bytes)
      : x(x), y(y), options(lk_options_init<Options>()) {
    options.call.workspace = workspace;
    options.call.workspace_bytes = bytes;
  }
  template <class Call>
  Call get(cudaStream_t stream) const {
    return {.x = &x, .y = &y, .options = &options, .stream = stream, .pin = nullptr};
  }
  lk_cmatrix x;
  lk_matrix y;
  Options options;
};

struct Softmax {
  using Call = SoftmaxCall;
  using Args = SoftmaxArgs;
  struct Made : LibraryCall<lk_softmax_options> {
    using LibraryCall::LibraryCall;
    SoftmaxCall get(cudaStream_t stream) const { return LibraryCall::get<SoftmaxCall>(stream); }
  };
  static constexpr lk_op kOp = LK_OP_SOFTMAX;
  static constexpr bool kHasExp = true;
  static Case about(const RowCase& row) { return softmax_case(row); }
  static const Functions<Call>& functions(const Backend& backend) { return backend.softmax; }
  static auto baselines(const Contestants& c) { return c.baselines.softmax; }
  static auto judge(const Contestants& c) { return c.judges.softmax; }
  static std::int64_t y_cols(const RowCase& row) { return row.cols; }
  static std::size_t scratch_bytes(const RowCase& row) {
    return softmax_scratch_bytes(row.rows, row.cols, row.types.x);
  }
  static Args args(const RowCase& row, const void* x, void* y, void* scratch, cudaStream_t stream) {
    return {.x = x,
            .y = y,
            .scratch = scratch,
            .x_type = row.types.x,
            .y_type = row.types.y,
            .rows = row.rows,
            .cols = row.cols,
            .stream = stream};
  }
};

struct RowSum {
  using Call = RowSumCall;
  using Args = RowSumArgs;
  struct Made : LibraryCall<lk_row_sum_options> {
    using LibraryCall::LibraryCall;
    RowSumCall get(cudaStream_t stream) const { return LibraryCall::get<RowSumCall>(stream); }
  };
  static constexpr lk_op kOp = LK_OP_ROW_SUM;
  static constexpr bool kHasExp = false;
  static Case about(const RowCase& row) { return row_sum_case(row); }
  static const Functions<Call>& functions(const Backend& backend) { return backend.row_sum; }
  static auto baselines(const Contestants& c) { return c.baselines.row_sum; }
  static auto judge(const Contestants& c) { return c.judges.row_sum; }
  static std::int64_t y_cols(const RowCase&) { return 1; }
  static std::size_t scratch_bytes(const RowCase&) { return kRowSumScratch; }
  static Args args(const RowCase& row, const void* x, void* y, void* scratch, cudaStream_t stream) {
    return {.x = x,
            .y = static_cast<float*>(y),
            .scratch = scratch,
            .x_type = row.types.x,
            .rows = row.rows,
            .cols = row.cols,
            .stream = stream};
  }
};

template <class Op>
class RowProblem : public Problem {
 public:
  explicit RowProblem(const RowCase& row) : Problem(Op::about(row)), row_(row) {}

  std::vector<BufferSpec> buffers() const override {
    const std::size_t x_size = size_of(row_.types.x);
    const std::size_t y_elements = std::size_t(row_.rows * Op::y_cols(row_));
    const std::size_t pieces = std::size_t(facts_pieces(row_.rows, row_.cols));
    const auto scratch = [](std::size_t bytes) {
      return BufferSpec{.use = BufferUse::scratch, .bytes = bytes};
    };
    return {{.use = BufferUse::input,
             .bytes = elements() * x_size,
             .offset = std::size_t(row_.x_offset) * x_size},
            {.use = BufferUse::output, .bytes = y_elements * size_of(row_.types.y)},
            scratch(row_.column ? 0 : Op::scratch_bytes(row_)),
            scratch(std::size_t(row_.rows) * sizeof(RowFacts)),
            scratch(pieces * sizeof(RowFacts)),
            scratch(kFindings * sizeof(Findings))};
  }

  void fill(Workplace& place) override {
    place.upload_repeated(kX, normal_period(row_.types.x, elements()));
    facts_known_ = false;
  }

  std::vector<Way> ways(Workplace& place) override {
    const auto made = [this, &place](int set, void* workspace, std::size_t bytes) {
      return library_call(place, set, workspace, bytes);
    };
    std::vector<Way> all{
        library_way_with_workspace(place, Op::kOp, Op::functions(place.backend()), made)};
    const auto args = [&place, row = row_](int set, cudaStream_t stream) {
      return Op::args(row, place.at(kX, set), place.at(kY, set), place.at(kScratch), stream);
    };
    for (const auto& baseline : Op::baselines(place.contestants())) {
      if (row_.column) {
        all.push_back({.role = baseline.role,
                       .kernel = baseline.kernel,
                       .call = refusing("takes packed rows")});
      } else {
        all.push_back(baseline_way(place, baseline, args));
      }
    }
    return all;
  }

  Verdict judge(const Way& way, Workplace& place) override {
    const Judges& judges = place.contestants().judges;
    const RowJudgeCall call{.x = place.at(kX),
                            .y = place.at(kY),
                            .facts = reinterpret_cast<RowFacts*>(place.at(kFacts)),
                            .pieces = reinterpret_cast<RowFacts*>(place.at(kPieces)),
                            .findings = reinterpret_cast<Findings*>(place.at(kFindingsBuffer)),
                            .x_type = row_.types.x,
                            .y_type = row_.types.y,
                            .rows = row_.rows,
                            .cols = row_.cols,
                            .x_strides = strides(row_.cols),
                            .y_strides = strides(Op::y_cols(row_)),
                            .stream = place.stream()};
    if (!facts_known_) {
      check(place.device(), judges.row_facts(call, Op::kHasExp), "the exact results");
      facts_known_ = true;
    }
    return look(place, kFindingsBuffer, way.role == "fused",
                [&] { return Op::judge(place.contestants())(call); });
  }

  std::string explain(Workplace& place) override {
    const auto call = library_call(place, 0, nullptr, 0);
    return Op::functions(place.backend()).explain(call.get(place.stream()));
  }

 private:
  std::size_t elements() const { return std::size_t(row_.rows * row_.cols); }
  Strides strides(std::int64_t cols) const {
    return row_.column ? Strides{.row = 1, .col = row_.rows} : Strides{.row = cols, .col = 1};
  }
  typename Op::Made library_call(const Workplace& place, int set, void* workspace,
                                 std::size_t bytes) const {
    const Strides x = strides(row_.cols), y = strides(Op::y_cols(row_));
    return typename Op::Made(
        {place.at(kX, set), lk_dtype(row_.types.x), row_.rows, row_.cols, x.row, x.col},
        {place.at(kY, set), lk_dtype(row_.types.y), row_.rows, Op::y_cols(row_), y.row, y.col},
        workspace, bytes);
  }

  RowCase row_;
  bool facts_known_ = false;
};

template <class Op>
Problems problems_of(const std::vector<RowCase>& rows) {
  Problems problems;
  for (const RowCase& row : rows) problems.push_back(std::make_unique<RowProblem<Op>>(row));
  return problems;
}

}  // namespace

std::unique_ptr<Problem> softmax_problem(const RowCase& row) {
  return std::make_unique<RowProblem<Softmax>>(row);
}
std::unique_ptr<Problem> row_sum_problem(const RowCase& row) {
  return std::make_unique<RowProblem<RowSum>>(row);
}

Problems softmax_problems(const Selection& selection) {
  return problems_of<Softmax>(softmax_cases(selection));
}
Problems row_sum_problems(const Selection& selection) {
  return problems_of<RowSum>(row_sum_cases(selection));
}

}  // namespace libkernels::bench
