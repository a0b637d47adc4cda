#include "bench/flags.h"

#include <gtest/gtest.h>

#include "bench/gelu_rows.h"
#include "bench/suites.h"

namespace libkernels::bench {
namespace {

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    parse_flags(arguments);
  } catch (const FlagError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Flags, DefaultsAreTheQuickTable) {
  const Flags flags = parse_flags({});
  EXPECT_TRUE(flags.quick);
  EXPECT_EQ(flags.mode, Mode::graph);
  EXPECT_FALSE(flags.emulate);
}

TEST(Flags, ReadsAllOfThem) {
  const Flags flags = parse_flags({"--suite=gelu", "--dtype=bf16,bf16:f32", "--form=erf",
                                   "--n=2^16,1000", "--seconds=0.5", "--out=a=b.json",
                                   "--mode=isolated", "--emulate", "--device=a100,b200"});
  EXPECT_FALSE(flags.quick);
  const Selection& selection = flags.selection;
  EXPECT_EQ(flags.suites, std::vector<std::string>{"gelu"});
  EXPECT_EQ(selection.types, (std::vector<std::string>{"bf16", "bf16->f32"}));
  EXPECT_EQ(selection.forms, std::vector<std::string>{"erf"});
  EXPECT_EQ(selection.shapes, (std::vector<std::vector<std::int64_t>>{{65536}, {1000}}));
  EXPECT_EQ(flags.seconds, 0.5);
  EXPECT_EQ(flags.out, "a=b.json");
  EXPECT_EQ(flags.mode, Mode::isolated);
  EXPECT_TRUE(flags.emulate);
  EXPECT_EQ(flags.devices, (std::vector<std::string>{"a100", "b200"}));
}

TEST(Flags, UnknownOnesNameTheNearest) {
  EXPECT_EQ(error_of({"--sute=gelu"}), "unknown flag --sute; did you mean --suite?");
  EXPECT_EQ(error_of({"--dtypes=f32"}), "unknown flag --dtypes; did you mean --dtype?");
  EXPECT_EQ(error_of({"--emulated"}), "unknown flag --emulated; did you mean --emulate?");
  EXPECT_EQ(error_of({"--benchmark_fliter=x"}),
            "unknown flag --benchmark_fliter; did you mean --benchmark_filter?");
  EXPECT_EQ(error_of({"--zzzzzzzz"}), "unknown flag --zzzzzzzz; --help lists the flags");
  EXPECT_NE(error_of({"gelu"}), "accepted");
}

TEST(Flags, RefusesValuesThatItDoesNotKnow) {
  for (const char* bad :
       {"--dtype=f64", "--dtype=bf16:", "--shape=1x2x3x4", "--shape=4096x", "--arch=70",
        "--n=", "--n", "--n=0", "--n=-5", "--n=2^41", "--n=12x", "--seconds=0", "--seconds=nan",
        "--seconds=1e9", "--mode=warm", "--out=", "--help=yes", "--emulate=1"}) {
    EXPECT_NE(error_of({bad}), "accepted") << bad;
  }
  for (const char* bad : {"xml", "", "JSON"}) {
    EXPECT_NE(error_of({std::string("--benchmark_format=") + bad}), "accepted") << bad;
    EXPECT_NE(error_of({std::string("--benchmark_out_format=") + bad}), "accepted") << bad;
    EXPECT_NE(error_of({std::string("--benchmark_time_unit=") + bad}), "accepted") << bad;
  }
}

TEST(Flags, RefusesSizesThatAreNone) {
  for (const char* bad : {"2^4--5", "2^4-+5", "2^-4", "2^", "+5", "2^4-", "2^4-16", "2^40+1",
                          "2^40+9223372036854775807", "2^4-9223372036854775808",
                          "99999999999999999999", "2^4-99999999999999999999"}) {
    EXPECT_THROW(parse_size(bad), FlagError) << bad;
  }
}

TEST(Flags, PassesGoogleBenchmarksOn) {
  const Flags flags = parse_flags({"--benchmark_format=json", "--benchmark_filter=bf16"});
  EXPECT_EQ(flags.benchmark,
            (std::vector<std::string>{"--benchmark_format=json", "--benchmark_filter=bf16"}));
  EXPECT_TRUE(flags.benchmark_console);
  EXPECT_FALSE(parse_flags({"--benchmark_out=f.json"}).benchmark_console);
  EXPECT_TRUE(parse_flags({"--benchmark_list_tests"}).benchmark_list);
}

TEST(Flags, RepetitionsPointToTheTimingBudget) {
  EXPECT_EQ(error_of({"--benchmark_repetitions=1"}), "accepted");
  for (const char* bad : {"=3", "=-1", "=x", "=", ""}) {
    EXPECT_NE(error_of({std::string("--benchmark_repetitions") + bad}).find("--seconds"),
              std::string::npos)
        << bad;
  }
}

TEST(Flags, KnowsThoseThatOnlyMeasuredRowsHeed) {
  const Flags flags = parse_flags({"--large", "--seconds=1", "--mode=graph", "--n=1"});
  EXPECT_EQ(flags.timing, (std::vector<std::string>{"--large", "--seconds", "--mode"}));
}

TEST(Flags, ValuesNameTheNearest) {
  EXPECT_NE(error_of({"--dtype=bf17"}).find("did you mean bf16?"), std::string::npos);
  EXPECT_NE(error_of({"--mode=grpah"}).find("did you mean graph?"), std::string::npos);
  Flags flags;
  flags.suites = {"gleu"};
  try {
    chosen_problems(flags, true);
    FAIL() << "accepted";
  } catch (const FlagError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean gelu?"), std::string::npos);
  }
}

TEST(Flags, FormsAndLayoutsThatNoRowHas) {
  const auto error_of_rows = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      chosen_problems(parse_flags(arguments), true);
    } catch (const FlagError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(error_of_rows({"--suite=gelu", "--form=erf", "--layout=x+1"}), "accepted");
  EXPECT_NE(error_of_rows({"--suite=gelu", "--form=tahn"}).find("did you mean tanh?"),
            std::string::npos);
  EXPECT_NE(error_of_rows({"--suite=gelu", "--layout=x+2"}).find("did you mean x+1?"),
            std::string::npos);
}

TEST(Flags, ErrorsNameTheFlagThatWasGiven) {
  for (const char* bad : {"--shape=12x", "--shape=5X7", "--shape=0x5", "--shape=2^41x2",
                          "--shape=2^20x2^40", "--shape=2^40x1x2^40", "--n=12x", "--arch=sm70"}) {
    EXPECT_EQ(error_of({bad}).rfind(std::string(bad) + ": ", 0), 0u) << error_of({bad});
  }
  EXPECT_EQ(error_of({"--shape=2^20x2^30"}), "accepted");
  EXPECT_NE(error_of({"--explain", "--list"}).find("--explain --list"), std::string::npos);
  EXPECT_EQ(error_of({"--mode=grpah"}),
            "--mode=grpah: not a mode; did you mean graph? There are graph, isolated");
}

TEST(Flags, TypesHaveTheNamesOfTheReadme) {
  const Flags flags = parse_flags({"--dtype=fp16,fp32,fp16:fp32,e4m3,e5m2:f32"});
  EXPECT_EQ(flags.selection.types,
            (std::vector<std::string>{"f16", "f32", "f16->f32", "f8_e4m3->bf16", "f8_e5m2->f32"}));
}

// What is said of filters that leave no row.
std::string fault_of_rows(const std::vector<std::string>& arguments) {
  const Flags flags = parse_flags(arguments);
  try {
    return chosen_problems(flags, true).empty() ? why_no_row(flags, true) : "rows";
  } catch (const FlagError& error) {
    return error.what();
  }
}

TEST(Flags, FiltersWithoutARowAreNamed) {
  EXPECT_EQ(fault_of_rows({"--suite=matmul", "--shape=5x7"}),
            "--shape=5x7: the filters leave no row of that shape; matmul takes MxNxK");
  EXPECT_EQ(fault_of_rows({"--suite=softmax", "--shape=5x7x9"}),
            "--shape=5x7x9: the filters leave no row of that shape; softmax takes MxN");
  EXPECT_EQ(fault_of_rows({"--suite=gelu", "--n=16", "--shape=5x7"}),
            "--shape=5x7: the filters leave no row of that shape; gelu takes N");
  EXPECT_EQ(fault_of_rows({"--suite=matmul", "--dtype=e4m3", "--shape=5x7x9"}), "rows");
  const std::string types = fault_of_rows({"--suite=gelu", "--n=16", "--dtype=f32:bf16"});
  EXPECT_EQ(types.rfind("the filters leave no row: --suite=gelu --n=16 --dtype=f32:bf16; ", 0), 0u)
      << types;
  EXPECT_NE(types.find("without --dtype: 8 rows of bf16, f16, f32, bf16->f32"), std::string::npos)
      << types;
}

TEST(Flags, TimingAndComparison) {
  const Flags flags =
      parse_flags({"--ab", "ours,cublaslt", "--suite", "gelu", "--precision=0.25%",
                   "--max-samples=50", "--sustained=0", "--warm", "--ceilings", "--explain",
                   "--arch=sm90", "--shape=2^20x128,64", "--layout=NT"});
  EXPECT_EQ(flags.versus, (std::vector<std::string>{"fused", "cublaslt"}));
  EXPECT_EQ(flags.suites, std::vector<std::string>{"gelu"});
  EXPECT_DOUBLE_EQ(flags.precision, 0.0025);
  EXPECT_EQ(flags.max_samples, 50);
  EXPECT_EQ(flags.sustained, 0);
  EXPECT_TRUE(flags.warm && flags.ceilings && flags.explain);
  EXPECT_EQ(flags.arch, 90);
  EXPECT_EQ(flags.selection.layouts, std::vector<std::string>{"NT"});
  EXPECT_EQ(flags.selection.shapes, (std::vector<std::vector<std::int64_t>>{{1 << 20, 128}, {64}}));
  for (const char* bad :
       {"--ab=ours", "--ab=ours,ours", "--ab=ours,", "--ab=a,b,c", "--precision=0", "--precision=x",
        "--max-samples=3", "--sustained=-1", "--warm=1", "--ab"}) {
    EXPECT_NE(error_of({bad}), "accepted") << bad;
  }
  EXPECT_NE(error_of({"--ab", "--warm"}), "accepted");  // a flag is no value
}

TEST(Flags, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(Flags, SizesBothWays) {
  EXPECT_EQ(parse_size("2^24-1"), 16777215);
  EXPECT_EQ(parse_size("2^10+3"), 1027);
  EXPECT_EQ(format_size(16777215), "2^24-1");
  EXPECT_EQ(format_size(std::int64_t{1} << 30), "2^30");
  EXPECT_EQ(format_size(1000), "1000");
}

TEST(GeluRows, SuiteHoldsTheSizesTypesAndFormsOnce) {
  Selection selection;
  const auto rows = gelu_rows(selection);
  std::size_t aligned = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    aligned += variant(rows[i]).empty() && rows[i].n % 2 == 0;
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(rows[i] == rows[j]);
    EXPECT_LE(rows[i > 0 ? i - 1 : 0].n, rows[i].n);
  }
  EXPECT_EQ(aligned, 6u * 4 * 2);
  selection.large = true;
  EXPECT_EQ(gelu_rows(selection).back().n, std::int64_t{1} << 30);
}

TEST(Cases, LargeProductsAreLimitedByPower) {
  Case c{.op = "matmul", .types = "bf16", .shape = {8192, 4096, 8192}};
  EXPECT_FALSE(is_power_limited(c));
  c.ceiling = Ceiling::math;
  EXPECT_TRUE(is_power_limited(c));
  c.shape = {8191, 8191, 8191};
  EXPECT_FALSE(is_power_limited(c));
  c.shape = {1 << 14, 1 << 14};
  EXPECT_FALSE(is_power_limited(c));
}

TEST(GeluRows, FiltersChoose) {
  const Flags flags = parse_flags({"--dtype=f32", "--form=erf", "--n=12345"});
  const Problems problems = chosen_problems(flags, false);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(benchmark_name(problems[0]->about()), "gelu/f32/erf/12345");
}

TEST(GeluRows, EmulatedOnesAreSmall) {
  for (const bool quick : {false, true}) {
    Flags flags;
    flags.quick = quick;
    for (const auto& problem : chosen_problems(flags, true)) {
      EXPECT_LE(elements(problem->about()), 1 << 18) << benchmark_name(problem->about());
    }
  }
}

TEST(GeluRows, NamesTellTheOffsets) {
  const GeluRow row{.types = {DType::bf16, DType::f32},
                    .form = GeluForm::tanh,
                    .n = 64,
                    .x_offset = 1,
                    .y_offset = 1};
  EXPECT_EQ(variant(row), "x+1 y+1");
  EXPECT_EQ(benchmark_name(gelu_case(row)), "gelu/bf16_f32/tanh/64/x+1,y+1");
}

}  // namespace
}  // namespace libkernels::bench
