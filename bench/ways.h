// Making ways of an operation's library call, with its scratch memory, and of its baselines.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "bench/baselines/baseline.h"
#include "bench/judges.h"
#include "bench/workplace.h"

namespace libkernels::bench {

// Calls of the library with the workspace that they ask for, which all sets share: what a caller
// who cares for speed does. make(set, memory, bytes) is as library_way's make(set).
template <class Call, class Make>
Way library_way_with_workspace(const Workplace& place, lk_op op, const Functions<Call>& functions,
                               Make make) {
  const auto kernels = place.backend().kernels();
  if (std::none_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.op == op; })) {
    throw SkipRow("this build has no kernels of the operation");
  }
  const auto example = make(0, nullptr, std::size_t{0});
  Call call = example.get(nullptr);
  call.pin = pinned_kernel(place, op, functions, call);
  const std::size_t bytes = functions.workspace(call);
  std::shared_ptr<DeviceMemory> memory;
  if (bytes > 0) memory = std::make_shared<DeviceMemory>(place.device(), bytes);
  return library_way(place, op, functions, [make, memory, bytes](int set) {
    return make(set, memory ? static_cast<void*>(memory->data()) : nullptr, bytes);
  });
}

// The call of a way that has no part in its case.
inline std::function<void(int, cudaStream_t)> refusing(const std::string& reason) {
  return [reason](int, cudaStream_t) { throw SkipRow(reason); };
}

// args(set, stream) are a call's. The way says why if the baseline wants no part in it.
template <class Args, class MakeArgs>
Way baseline_way(const Workplace& place, const Baseline<Args>& baseline, MakeArgs args) {
  constexpr int kMostExamples = 256;
  Way way{.role = baseline.role, .kernel = baseline.kernel};
  std::vector<Args> examples;
  for (int set = 0; set < std::min(place.sets(), kMostExamples); ++set) {
    examples.push_back(args(set, place.stream()));
  }
  try {
    Prepared<Args> ready = baseline.prepare(examples);
    way.kernel = ready.kernel;
    way.launches = ready.launches;
    way.call = [&place, ready = std::move(ready), args](int set, cudaStream_t stream) {
      check(place.device(), ready.call(args(set, stream)), ready.kernel);
    };
  } catch (const Refusal& refusal) {
    way.call = refusing(refusal.what());
  }
  return way;
}

// Runs a judge's kernel, which fills the buffer of Findings, and says what came of it.
template <class Launch>
Verdict look(Workplace& place, std::size_t findings, bool is_library, Launch launch) {
  const std::vector<std::byte> zeros(kFindings * sizeof(Findings));
  place.upload(findings, zeros);
  check(place.device(), launch(), "judging a result");
  const std::vector<std::byte> bytes = place.download(findings, 0, zeros.size());
  std::vector<Findings> found(kFindings);
  std::memcpy(found.data(), bytes.data(), bytes.size());
  return verdict_of(combine(found), is_library);
}

}  // namespace libkernels::bench
