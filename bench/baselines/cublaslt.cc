// cuBLASLt at its best: of the first eight algorithms that its heuristics name for the problem, the
// one that proves fastest here, once with bias and ReLU in its epilogue, once without and with
// kernels of their own behind it. fp8 without fast accumulation, as the library promises its own.
#include <cublasLt.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "bench/baselines/cublas_common.h"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace {

constexpr int kCandidates = 8;

cublasLtHandle_t handle() {
  static const cublasLtHandle_t made = [] {
    cublasLtHandle_t h;
    check(cublasLtCreate(&h), "cublasLtCreate");
    return h;
  }();
  return made;
}

template <class T, cublasStatus_t (*kDestroy)(T)>
struct Owned {
  T value{};
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (value != nullptr) (void)kDestroy(value);
  }
};
using Layout = Owned<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;

// The largest power of two, up to 256, that a call's pointers are multiples of.
std::uint32_t alignment_of(const void* p) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) alignment /= 2;
  return alignment;
}

// A problem put to the library, and the algorithm that it is solved with.
class Problem {
 public:
  Problem(const bench::MatmulArgs& args, bench::Epilogue epilogue) : epilogue_(epilogue) {
    const ColumnMajor x = column_major(args.b_strides, args.k, args.n);
    const ColumnMajor y = column_major(args.a_strides, args.m, args.k);
    check(cublasLtMatmulDescCreate(&operation_.value, compute_type(args), CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, x.op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, y.op);
    const cublasLtEpilogue_t wanted = epilogue == bench::Epilogue::none ? CUBLASLT_EPILOGUE_DEFAULT
                                      : epilogue == bench::Epilogue::relu
                                          ? CUBLASLT_EPILOGUE_RELU
                                          : CUBLASLT_EPILOGUE_RELU_BIAS;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, wanted);
    if (size_of(args.in_type) == 1) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{0});
    set_bias(args);
    describe(&x_, args.in_type, x.rows, x.cols, x.ld);
    describe(&y_, args.in_type, y.rows, y.cols, y.ld);
    describe(&c_, args.out_type, args.n, args.m, args.c_strides.row);
  }

  std::vector<cublasLtMatmulHeuristicResult_t> candidates(const bench::MatmulArgs& args) const {
    Owned<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy> preference;
    check(cublasLtMatmulPreferenceCreate(&preference.value), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference.value, what, &value, sizeof(value)),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{bench::kMatmulScratch});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(args.b));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(args.a));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(args.c));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(args.c));
    std::vector<cublasLtMatmulHeuristicResult_t> found(kCandidates);
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle(), operation_.value, x_.value, y_.value, c_.value, c_.value, preference.value,
        kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0)) {
      throw bench::Refusal("cuBLASLt has no algorithm for it");
    }
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    found.resize(std::size_t(count));
    std::erase_if(found, [](const auto& f) { return f.state != CUBLAS_STATUS_SUCCESS; });
    return found;
  }

  cublasStatus_t multiply(const bench::MatmulArgs& args, const cublasLtMatmulAlgo_t& algorithm) {
    constexpr float kOne = 1, kZero = 0;
    set_bias(args);
    return cublasLtMatmul(handle(), operation_.value, &kOne, args.b, x_.value, args.a, y_.value,
                          &kZero, args.c, c_.value, args.c, c_.value, &algorithm, args.scratch,
                          bench::kMatmulScratch, args.stream);
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, T value) {
    check(cublasLtMatmulDescSetAttribute(operation_.value, what, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  void set_bias(const bench::MatmulArgs& args) {
    if (epilogue_ == bench::Epilogue::bias_relu) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.bias);
  }
  static void describe(Layout* layout, DType type, std::int64_t rows, std::int64_t cols,
                       std::int64_t ld) {
    check(cublasLtMatrixLayoutCreate(&layout->value, data_type(type), std::uint64_t(rows),
                                     std::uint64_t(cols), ld),
          "cublasLtMatrixLayoutCreate");
  }

  bench::Epilogue epilogue_;
  Owned<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy> operation_;
  Layout x_, y_, c_;
};

// Times calls on buffers in turn, so that none finds its operands in the cache. Captured: a call
// costs the host more than a small product costs the GPU.
class Trial {
 public:
  explicit Trial(std::span<const bench::MatmulArgs> examples) : examples_(examples) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }

  // Milliseconds a call; infinite if the algorithm fails. Gives up early on one that has no chance
  // against `best`.
  float run(Problem* problem, const cublasLtMatmulAlgo_t& algorithm, float best) {
    constexpr float kHopeless = 1.5f;
    constexpr float kEnough = 0.5f;  // ms
    constexpr int kMostCalls = 64;
    const auto fails = [&] {
      return problem->multiply(next(), algorithm) != CUBLAS_STATUS_SUCCESS;
    };
    if (fails()) return kNever;  // also loads its kernel
    const float once = timed([&] { (void)fails(); });
    // An event pair around a single launch adds some microseconds.
    if (once > kEnough && once > kHopeless * best) return kNever;
    const int calls = std::clamp(int(kEnough / std::max(once, 1e-3f)), 2, kMostCalls);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "capturing");
    bool failed = false;
    for (int i = 0; i < calls; ++i) failed = failed || fails();
    const cudaError_t ended = cudaStreamEndCapture(stream(), &graph);
    float ms = kNever;
    if (!failed && ended == cudaSuccess && cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess) {
      check(cudaGraphLaunch(replay, stream()), "cudaGraphLaunch");
      ms = timed([&] { check(cudaGraphLaunch(replay, stream()), "cudaGraphLaunch"); }) /
           float(calls);
      (void)cudaGraphExecDestroy(replay);
    }
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    return ms;
  }

  static constexpr float kNever = std::numeric_limits<float>::infinity();

 private:
  const bench::MatmulArgs& next() { return examples_[turn_++ % examples_.size()]; }
  cudaStream_t stream() const { return examples_[0].stream; }

  template <class F>
  float timed(F f) {
    check(cudaEventRecord(begin_, stream()), "cudaEventRecord");
    f();
    check(cudaEventRecord(end_, stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "timing an algorithm");
    float ms = kNever;
    check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms;
  }

  std::span<const bench::MatmulArgs> examples_;
  std::size_t turn_ = 0;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// A problem with its best algorithm.
struct Solved {
  Solved(std::span<const bench::MatmulArgs> examples, bench::Epilogue epilogue)
      : problem(examples[0], epilogue) {
    const auto candidates = problem.candidates(examples[0]);
    Trial trial(examples);
    float best = Trial::kNever;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const float ms = trial.run(&problem, candidates[i].algo, best);
      if (!(ms < best)) continue;
      best = ms;
      algorithm = candidates[i].algo;
      chosen = int(i) + 1;
    }
    if (chosen == 0) throw bench::Refusal("every algorithm of cuBLASLt fails");
    of = int(candidates.size());
  }
  std::string name() const {
    return "cublasLt " + std::to_string(chosen) + "/" + std::to_string(of);
  }
  cudaError_t call(const bench::MatmulArgs& args) {
    check(problem.multiply(args, algorithm), "cublasLtMatmul");
    return cudaSuccess;
  }

  Problem problem;
  cublasLtMatmulAlgo_t algorithm{};
  int chosen = 0, of = 0;
};

bench::Prepared<bench::MatmulArgs> prepare_fused(std::span<const bench::MatmulArgs> examples) {
  const auto solved = std::make_shared<Solved>(examples, examples[0].epilogue);
  return {.kernel = solved->name(), .launches = 1, .call = [solved](const bench::MatmulArgs& args) {
            return solved->call(args);
          }};
}

bench::Prepared<bench::MatmulArgs> prepare_unfused(std::span<const bench::MatmulArgs> examples) {
  const bench::Prepared<bench::MatmulArgs> steps = matmul_steps(examples[0]);
  if (steps.launches == 0) throw bench::Refusal("no epilogue to take apart");
  const auto solved = std::make_shared<Solved>(examples, bench::Epilogue::none);
  return {.kernel = solved->name() + " + " + steps.kernel,
          .launches = 1 + steps.launches,
          .call = [solved, steps](const bench::MatmulArgs& args) {
            (void)solved->call(args);
            return steps.call(args);
          }};
}

}  // namespace

std::span<const bench::Baseline<bench::MatmulArgs>> cublaslt_baselines() {
  static const bench::Baseline<bench::MatmulArgs> all[] = {
      {.role = "cublaslt", .kernel = "cublasLt", .prepare = &prepare_fused},
      {.role = "cublaslt_unfused", .kernel = "cublasLt + steps", .prepare = &prepare_unfused}};
  return all;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
