// Stands in for the library's softmax, row-sum and matmul in the tests of their drivers: right, by
// the naive kernels of the bench, and slow; or wrong on request.
#pragma once

#include "bench/contestants.h"
#include "include/libkernels/error.h"
#include "src/backend.h"
#include "tests/bench/fake_device.h"

namespace libkernels::bench {

struct FakeLibrary {
  enum class Fault { none, does_nothing, wrong_element, forgets_last_column };
  static inline Fault fault = Fault::none;
  static inline std::size_t workspace_bytes = 0;
  static inline int calls = 0;
  static inline int calls_with_workspace = 0;

  // Behind the emulator; every kernel of the fake costs the same make-believe time.
  static FakeDevice& device() {
    static FakeDevice device(emu_device());
    return device;
  }

  static Backend backend() {
    fault = Fault::none;
    workspace_bytes = 0;
    calls = calls_with_workspace = 0;
    Backend b = emu_backend();
    b.device = []() -> Device& { return device(); };
    b.preload = [](lk_op) {};
    b.kernels = []() -> std::span<const lk_kernel_info> {
      static constexpr lk_kernel_info kKernels[] = {{"softmax_fake", LK_OP_SOFTMAX, 80, "emu"},
                                                    {"row_sum_fake", LK_OP_ROW_SUM, 80, "emu"},
                                                    {"matmul_fake", LK_OP_MATMUL, 80, "emu"}};
      return kKernels;
    };
    b.softmax = functions<SoftmaxCall>(&softmax);
    b.row_sum = functions<RowSumCall>(&row_sum);
    b.matmul = functions<MatmulCall>(&matmul);
    return b;
  }

 private:
  template <class Call>
  static Functions<Call> functions(void (*run)(const Call&)) {
    return {run, [](const Call&) { return workspace_bytes; },
            [](const Call&) { return std::string("the fake explains"); },
            [](const Call&) {
              return CallResources{.kernel = "fake_sm80",
                                   .threads_per_cta = 256,
                                   .registers = 32,
                                   .registers_exact = true,
                                   .smem_bytes = 0,
                                   .local_bytes = 0};
            }};
  }

  // Whether the call is to be made; counts it.
  static bool begin(const lk_call_options& options) {
    ++calls;
    calls_with_workspace += options.workspace != nullptr;
    device().work(1e-3);
    return fault != Fault::does_nothing;
  }
  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw cuda_error("the fake failed: " + emu_device().describe(error));
  }
  template <class Args>
  static void run_first(std::span<const Baseline<Args>> baselines, const Args& args) {
    check(baselines[0].prepare(std::span(&args, 1)).call(args));
  }

  static DType type_of(lk_dtype type) { return DType(type); }

  // One result, fp32 or of 16 bits, becomes wrong by far too much.
  static void spoil(void* y, DType type) {
    if (fault != Fault::wrong_element) return;
    if (type == DType::f32) {
      *static_cast<float*>(y) = *static_cast<float*>(y) * 1.01f + 0.01f;
    } else {
      *static_cast<std::uint16_t*>(y) ^= 0x4400;
    }
  }

  static void softmax(const SoftmaxCall& call) {
    if (!begin(call.options->call)) return;
    const auto& b = emu_contestants().baselines;
    const std::int64_t less = fault == Fault::forgets_last_column ? 1 : 0;
    run_first(b.softmax, SoftmaxArgs{.x = call.x->data,
                                     .y = call.y->data,
                                     .scratch = nullptr,
                                     .x_type = type_of(call.x->dtype),
                                     .y_type = type_of(call.y->dtype),
                                     .rows = call.x->rows,
                                     .cols = call.x->cols - less,
                                     .stream = call.stream});
    spoil(call.y->data, type_of(call.y->dtype));
  }

  static void row_sum(const RowSumCall& call) {
    if (!begin(call.options->call)) return;
    const auto& b = emu_contestants().baselines;
    const std::int64_t less = fault == Fault::forgets_last_column ? 1 : 0;
    run_first(b.row_sum.subspan(1), RowSumArgs{.x = call.x->data,
                                               .y = static_cast<float*>(call.y->data),
                                               .scratch = nullptr,
                                               .x_type = type_of(call.x->dtype),
                                               .rows = call.x->rows,
                                               .cols = call.x->cols - less,
                                               .stream = call.stream});
    spoil(call.y->data, DType::f32);
  }

  static Epilogue epilogue_of(const lk_matmul_options& options) {
    if (options.activation == LK_ACT_NONE) return Epilogue::none;
    return options.bias == nullptr ? Epilogue::relu : Epilogue::bias_relu;
  }

  static void matmul(const MatmulCall& call) {
    if (!begin(call.options->call)) return;
    const auto& b = emu_contestants().baselines;
    const std::int64_t less = fault == Fault::forgets_last_column ? 1 : 0;
    run_first(b.matmul, MatmulArgs{.a = call.a->data,
                                   .b = call.b->data,
                                   .c = call.c->data,
                                   .bias = call.options->bias,
                                   .scratch = nullptr,
                                   .in_type = type_of(call.a->dtype),
                                   .out_type = type_of(call.c->dtype),
                                   .math = Math(call.options->math),
                                   .epilogue = epilogue_of(*call.options),
                                   .m = call.a->rows,
                                   .n = call.b->cols,
                                   .k = call.a->cols - less,
                                   .a_strides = {call.a->row_stride, call.a->col_stride},
                                   .b_strides = {call.b->row_stride, call.b->col_stride},
                                   .c_strides = {call.c->row_stride, call.c->col_stride},
                                   .stream = call.stream});
    spoil(call.c->data, type_of(call.c->dtype));
  }
};

}  // namespace libkernels::bench
