// What an operation hands to lkbench: its cases, and for each how to make the inputs, who computes
// the result, and whether a result is right. Memory, timing, counting, ceilings, tables and files
// are shared by all operations.
//
// A driver is one file, bench/<op>_problem.cc, with a class of Problem and one function that makes
// the problems a selection asks for; a line in bench/suites.cc names it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/model.h"
#include "src/backend.h"

namespace libkernels::bench {

class Workplace;  // bench/workplace.h

// Which measured rate a row is held against, of as many bytes in the same run: the best plain copy
// (as much read as written), the best plain read, or the best tensor-core (fp32: FMA) loop.
enum class Ceiling { copy, read, math };

struct Case {
  std::string op;      // "gelu"
  std::string types;   // "bf16"; "bf16->f32": input, output; "tf32": fp32 multiplied as such
  std::string form{};  // "tanh", "log", "bias+relu"; "": the operation has one form
  std::vector<std::int64_t> shape{};  // {N}, {M, N} or {M, N, K}
  std::string layout{};               // "": packed; "x+1 y+1", "NT", "column": else
  Floor floor{};                      // each input read once, each output written once
  double flops = 0;                   // 2 M N K of a product; 0: the bytes alone count
  Ceiling ceiling = Ceiling::copy;
  // Of the ways that the problem will have, the library's ("fused") first.
  std::vector<std::string> roles = {"fused", "naive", "unfused"};

  bool operator==(const Case& o) const {
    return op == o.op && types == o.types && form == o.form && shape == o.shape &&
           layout == o.layout;
  }
};

std::string shape_text(const std::vector<std::int64_t>& shape);  // "2^16", "4096x4095", "1x1x64"
// "gelu/bf16_f32/tanh/65536/x+1,y+1": for Google Benchmark.
std::string benchmark_name(const Case& c);
// The product of the first two extents.
std::int64_t elements(const Case& c);
// Whether the power limit may slow the case: products of 4096^3 and more. Of those whose extents
// are multiples of 4096, so that a sweep does not take minutes, burst and sustained times are
// measured.
bool is_power_limited(const Case& c);

enum class BufferUse {
  input,   // one a set, filled once
  output,  // one a set, poisoned before each result that is judged
  scratch  // one for all sets, as an allocator would reuse it
};

struct BufferSpec {
  BufferUse use;
  std::size_t bytes;       // may be 0
  std::size_t offset = 0;  // bytes that the data lies behind a 256-byte boundary
};

// One way to compute a case.
struct Way {
  std::string role;    // "fused" (the library), "naive", "unfused", or a peer: "cublaslt", "cub"
  std::string kernel;  // its name
  int launches = 1;    // kernels that one call launches
  std::optional<CallResources> resources{};  // of the library's kernel
  // Enqueues; throws on failure, and SkipRow if it has no part in this case. May be captured into a
  // graph: neither allocates nor waits.
  std::function<void(int set, cudaStream_t stream)> call{};
};

struct Verdict {
  std::optional<double> ulp;       // largest error in units in the last place of the output type
  std::optional<double> fraction;  // largest error over what the library promises
  std::string fault;               // why the result is wrong; "": it is right
};

class Problem {
 public:
  explicit Problem(Case about) : about_(std::move(about)) {}
  virtual ~Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const Case& about() const { return about_; }

  // The memory of one set; buffers are known by their place in this list.
  virtual std::vector<BufferSpec> buffers() const = 0;
  // Makes the inputs of set 0 (random, never zeros); the other sets become copies of it.
  virtual void fill(Workplace& place) = 0;
  // In the order of the table, the library first. What the library throws passes. `place` outlives
  // the result.
  virtual std::vector<Way> ways(Workplace& place) = 0;
  // Looks at set 0 after one call of `way` on poisoned outputs.
  virtual Verdict judge(const Way& way, Workplace& place) = 0;
  // What the library says of the case: lk_<op>_explain's text.
  virtual std::string explain(Workplace& place) = 0;

 private:
  Case about_;
};

using Problems = std::vector<std::unique_ptr<Problem>>;

}  // namespace libkernels::bench
