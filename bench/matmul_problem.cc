// Matmul for lkbench: the library with its epilogue, the library without and the steps behind it,
// naive kernels, cuBLAS and cuBLASLt.
#include <algorithm>

#include "bench/inputs.h"
#include "bench/matmul_cases.h"
#include "bench/suites.h"
#include "bench/ways.h"

namespace libkernels::bench {
namespace {

enum Buffer : std::size_t { kA, kB, kC, kBias, kScratch, kFacts, kFindingsBuffer };

// Of a packed operand of rows x cols whose leading dimension is `pad` longer than its extent.
Strides strides_of(bool transposed, std::int64_t rows, std::int64_t cols, int pad) {
  return transposed ? Strides{.row = 1, .col = rows + pad} : Strides{.row = cols + pad, .col = 1};
}

// From the first element of a view to behind its last.
std::size_t span_of(const Strides& s, std::int64_t rows, std::int64_t cols) {
  return rows * cols == 0 ? 0 : std::size_t((rows - 1) * s.row + (cols - 1) * s.col + 1);
}

lk_activation activation_of(Epilogue epilogue) {
  return epilogue == Epilogue::none ? LK_ACT_NONE : LK_ACT_RELU;
}

// The views and options of a library call.
struct LibraryCall {
  LibraryCall(const MatmulArgs& args, void* workspace, std::size_t bytes)
      : a{args.a, lk_dtype(args.in_type), args.m, args.k, args.a_strides.row, args.a_strides.col},
        b{args.b, lk_dtype(args.in_type), args.k, args.n, args.b_strides.row, args.b_strides.col},
        c{args.c, lk_dtype(args.out_type), args.m, args.n, args.c_strides.row, args.c_strides.col},
        options(lk_options_init<lk_matmul_options>()) {
    options.call.workspace = workspace;
    options.call.workspace_bytes = bytes;
    options.activation = activation_of(args.epilogue);
    options.math = lk_math(args.math);
    if (args.epilogue != Epilogue::bias_relu) return;
    options.bias = args.bias;
    options.bias_dtype = lk_dtype(args.out_type);
  }
  MatmulCall get(cudaStream_t stream) const {
    return {.a = &a, .b = &b, .c = &c, .options = &options, .stream = stream, .pin = nullptr};
  }
  lk_cmatrix a, b;
  lk_matrix c;
  lk_matmul_options options;
};
static_assert(int(Math::tf32) == LK_MATH_TF32 && int(Math::tf32x3) == LK_MATH_TF32X3);

class MatmulProblem : public Problem {
 public:
  explicit MatmulProblem(const MatmulCase& c)
      : Problem(matmul_case(c)),
        case_(c),
        a_(strides_of(c.layout.a_transposed, c.m, c.k, c.pad)),
        b_(strides_of(c.layout.b_transposed, c.k, c.n, c.pad)) {}

  std::vector<BufferSpec> buffers() const override {
    const std::size_t in = size_of(case_.in), out = size_of(case_.out);
    const auto operand = [&](std::size_t elements) {
      return BufferSpec{.use = BufferUse::input,
                        .bytes = elements * in,
                        .offset = std::size_t(case_.offset) * in};
    };
    const auto scratch = [](std::size_t bytes) {
      return BufferSpec{.use = BufferUse::scratch, .bytes = bytes};
    };
    const bool has_bias = case_.epilogue == Epilogue::bias_relu;
    return {operand(a_elements()),
            operand(b_elements()),
            {.use = BufferUse::output, .bytes = std::size_t(case_.m * case_.n) * out},
            {.use = BufferUse::input, .bytes = has_bias ? std::size_t(case_.n) * out : 0},
            scratch(case_.emulated ? 0 : kMatmulScratch),
            scratch(samples(case_.m) * samples(case_.n) * sizeof(ProductFacts)),
            scratch(kFindings * sizeof(Findings))};
  }

  void fill(Workplace& place) override {
    place.upload_repeated(kA, normal_period(case_.in, a_elements(), 0));
    place.upload_repeated(kB, normal_period(case_.in, b_elements(), 1));
    if (place.bytes(kBias) > 0) {
      place.upload_repeated(kBias, normal_period(case_.out, std::size_t(case_.n), 2));
    }
    facts_known_ = false;
  }

  std::vector<Way> ways(Workplace& place) override {
    std::vector<Way> all{library_way_of(place, case_.epilogue)};
    if (!case_.brief) all.push_back(unfused_way(place));
    const auto args = [this, &place](int set, cudaStream_t stream) {
      return args_of(place, set, stream);
    };
    const std::vector<std::string>& roles = about().roles;
    for (const auto& baseline : place.contestants().baselines.matmul) {
      if (std::count(roles.begin(), roles.end(), baseline.role) == 0) continue;
      all.push_back(baseline_way(place, baseline, args));
    }
    return all;
  }

  Verdict judge(const Way& way, Workplace& place) override {
    const Judges& judges = place.contestants().judges;
    // What sm80's kernels make of fp8 they promise for fp16.
    const bool as_fp16 = size_of(case_.in) == 1 && way.kernel.find("sm80") != std::string::npos;
    const MatmulJudgeCall call{
        .args = args_of(place, 0, place.stream()),
        .facts = reinterpret_cast<ProductFacts*>(place.at(kFacts)),
        .findings = reinterpret_cast<Findings*>(place.at(kFindingsBuffer)),
        .bounds = product_bounds(as_fp16 ? DType::f16 : case_.in, case_.math, case_.k)};
    if (!facts_known_) {
      check(place.device(), judges.matmul_facts(call), "the exact results");
      facts_known_ = true;
    }
    return look(place, kFindingsBuffer, way.role == "fused", [&] { return judges.matmul(call); });
  }

  std::string explain(Workplace& place) override {
    const LibraryCall call(args_of(place, 0, place.stream()), nullptr, 0);
    return place.backend().matmul.explain(call.get(place.stream()));
  }

 private:
  static std::size_t samples(std::int64_t extent) {
    return std::size_t(std::min<std::int64_t>(extent, kMatmulSamples));
  }
  std::size_t a_elements() const { return span_of(a_, case_.m, case_.k); }
  std::size_t b_elements() const { return span_of(b_, case_.k, case_.n); }

  MatmulArgs args_of(const Workplace& place, int set, cudaStream_t stream) const {
    return {.a = place.at(kA, set),
            .b = place.at(kB, set),
            .c = place.at(kC, set),
            .bias = place.at(kBias, set),
            .scratch = place.at(kScratch),
            .in_type = case_.in,
            .out_type = case_.out,
            .math = case_.math,
            .epilogue = case_.epilogue,
            .m = case_.m,
            .n = case_.n,
            .k = case_.k,
            .a_strides = a_,
            .b_strides = b_,
            .c_strides = {.row = case_.n, .col = 1},
            .stream = stream};
  }

  Way library_way_of(Workplace& place, Epilogue epilogue) const {
    return library_way_with_workspace(
        place, LK_OP_MATMUL, place.backend().matmul,
        [this, &place, epilogue](int set, void* workspace, std::size_t bytes) {
          MatmulArgs args = args_of(place, set, nullptr);
          args.epilogue = epilogue;
          return LibraryCall(args, workspace, bytes);
        });
  }

  // The library's product, then bias and ReLU as kernels of their own: what fusing saves.
  Way unfused_way(Workplace& place) const {
    const auto args = args_of(place, 0, place.stream());
    Prepared<MatmulArgs> steps = place.contestants().baselines.matmul_steps(args);
    Way way = library_way_of(place, Epilogue::none);
    way.role = "unfused";
    way.resources.reset();
    if (steps.launches == 0) {
      way.call = refusing("no epilogue to take apart");
      return way;
    }
    way.kernel += " + " + steps.kernel;
    way.launches += steps.launches;
    way.call = [this, &place, product = way.call, steps = std::move(steps)](int set,
                                                                            cudaStream_t stream) {
      product(set, stream);
      check(place.device(), steps.call(args_of(place, set, stream)), steps.kernel);
    };
    return way;
  }

  MatmulCase case_;
  Strides a_, b_;
  bool facts_known_ = false;
};

Problems problems_of(const std::vector<MatmulCase>& cases) {
  Problems problems;
  for (const MatmulCase& c : cases) problems.push_back(std::make_unique<MatmulProblem>(c));
  return problems;
}

}  // namespace

std::unique_ptr<Problem> matmul_problem(const MatmulCase& c) {
  return std::make_unique<MatmulProblem>(c);
}

Problems matmul_problems(const Selection& selection) {
  return problems_of(matmul_cases(selection));
}
Problems cliff_problems(const Selection& selection) { return problems_of(cliff_cases(selection)); }
Problems decode_problems(const Selection& selection) {
  return problems_of(decode_cases(selection));
}

}  // namespace libkernels::bench
