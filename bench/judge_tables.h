// What the judging kernels' files define, once per backend.
#pragma once

#include "bench/judges.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::bench_device {

cudaError_t row_facts(const bench::RowJudgeCall& call, bool with_exp);
cudaError_t judge_softmax(const bench::RowJudgeCall& call);
cudaError_t judge_row_sum(const bench::RowJudgeCall& call);
cudaError_t matmul_facts(const bench::MatmulJudgeCall& call);
cudaError_t judge_matmul_result(const bench::MatmulJudgeCall& call);

inline constexpr bench::Judges kJudges{.row_facts = &row_facts,
                                       .softmax = &judge_softmax,
                                       .row_sum = &judge_row_sum,
                                       .matmul_facts = &matmul_facts,
                                       .matmul = &judge_matmul_result};

}  // namespace libkernels::inline LK_BACKEND::bench_device
