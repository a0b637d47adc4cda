#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::emulator {
namespace {

Completion completion_from_environment() {
  const char* value = std::getenv("LK_EMU_COMPLETION");
  if (!value || !std::strcmp(value, "late")) return Completion::late;
  if (!std::strcmp(value, "eager")) return Completion::eager;
  if (!std::strcmp(value, "random")) return Completion::random;
  std::fprintf(stderr, "LK_EMU_COMPLETION: \"%s\" is none of late, eager, random; taking late\n",
               value);
  return Completion::late;
}

Settings from_environment() {
  Settings s;
  s.completion = completion_from_environment();
  if (const char* seed = std::getenv("LK_EMU_SEED")) s.seed = std::strtoull(seed, nullptr, 0);
  const char* ulp = std::getenv("LK_EMU_ULP");
  s.worst_ulp = ulp && !std::strcmp(ulp, "worst");
  return s;
}

}  // namespace

Settings& settings() {
  static Settings s = from_environment();
  return s;
}

}  // namespace libkernels::emulator
