#include "bench/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace libkernels::bench {
namespace {

constexpr const char* kOwnFlags[] = {
    "--help",      "--suite",   "--dtype",    "--form",      "--layout", "--n",
    "--shape",     "--arch",    "--mode",     "--out",       "--list",   "--explain",
    "--large",     "--warm",    "--seconds",  "--precision", "--ab",     "--max-samples",
    "--sustained", "--emulate", "--ceilings", "--device"};
constexpr const char* kBenchmarkFlags[] = {"--benchmark_list_tests",
                                           "--benchmark_filter",
                                           "--benchmark_min_time",
                                           "--benchmark_min_warmup_time",
                                           "--benchmark_repetitions",
                                           "--benchmark_enable_random_interleaving",
                                           "--benchmark_report_aggregates_only",
                                           "--benchmark_display_aggregates_only",
                                           "--benchmark_format",
                                           "--benchmark_out",
                                           "--benchmark_out_format",
                                           "--benchmark_color",
                                           "--benchmark_counters_tabular",
                                           "--benchmark_context",
                                           "--benchmark_time_unit"};
// What Google Benchmark itself ends the process for, with a help text and 0.
struct Choice {
  const char* flag;
  std::array<const char*, 4> values;
};
constexpr Choice kBenchmarkChoices[] = {{"--benchmark_format", {"console", "json", "csv"}},
                                        {"--benchmark_out_format", {"console", "json", "csv"}},
                                        {"--benchmark_time_unit", {"ns", "us", "ms", "s"}}};
// Further away than this, a suggestion would be a guess.
constexpr int kMaxDistance = 4;

std::vector<std::string_view> split(std::string_view list, char separator = ',') {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = list.find(separator);
    parts.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

// "bf16:f32" and "e4m3" as Case::types writes them: "bf16->f32", "f8_e4m3".
std::string parse_types(std::string_view text) {
  constexpr std::pair<const char*, const char*> kTypes[] = {
      {"bf16", "bf16"},    {"f16", "f16"},         {"f32", "f32"},        {"fp16", "f16"},
      {"fp32", "f32"},     {"tf32", "tf32"},       {"tf32x3", "tf32x3"},  {"e4m3", "f8_e4m3"},
      {"e5m2", "f8_e5m2"}, {"f8_e4m3", "f8_e4m3"}, {"f8_e5m2", "f8_e5m2"}};
  std::vector<std::string> known;
  const auto one = [&](std::string_view part) -> std::string {
    for (const auto& [written, meant] : kTypes) {
      if (part == written) return meant;
    }
    for (const auto& [written, meant] : kTypes) known.push_back(written);
    throw FlagError(fmt::format("--dtype={}: not a type{}, or bf16:f32 for bf16 in and f32 out",
                                text, did_you_mean(part, known)));
  };
  std::size_t mark = text.find("->"), length = 2;
  if (mark == std::string_view::npos) mark = text.find(':'), length = 1;
  if (mark == std::string_view::npos) {
    const std::string x = one(text);
    return x.starts_with("f8_") ? x + "->bf16" : x;  // no operation writes fp8
  }
  const std::string x = one(text.substr(0, mark)), y = one(text.substr(mark + length));
  return x == y ? x : fmt::format("{}->{}", x, y);
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
// Of a matrix: so few that the bytes of a row's matrices, and their sums, fit 64 bits.
constexpr std::int64_t kMostOfMatrix = std::int64_t{1} << 50;

// Digits alone; more than kMostElements count as one more than that, so that sums cannot overflow.
std::int64_t parse_digits(std::string_view text, std::string_view argument) {
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  const bool too_large = error == std::errc::result_out_of_range;
  if ((error != std::errc() && !too_large) || end != text.data() + text.size()) {
    throw FlagError(
        fmt::format("{}: not a size; an extent is 65536, 2^16 or 2^24-1, a shape N, "
                    "MxN or MxNxK of them",
                    argument));
  }
  if (too_large || v > std::uint64_t(kMostElements)) return kMostElements + 1;
  return std::int64_t(v);
}

double parse_number(std::string_view flag, std::string_view text, double least, double most,
                    const char* what) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || !(v >= least && v <= most)) {
    throw FlagError(fmt::format("{}={}: not {} from {:g} to {:g}", flag, text, what, least, most));
  }
  return v;
}

// "ours,cublaslt"
std::vector<std::string> parse_versus(std::string_view text) {
  std::vector<std::string> two;
  for (const auto part : split(text)) two.emplace_back(part == "ours" ? "fused" : part);
  if (two.size() != 2 || two[0].empty() || two[1].empty() || two[0] == two[1]) {
    throw FlagError(
        fmt::format("--ab={}: two different contestants, as in --ab=ours,cublaslt", text));
  }
  return two;
}

int parse_arch(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with("sm") ? 2 : 0);
  for (const int arch : {80, 90, 100}) {
    if (digits == std::to_string(arch)) return arch;
  }
  throw FlagError(fmt::format("--arch={}: choose out of 80, 90, 100", text));
}

bool is_own(std::string_view name) {
  return std::count(std::begin(kOwnFlags), std::end(kOwnFlags), name) > 0;
}

[[noreturn]] void refuse_unknown(std::string_view flag) {
  const std::string nearest = nearest_flag(flag);
  throw FlagError(nearest.empty()
                      ? fmt::format("unknown flag {}; --help lists the flags", flag)
                      : fmt::format("unknown flag {}; did you mean {}?", flag, nearest));
}

void check_benchmark_value(std::string_view name, std::string_view value) {
  if (name == "--benchmark_repetitions" && value != "1") {
    throw FlagError(fmt::format(
        "--benchmark_repetitions={}: a row runs once; --seconds=S gives it more samples", value));
  }
  for (const Choice& choice : kBenchmarkChoices) {
    if (name != choice.flag) continue;
    std::string known;
    for (const char* v : choice.values) {
      if (v == nullptr) continue;
      if (value == v) return;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", v);
    }
    throw FlagError(fmt::format("{}={}: choose out of {}", name, value, known));
  }
}

void add_benchmark_flag(std::string_view name, std::string_view value, const std::string& argument,
                        Flags* flags) {
  const auto known = std::find(std::begin(kBenchmarkFlags), std::end(kBenchmarkFlags), name);
  if (known == std::end(kBenchmarkFlags)) refuse_unknown(name);
  check_benchmark_value(name, value);
  flags->benchmark.push_back(argument);
  if (name == "--benchmark_format") flags->benchmark_console = true;
  if (name == "--benchmark_list_tests") flags->benchmark_list = value != "false" && value != "0";
}

void set_switch(bool* target, std::string_view name, bool has_value) {
  if (has_value) throw FlagError(fmt::format("{} takes no value", name));
  *target = true;
}

// Those without a value. False if `name` is none of them.
bool apply_switch(std::string_view name, bool has_value, Flags* flags) {
  const std::pair<const char*, bool*> switches[] = {{"--help", &flags->help},
                                                    {"--list", &flags->list},
                                                    {"--explain", &flags->explain},
                                                    {"--emulate", &flags->emulate},
                                                    {"--warm", &flags->warm},
                                                    {"--ceilings", &flags->ceilings},
                                                    {"--large", &flags->selection.large}};
  for (const auto& [flag, target] : switches) {
    if (name != flag) continue;
    set_switch(target, name, has_value);
    if (name == "--large") flags->quick = false;
    if (name == "--large" || name == "--warm" || name == "--ceilings") {
      flags->timing.emplace_back(name);
    }
    return true;
  }
  return false;
}

// Which rows. False if `name` is not of that kind.
bool apply_filter(std::string_view name, std::string_view value, Flags* flags) {
  Selection& selection = flags->selection;
  for (const auto part : split(value)) {
    if (name == "--suite") {
      flags->suites.emplace_back(part);
    } else if (name == "--dtype") {
      selection.types.push_back(parse_types(part));
    } else if (name == "--form") {
      selection.forms.emplace_back(part);
    } else if (name == "--layout") {
      selection.layouts.emplace_back(part);
    } else if (name == "--n") {
      selection.shapes.push_back({parse_size(part)});
    } else if (name == "--shape") {
      selection.shapes.push_back(parse_shape(part));
    } else {
      return false;
    }
    flags->filters.emplace_back(name, part);
  }
  flags->quick = false;
  return true;
}

// How measured rows are timed. False if `name` is not of that kind.
bool apply_timing(std::string_view name, std::string_view value, Flags* flags) {
  constexpr const char* kSeconds = "a number of seconds";
  if (name == "--seconds") {
    flags->seconds = parse_number(name, value, 1e-3, 600, kSeconds);
  } else if (name == "--sustained") {
    flags->sustained = parse_number(name, value, 0, 600, kSeconds);
  } else if (name == "--precision") {
    if (value.ends_with('%')) value.remove_suffix(1);
    flags->precision = parse_number(name, value, 0.01, 50, "a percentage") / 100;
  } else if (name == "--max-samples") {
    flags->max_samples = int(parse_number(name, value, 7, 100000, "a number of samples"));
  } else if (name == "--ab") {
    flags->versus = parse_versus(value);
  } else if (name == "--mode") {
    if (value != "graph" && value != "isolated") {
      throw FlagError(fmt::format("--mode={}: not a mode{}", value,
                                  did_you_mean(value, {"graph", "isolated"})));
    }
    flags->mode = value == "graph" ? Mode::graph : Mode::isolated;
  } else {
    return false;
  }
  flags->timing.emplace_back(name);
  return true;
}

void apply(std::string_view name, std::string_view value, bool has_value, Flags* flags) {
  if (apply_switch(name, has_value, flags)) return;
  if (!is_own(name)) refuse_unknown(name);
  if (!has_value || value.empty())
    throw FlagError(fmt::format("{} needs a value: {}=...", name, name));
  if (apply_timing(name, value, flags)) return;
  if (name == "--out") {
    flags->out = value;
  } else if (name == "--device") {
    for (const auto part : split(value)) flags->devices.emplace_back(part);
  } else if (name == "--arch") {
    flags->arch = parse_arch(value);
  } else {
    apply_filter(name, value, flags);
  }
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = int(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = int(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest_of(std::string_view wrong, const std::vector<std::string>& known) {
  std::string best;
  int best_distance = kMaxDistance + 1;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(wrong, candidate);
    // Half of it rewritten is another word. (The dashes of a flag are not part of its name.)
    const int letters = int(candidate.size()) - (candidate.starts_with("--") ? 2 : 0);
    if (distance >= best_distance || 2 * distance > letters) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string nearest = nearest_of(wrong, known);
  return fmt::format("{} are {}",
                     nearest.empty() ? "; there" : fmt::format("; did you mean {}? There", nearest),
                     fmt::join(known, ", "));
}

std::string nearest_flag(std::string_view flag) {
  std::vector<std::string> known(std::begin(kOwnFlags), std::end(kOwnFlags));
  known.insert(known.end(), std::begin(kBenchmarkFlags), std::end(kBenchmarkFlags));
  return nearest_of(flag, known);
}

std::int64_t parse_size(std::string_view text, std::string_view whole) {
  const std::string argument = whole.empty() ? fmt::format("--n={}", text) : std::string(whole);
  std::int64_t n = 0;
  if (text.starts_with("2^")) {
    std::string_view rest = text.substr(2);
    const std::size_t sign = rest.find_first_of("+-");
    const std::int64_t exponent = parse_digits(rest.substr(0, sign), argument);
    if (exponent > 40) {
      throw FlagError(fmt::format("{}: an exponent must lie in 0 .. 40", argument));
    }
    n = std::int64_t{1} << exponent;
    if (sign != std::string_view::npos) {
      const std::int64_t offset = parse_digits(rest.substr(sign + 1), argument);
      n += rest[sign] == '-' ? -offset : offset;
    }
  } else {
    n = parse_digits(text, argument);
  }
  if (n < 1 || n > kMostElements) {
    throw FlagError(fmt::format("{}: an extent must lie in 1 .. 2^40", argument));
  }
  return n;
}

std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  const std::string argument = fmt::format("--shape={}", text);
  for (const std::string_view part : split(text, 'x')) shape.push_back(parse_size(part, argument));
  if (shape.size() > 3) throw FlagError(argument + ": N, MxN or MxNxK");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (shape[i] <= kMostOfMatrix / shape[j]) continue;
      throw FlagError(
          fmt::format("{}: a matrix of {} x {} elements; more than 2^50, whose bytes "
                      "no device holds, are not counted",
                      argument, shape[j], shape[i]));
    }
  }
  return shape;
}

const char* name(Mode mode) { return mode == Mode::graph ? "graph" : "isolated"; }

Flags parse_flags(const std::vector<std::string>& arguments) {
  Flags flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    bool has_value = equals != std::string::npos;
    const std::string_view name = std::string_view(argument).substr(0, equals);
    std::string_view value =
        has_value ? std::string_view(argument).substr(equals + 1) : std::string_view();
    if (name == "-h") {
      flags.help = true;
    } else if (name.starts_with("--benchmark_")) {
      add_benchmark_flag(name, value, argument, &flags);
    } else if (!has_value && apply_switch(name, false, &flags)) {
      continue;
    } else {
      // "--ab ours,cublaslt": the next argument, unless it is a flag itself.
      const bool next_is_value = i + 1 < arguments.size() && !arguments[i + 1].starts_with("-");
      if (!has_value && next_is_value && is_own(name)) {
        has_value = true;
        value = arguments[++i];
      }
      apply(name, value, has_value, &flags);
    }
  }
  if (flags.list && flags.explain) {
    throw FlagError("--explain --list: one or the other; --explain names the rows, too");
  }
  return flags;
}

const char* help_text() {
  return R"(lkbench: fused against unfused kernels, verified before they are timed.

With no flags on a machine with a GPU: a quick table, about 30 seconds. Without a GPU, or with
--emulate: the kernels run on the CPU emulator, and the table holds counted and modelled figures
(bytes, launches, sectors, occupancy, waves, roofline times), never measured ones.

  --suite=LIST       every row of the suites: gelu, softmax, row_sum, matmul, cliff, decode
  --dtype=LIST       bf16, f16 or fp16, f32 or fp32, tf32, tf32x3, bf16:f32 (bf16 in, fp32 out),
                     e4m3 and e5m2 (bf16 out), e4m3:f32, ...
  --form=LIST        of gelu: tanh, erf; of matmul: none, relu, bias+relu
  --shape=LIST       N, MxN or MxNxK: 2^16, 2^24-1, 4096x50257; also shapes the suites lack
  --n=LIST           the same for one extent; beside --shape, shapes in addition
  --layout=LIST      as --list names them: x+1, NT, ...
  --arch=80          ours from that generation's kernels: 80, 90 or 100
  --large            adds rows of gigabytes (measured rows only, as all that concerns time)
  --ab=ours,PEER     interleaves these two alone, A B A B, and prints the ratio of their times with
                     its interval; a contestant is a role (ours, naive, unfused, cublaslt, ...) or
                     a kernel's name, also one of ours that would not be chosen
  --seconds=S        the most that timing a row may take (default 0.3); 0.05 for a quick look
  --precision=P      percent; a row ends earlier, once half the interval of every median is below
                     that part of it (default 0.5)
  --max-samples=N    the most samples of a row (default 400)
  --sustained=S      for products so large that power limits them: also S seconds (default 1) of
                     each contestant alone and without a pause; 0: no
  --mode=graph       time per launch of a CUDA graph of many launches (default); single calls are in
                     a column of their own
  --mode=isolated    one pair of events a launch
  --warm             one set of buffers, so that what fits the L2 stays there; without it buffers
                     rotate beyond twice the L2, and everything is cold
  --ceilings         also copy, read and write at three sizes, and the arithmetic
  --explain          what the library says of each row (which kernel, and why); nothing is run
  --out=FILE         the records as JSON; bench/schema.json is the schema
  --emulate          counted mode, even if there is a GPU
  --device=LIST      emulated devices: a100, h100, h200 (default), b200, emu80, emu90, emu100, ...
  --list             the rows that would run, with the bytes that each must move
  --benchmark_*      Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_format=json,
                     --benchmark_out=FILE, ...; with --benchmark_format its own output goes to
                     stdout and our table to stderr

Ctrl-C ends the run after the row in progress: what was measured is shown and written.
Exit codes: 0; 1: a wrong result, or output that could not be written; 2: a wrong command line
or environment; 130: Ctrl-C.
)";
}

}  // namespace libkernels::bench
