// The command line of lkbench. Pure: parses, prints nothing, ends nothing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/selection.h"
#include "bench/types.h"

namespace libkernels::bench {

struct FlagError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Mode { graph, isolated };

struct Flags {
  bool help = false;
  bool list = false;
  bool emulate = false;
  bool quick = true;                // neither --suite nor a filter was given
  std::vector<std::string> suites;  // empty: all
  Selection selection;              // types, forms, layouts, shapes, large
  // What chooses rows, as given: {"--shape", "5x7"}.
  std::vector<std::pair<std::string, std::string>> filters;
  int arch = 0;              // the generation that ours is pinned to; 0: its own choice
  double seconds = 0.3;      // of timing a row, at most
  double precision = 0.005;  // half the median's interval, relative, at which a row ends
  int max_samples = 400;     // of a row
  double sustained = 1;      // seconds without a pause, of power-limited rows; 0: not
  Mode mode = Mode::graph;
  bool warm = false;                   // one set of buffers: what fits the L2 stays there
  bool explain = false;                // what the library says of each row, instead of running it
  bool ceilings = false;               // the ceilings, whatever the rows
  std::vector<std::string> versus;     // --ab: two roles or kernels ("ours" is "fused"), or none
  std::vector<std::string> timing;     // those given that only measured rows heed
  std::string out;                     // path of the JSON records; empty: none
  std::vector<std::string> devices;    // emulated profiles
  std::vector<std::string> benchmark;  // --benchmark_*: for Google Benchmark
  bool benchmark_console = false;      // one of those asks for output on stdout
  bool benchmark_list = false;         // --benchmark_list_tests
};

// Throws FlagError with a text for the user; an unknown flag's names the nearest right one.
Flags parse_flags(const std::vector<std::string>& arguments);

// The flag, out of all that lkbench and Google Benchmark know, that `flag` is most likely meant to
// be; empty if none is near.
std::string nearest_flag(std::string_view flag);

// The known word that `wrong` is most likely meant to be; empty if none is near.
std::string nearest_of(std::string_view wrong, const std::vector<std::string>& known);
// "; did you mean bf16? There are bf16, f16", or "; there are bf16, f16".
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

// Insertions, deletions and replacements of a character that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

// "65536", "2^16", "2^24-1"; throws FlagError, which names `argument`, by default "--n=<text>".
std::int64_t parse_size(std::string_view text, std::string_view argument = {});

// "4096x4096", "2^20x128", "1024": up to three sizes, no two of which make a matrix of more than
// 2^50 elements; throws FlagError.
std::vector<std::int64_t> parse_shape(std::string_view text);

const char* name(Mode mode);

const char* help_text();

}  // namespace libkernels::bench
