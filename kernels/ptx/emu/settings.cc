// The settings, as the environment asks for them. A variable set to what it does not take is an
// error of every launch: results of another setting than the one asked for would mislead.
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::emulator {
namespace {

// The variable's value; unset and empty ask for the default.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const char* name, const std::string& value, const std::string& accepted) {
  throw std::invalid_argument(std::string(name) + " is '" + value + "'; it is " + accepted);
}

Completion completion_from_environment() {
  constexpr const char* kName = "LK_EMU_COMPLETION";
  const std::string value = variable(kName).value_or("late");
  if (value == "late") return Completion::late;
  if (value == "eager") return Completion::eager;
  if (value == "random") return Completion::random;
  refuse(kName, value, "late (the default), eager or random");
}

std::uint64_t seed_from_environment() {
  constexpr const char* kName = "LK_EMU_SEED";
  const std::string value = variable(kName).value_or("1");
  char* end = nullptr;
  errno = 0;
  const std::uint64_t seed = std::strtoull(value.c_str(), &end, 0);
  // Blanks, signs and further text are what strtoull would take.
  if (!std::isdigit(static_cast<unsigned char>(value[0])) || *end != '\0' || errno != 0) {
    refuse(kName, value, "a number from 0 to 2^64 - 1, decimal or as 0x... (default: 1)");
  }
  return seed;
}

bool worst_ulp_from_environment() {
  constexpr const char* kName = "LK_EMU_ULP";
  const std::string value = variable(kName).value_or("nearest");
  if (value == "nearest") return false;
  if (value == "worst") return true;
  refuse(kName, value, "nearest (the default: correctly rounded) or worst");
}

void check_device() {
  constexpr const char* kName = "LK_EMU_DEVICE";
  const std::string value = variable(kName).value_or("emu100");
  if (find_profile(value) != nullptr) return;  // profile.cc takes it
  std::string names;
  for (const DeviceProperties& p : profiles()) {
    names += (names.empty() ? "" : ", ") + std::string(p.name);
  }
  refuse(kName, value, "one of " + names + " (default: emu100)");
}

Settings from_environment() {
  check_device();
  Settings s;
  s.completion = completion_from_environment();
  s.seed = seed_from_environment();
  s.worst_ulp = worst_ulp_from_environment();
  return s;
}

}  // namespace

// Throws std::invalid_argument, every time, if the environment is wrong. A launch asks before it
// runs anything.
Settings& settings() {
  static Settings s = from_environment();
  return s;
}

}  // namespace libkernels::emulator
