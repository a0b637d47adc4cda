#include "bench/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "bench/json.h"
#include "bench/process.h"

namespace libkernels::bench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Json, EscapesWhatMustBeEscaped) {
  EXPECT_EQ(json_quote("a\"b\\c\n\t\r"), "\"a\\\"b\\\\c\\n\\t\\r\"");
  EXPECT_EQ(json_quote(std::string("\x01\x1f", 2)), "\"\\u0001\\u001f\"");
  EXPECT_EQ(json_quote("\xc2\xb5s"), "\"\xc2\xb5s\"");  // UTF-8 passes
}

TEST(Json, WritesNestedValues) {
  JsonWriter json;
  json.begin_object();
  json.key("a").value(1);
  json.key("b").begin_array();
  json.value(0.5);
  json.value(true);
  json.value("x");
  json.null();
  json.end_array();
  json.key("c").begin_object();
  json.end_object();
  json.key("d").value(std::uint64_t{18446744073709551615u});
  json.end_object();
  EXPECT_EQ(json.text(),
            "{\n  \"a\": 1,\n  \"b\": [\n    0.5,\n    true,\n    \"x\",\n    null\n  ],\n"
            "  \"c\": {},\n  \"d\": 18446744073709551615\n}");
}

TEST(Json, WritesNoNumberThatIsNone) {
  JsonWriter json;
  json.begin_array();
  json.value(kNan);
  json.value(kInf);
  json.end_array();
  EXPECT_EQ(json.text(), "[\n  null,\n  null\n]");
}

TEST(Cells, MissingAndNotFiniteAreDashes) {
  EXPECT_EQ(cell(std::nullopt, 2), "-");
  EXPECT_EQ(cell(kNan, 2), "-");
  EXPECT_EQ(cell(-kInf, 0), "-");
  EXPECT_EQ(cell(1.005, 1), "1.0");
  EXPECT_EQ(cell_short(kNan), "-");
  EXPECT_EQ(cell_short(0.5), "0.5");
  EXPECT_EQ(cell_short(123456.0), "1.23e+05");
}

TEST(Cells, ColumnsAlign) {
  EXPECT_EQ(align({{"name", "us", ""}, {"a", "1.25", "note"}, {}, {"bcdefg", "-", ""}}),
            "name      us\n"
            "a       1.25  note\n"
            "\n"
            "bcdefg     -\n");
}

Record measured(const char* role, const char* kernel) {
  Record r;
  r.op = "gelu";
  r.role = role;
  r.kernel = kernel;
  r.types = "bf16";
  r.form = "tanh";
  r.elements = 65536;
  r.floor_bytes = 262144;
  r.mode = "graph";
  return r;
}

// A product.
Record product(const char* role, const char* kernel, double us) {
  Record r = measured(role, kernel);
  r.op = "matmul";
  r.form = "relu";
  r.shape = {4096, 4096, 4096};
  r.flops = 2.0 * 4096 * 4096 * 4096;
  r.us = summarize(std::vector<double>(10, us));
  r.tflops = r.flops / us * 1e-6;
  r.cache = "cold";
  return r;
}

TEST(Tables, ShowWhatThereIsAndDashesForTheRest) {
  Report report;
  Record full = measured("fused", "gelu_sm90");
  full.us = summarize({1.28, 1.29, 1.29, 1.3, 1.3, 1.3, 1.32, 1.5});
  full.gb_per_s = 201.6;
  full.ceiling_fraction = 0.984;
  full.error_ulp = 0.5;
  report.records = {full, measured("naive", "gelu_naive")};
  report.records[1].note = "skipped: needs 123 bytes";
  const std::string table = measured_table(report);
  EXPECT_TRUE(contains(table, "gelu_sm90")) << table;
  EXPECT_TRUE(contains(table, "98.4")) << table;
  EXPECT_TRUE(contains(table, "2^16")) << table;
  EXPECT_TRUE(contains(table, "skipped: needs 123 bytes")) << table;
  EXPECT_EQ(counted_table(report), "");
}

TEST(Tables, NeverPrintNanOrInf) {
  Report report;
  Record r = measured("fused", "kernel");
  r.us = Summary{};
  r.us->median = r.us->q3 = kNan;
  r.us->q1 = r.us->max = kInf;
  r.us->samples = 1;
  r.us->median_interval = Interval{.low = kNan, .high = kInf};
  for (auto* figure : {&r.gb_per_s, &r.ceiling_fraction, &r.error_ulp, &r.error_fraction,
                       &r.speedup_unfused, &r.speedup_naive}) {
    *figure = kInf;
  }
  Record counted = r;
  counted.mode = "counted";
  counted.floor_bytes = 0;
  counted.counted = Counted{};
  counted.counted->occupancy = kNan;
  counted.counted->read_sectors_per_request = kNan;
  counted.counted->modelled_us = {{"H200", kInf}};
  report.records = {r, counted};
  // Legends are words; only rows can hold such numbers.
  for (const std::string& text : {measured_table(report), counted_table(report), to_json(report)}) {
    const std::string rows = text.substr(0, text.find("\n\n"));
    EXPECT_FALSE(contains(rows, "nan")) << rows;
    EXPECT_FALSE(contains(rows, "inf")) << rows;
    EXPECT_FALSE(contains(rows, "NaN")) << rows;
  }
}

TEST(Tables, OnlyTheBestCopyIsTheCeilingsRow) {
  Report report;
  Record best = measured("ceiling", "copy_fast");
  Record other = measured("ceiling", "copy_slow");
  best.ceiling_kernel = other.ceiling_kernel = "copy_fast";
  report.records = {best, other};
  EXPECT_TRUE(contains(measured_table(report), "copy_fast"));
  EXPECT_FALSE(contains(measured_table(report), "copy_slow"));
  EXPECT_TRUE(contains(to_json(report), "copy_slow"));
}

TEST(Tables, CountedOnesSayWhatTheyAre) {
  Report report;
  Record r = measured("fused", "gelu_sm90");
  r.mode = "counted";
  r.counted = Counted{};
  r.counted->device = "h200";
  r.counted->registers = 64;
  r.counted->ctas_per_sm = 4;
  r.counted->ctas_per_sm_most = 16;
  r.counted->modelled_us = {{"A100", 1}, {"H100", 2}, {"H200", 3}, {"B200", 4}};
  report.records = {r};
  const std::string table = counted_table(report);
  EXPECT_TRUE(contains(table, "No time in this table was measured")) << table;
  EXPECT_TRUE(contains(table, "4..16")) << table;
  EXPECT_TRUE(contains(table, "model B200")) << table;
  EXPECT_EQ(measured_table(report), "");
}

TEST(Tables, WhatWasCountedIsNeverAmongTheMeasured) {
  Report report;
  Record counts_alone = measured("fused", "row_max_sm80");
  counts_alone.mode = "";
  counts_alone.counted = Counted{};
  Record mode_alone = measured("fused", "gelu_sm80");  // one that could not be counted
  mode_alone.mode = "counted";
  report.records = {counts_alone, mode_alone};
  EXPECT_EQ(measured_table(report), "");
  const std::string table = counted_table(report);
  EXPECT_TRUE(contains(table, "row_max_sm80")) << table;
  EXPECT_TRUE(contains(table, "gelu_sm80")) << table;
}

TEST(Tables, WithoutModelledTimesTheNoteStaysInItsColumn) {
  Report report;
  Record r = measured("fused", "kernel");
  r.counted = Counted{};
  r.note = "WRONG";
  report.records = {r, r};
  report.records[1].counted.reset();
  report.records[1].mode = "counted";
  const std::string table = counted_table(report);
  const std::string head = table.substr(0, table.find('\n'));
  const std::size_t first = table.find("WRONG"), second = table.find("WRONG", first + 1);
  ASSERT_NE(second, std::string::npos) << table;
  for (const std::size_t at : {first, second}) {
    EXPECT_GT(at - table.rfind('\n', at), head.size()) << table;
  }
}

// What lkbench_test.py holds against the schema, since no measured file can be made here.
TEST(Json, WritesEveryFieldThereIs) {
  Record r = product("fused", "matmul_sm90", 180);
  r.variant = "NT";
  r.converged = true;
  r.isolated_us = r.burst_us = r.sustained_us = r.us;
  r.gb_per_s = r.ceiling_gb_per_s = r.ceiling_tflops = r.ceiling_fraction = 0.5;
  r.speedup_unfused = r.speedup_naive = r.speedup_peer = 2;
  r.ceiling = "math";
  r.ceiling_kernel = "wgmma bf16";
  r.peer = "cublaslt";
  r.versus = Versus{.role = "cublaslt", .kernel = "cublaslt", .ratio = *r.us};
  r.gpu = GpuState{.sm_mhz = 1980,
                   .memory_mhz = 3201,
                   .watts = 690,
                   .celsius = 60,
                   .throttle_reasons = "power-cap"};
  r.microjoules = 120000;
  r.energy_from = "counter";
  r.error_ulp = r.error_fraction = 0.5;
  Record counted = measured("fused", "gelu_sm90");
  counted.mode = "counted";
  counted.counted = Counted{};
  counted.counted->device = "h200";
  counted.counted->mma_flops = 1e9;
  counted.counted->read_sectors_per_request = counted.counted->write_sectors_per_request = 16;
  counted.counted->modelled_us = {{"H200", 1}};
  CeilingRecord ceiling{.kind = "copy", .kernel = "copy_v16", .bytes = 1 << 20};
  ceiling.us = *r.us;
  ceiling.per_s = ceiling.datasheet_per_s = 4e12;
  ceiling.gpu = r.gpu;
  CeilingRecord math{.kind = "fma f32", .kernel = "fma"};
  math.flops = 1e12;
  Report report{.context = {{"device", "NVIDIA H200"}}, .records = {r, counted}};
  report.ceilings = {ceiling, math};
  const std::string text = to_json(report);
  for (const char* key : {"sustained_us", "versus", "ceiling_tflops", "celsius", "mma_flops",
                          "datasheet_per_s", "converged", "energy_from"}) {
    EXPECT_TRUE(contains(text, '"' + std::string(key) + "\": ")) << key;
  }
  const char* path = std::getenv("LKBENCH_TEST_JSON");
  if (path != nullptr) write_file(path, text);
}

TEST(Files, AnUnwritablePathIsAnError) {
  EXPECT_THROW(write_file("/nonexistent-directory/x.json", "{}"), std::runtime_error);
  EXPECT_EQ(why_not_writable("/nonexistent-directory/x.json"), "No such file or directory");
  EXPECT_EQ(why_not_writable("/"), "Is a directory");
  const std::string fresh = testing::TempDir() + "lkbench_report_test.json";
  EXPECT_EQ(why_not_writable(fresh), "");
  EXPECT_THROW(write_file("/dev/full", "{}"), std::runtime_error);
}

TEST(Tables, ColumnsWithoutAFigureAreLeftOut) {
  Report report;
  report.records = {product("fused", "matmul_sm90", 180)};
  const std::string table = measured_table(report);
  const std::string head = table.substr(0, table.find('\n'));
  EXPECT_TRUE(contains(head, "us cold")) << head;
  EXPECT_TRUE(contains(head, "TFLOP/s")) << head;
  EXPECT_FALSE(contains(head, "x unfused")) << head;
  EXPECT_TRUE(contains(table, "4096x4096x4096")) << table;
  EXPECT_TRUE(contains(table, "763.5")) << table;
}

TEST(Tables, BurstAndSustainedStandInATableOfTheirOwn) {
  Report report;
  Record r = product("fused", "matmul_sm90", 180);
  EXPECT_FALSE(contains(measured_table({.context = {}, .records = {r}}), "sustained"));
  r.burst_us = summarize(std::vector<double>(8, 170));
  r.sustained_us = summarize(std::vector<double>(8, 210));
  r.microjoules = 120000;
  r.energy_from = "counter";
  report.records = {r};
  const std::string table = measured_table(report);
  EXPECT_TRUE(contains(table, "sustained us")) << table;
  EXPECT_TRUE(contains(table, "210.0")) << table;
  EXPECT_TRUE(contains(table, "120.00")) << table;
}

TEST(Tables, AComparisonHasRatioIntervalAndGeometricMean) {
  Report report;
  EXPECT_EQ(versus_table(report), "");
  Record a = product("fused", "matmul_sm90", 100), b = product("cublaslt", "cublaslt", 110);
  a.versus = Versus{.role = "cublaslt",
                    .kernel = "cublaslt",
                    .ratio = summarize({1.08, 1.09, 1.1, 1.1, 1.1, 1.11, 1.12})};
  Record skipped = product("fused", "matmul", 1);
  skipped.us.reset();
  skipped.note = "skipped: --ab needs ours and cublaslt";
  report.records = {a, b, skipped};
  const std::string table = versus_table(report);
  EXPECT_TRUE(contains(table, "1.100  1.080 .. 1.120")) << table;
  EXPECT_TRUE(contains(table, "geometric mean")) << table;
  EXPECT_TRUE(contains(table, "1 rows")) << table;
  EXPECT_TRUE(contains(table, "skipped: --ab needs")) << table;
}

TEST(Tables, CeilingsStandBesideTheDataSheet) {
  Report report;
  EXPECT_EQ(ceilings_table(report), "");
  CeilingRecord copy{.kind = "copy", .kernel = "copy_v16", .bytes = 1 << 28};
  copy.us = summarize(std::vector<double>(8, 60));
  copy.per_s = 4.29e12;
  copy.datasheet_per_s = 4.8e12;
  copy.best = true;
  CeilingRecord slower = copy;
  slower.kernel = "copy_slow";
  slower.best = false;
  CeilingRecord mma{.kind = "mma.sync bf16", .kernel = "mma"};
  mma.flops = 1e12;
  mma.per_s = 629e12;
  mma.best = true;
  report.ceilings = {copy, slower, mma};
  const std::string table = ceilings_table(report);
  EXPECT_TRUE(contains(table, "4290")) << table;
  EXPECT_TRUE(contains(table, "4800")) << table;
  EXPECT_TRUE(contains(table, "629.0")) << table;
  EXPECT_FALSE(contains(table, "copy_slow")) << table;
  EXPECT_TRUE(contains(to_json(report), "copy_slow"));
}

TEST(Progress, TellsTheTimeLeft) {
  EXPECT_EQ(progress_line(0, 40, 0, "gelu/x"), "[1/40] gelu/x");
  EXPECT_EQ(progress_line(10, 40, 20, "gelu/x"), "[11/40] gelu/x  1 min 0 s left");
  EXPECT_EQ(progress_line(39, 40, 39, "gelu/x"), "[40/40] gelu/x  1 s left");
}

}  // namespace
}  // namespace libkernels::bench
