#include "bench/gelu_bench.h"

namespace libkernels::bench {

std::vector<BenchRow> gelu_bench_rows(GeluSuite& suite, const std::vector<GeluRow>& rows,
                                      bool counted) {
  std::vector<std::string> roles{"fused", "naive", "unfused"};
  if (!counted) roles.push_back("ceiling");
  std::vector<BenchRow> all;
  for (const GeluRow& row : rows) {
    all.push_back({.name = benchmark_name(row),
                   .floor_bytes = gelu_floor(row.n, row.types.x, row.types.y).bytes(),
                   .roles = roles,
                   .run = [&suite, row] { return suite.run(row); }});
  }
  return all;
}

}  // namespace libkernels::bench
