// Every refusal of src/check.h, with the text that the caller reads.
#include "src/check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/refusal.h"

namespace libkernels {
namespace {

using test::is_accepted;
using test::is_invalid;
using test::is_unsupported;
using test::refusal;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostBytes = (std::int64_t{1} << 56) - 1;

// No check reads memory, so an address will do.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

lk_matrix valid() { return {at(0x1000), LK_F32, 4, 8, 8, 1}; }

struct ViewCase {
  const char* what;
  std::function<void(lk_matrix&)> change;
  std::string text;  // of the refusal; empty: accepted
  bool output_only = false;
};

std::vector<ViewCase> view_cases() {
  return {
      {"valid", [](lk_matrix&) {}, ""},
      {"no type", [](lk_matrix& v) { v.dtype = 0; }, "op: v.dtype is 0; the types are 1 (LK_F32)"},
      {"unknown type", [](lk_matrix& v) { v.dtype = 6; }, "op: v.dtype is 6"},
      {"negative rows", [](lk_matrix& v) { v.rows = -1; }, "op: v.rows is -1; extents are >= 0"},
      {"negative cols", [](lk_matrix& v) { v.cols = -7; }, "op: v.cols is -7; extents are >= 0"},
      {"negative extents", [](lk_matrix& v) { v.rows = v.cols = -2; }, "op: v.rows is -2"},
      {"negative row stride", [](lk_matrix& v) { v.row_stride = -8; },
       "op: v.row_stride is -8 with 4 rows; strides are >= 0"},
      {"negative column stride", [](lk_matrix& v) { v.col_stride = -1; },
       "op: v.col_stride is -1 with 8 columns; strides are >= 0"},
      {"negative stride of one row", [](lk_matrix& v) { v.rows = 1, v.row_stride = -8; }, ""},
      {"negative stride of no column", [](lk_matrix& v) { v.cols = 0, v.col_stride = -8; }, ""},
      {"null", [](lk_matrix& v) { v.data = nullptr; }, "op: v.data is null with 4 x 8 elements"},
      {"null without rows", [](lk_matrix& v) { v.data = nullptr, v.rows = 0; }, ""},
      {"null without columns", [](lk_matrix& v) { v.data = nullptr, v.cols = 0; }, ""},
      {"row-major without columns", [](lk_matrix& v) { v.cols = v.row_stride = 0; }, ""},
      {"misaligned", [](lk_matrix& v) { v.data = at(0x1002); },
       "op: v.data is 0x1002, which is not aligned to one element (4 bytes of f32)"},
      {"misaligned f16", [](lk_matrix& v) { v.data = at(0x1001), v.dtype = LK_F16; },
       "(2 bytes of f16)"},
      {"aligned f16", [](lk_matrix& v) { v.data = at(0x1002), v.dtype = LK_F16; }, ""},
      {"any f8", [](lk_matrix& v) { v.data = at(0x1001), v.dtype = LK_F8_E5M2; }, ""},
      {"count overflow", [](lk_matrix& v) { v.rows = v.cols = std::int64_t{1} << 32; },
       "is too large: a view has fewer than 2^56 elements"},
      {"row overflow", [](lk_matrix& v) { v.row_stride = kMax / 2; }, "is too large"},
      {"column overflow", [](lk_matrix& v) { v.col_stride = kMax; },
       "4 x 8 elements of f32 with strides 8 and 9223372036854775807"},
      {"sum overflow", [](lk_matrix& v) { v.row_stride = kMax / 3, v.col_stride = kMax / 7; },
       "is too large"},
      {"byte overflow", [](lk_matrix& v) { v.row_stride = kMax / 3 - 8; }, "is too large"},
      {"address overflow", [](lk_matrix& v) { v.data = at(~std::uintptr_t{0} - 15); },
       "is too large"},
      {"63 bits of bytes", [](lk_matrix& v) { v.rows = 1, v.cols = (std::int64_t{1} << 61) - 1; },
       "is too large"},
      {"2^56 bytes", [](lk_matrix& v) { v.rows = 1, v.cols = kMostBytes / 4 + 1; },
       "spans fewer than 2^56 bytes"},
      {"fewer", [](lk_matrix& v) { v.rows = 1, v.cols = kMostBytes / 4; }, ""},
      {"at the end of the addresses",
       [](lk_matrix& v) { v.rows = 1, v.cols = 3, v.data = at(~std::uintptr_t{0} - 15); }, ""},
      {"overflow without elements", [](lk_matrix& v) { v.rows = kMax, v.cols = 0; }, ""},
      {"large", [](lk_matrix& v) { v.rows = std::int64_t{1} << 40, v.row_stride = 1 << 13; }, ""},
      {"broadcast row", [](lk_matrix& v) { v.row_stride = 0; },
       "op: v.row_stride is 0 with 4 rows; only inputs may be broadcast", true},
      {"broadcast column", [](lk_matrix& v) { v.col_stride = 0; },
       "op: v.col_stride is 0 with 8 columns; only inputs may be broadcast", true},
      {"zero stride of one row", [](lk_matrix& v) { v.rows = 1, v.row_stride = 0; }, ""},
      {"zero stride without elements", [](lk_matrix& v) { v.rows = 0, v.col_stride = 0; }, ""},
      {"overlapping rows", [](lk_matrix& v) { v.row_stride = 7; },
       "op: elements of the output v overlap: 4 x 8 with strides 7 and 1", true},
      {"overlapping though strides differ",
       [](lk_matrix& v) { v.row_stride = 6, v.col_stride = 4; }, "strides 6 and 4", true},
      {"interleaved", [](lk_matrix& v) { v.row_stride = 1, v.col_stride = 4; }, ""},
  };
}

TEST(CheckTest, ViewsAreJudgedWithAText) {
  for (const ViewCase& c : view_cases()) {
    lk_matrix out = valid();
    c.change(out);
    const lk_cmatrix in{out.data, out.dtype, out.rows, out.cols, out.row_stride, out.col_stride};
    const auto as_output = refusal([&] { check_output("op", "v", &out); });
    const auto as_input = refusal([&] { check_input("op", "v", &in); });
    if (c.text.empty()) {
      EXPECT_TRUE(is_accepted(as_output)) << c.what;
    } else {
      EXPECT_TRUE(is_invalid(as_output, c.text)) << c.what;
    }
    if (c.text.empty() || c.output_only) {
      EXPECT_TRUE(is_accepted(as_input)) << c.what;
    } else {
      EXPECT_TRUE(is_invalid(as_input, c.text)) << c.what;
    }
  }
}

TEST(CheckTest, NullViewsAreNamed) {
  EXPECT_TRUE(is_invalid(refusal([] { check_input("op", "x", nullptr); }),
                         "op: x is null; a pointer to an lk_cmatrix is needed"));
  EXPECT_TRUE(is_invalid(refusal([] { check_output("op", "y", nullptr); }),
                         "op: y is null; a pointer to an lk_matrix is needed"));
}

TEST(CheckTest, StridesOfShortExtentsBecomeDense) {
  const lk_cmatrix row{at(0x1000), LK_F32, 1, 8, -5, 2};
  EXPECT_EQ(check_input("op", "v", &row).row_stride, 8);
  EXPECT_EQ(check_input("op", "v", &row).col_stride, 2);
  const lk_cmatrix column{at(0x1000), LK_F32, 8, 1, 1, kMax};
  EXPECT_EQ(check_input("op", "v", &column).row_stride, 1);
  EXPECT_EQ(check_input("op", "v", &column).col_stride, 1);
  const lk_cmatrix one{at(0x1000), LK_F32, 1, 1, kMax, -kMax};
  EXPECT_EQ(check_input("op", "v", &one).bytes, 4);
}

TEST(CheckTest, BytesReachFromTheFirstToTheLast) {
  const lk_cmatrix gaps{at(0x1000), LK_F16, 3, 4, 100, 7};
  EXPECT_EQ(check_input("op", "v", &gaps).bytes, 2 * (2 * 100 + 3 * 7 + 1));
  const lk_cmatrix broadcast{at(0x1000), LK_F32, 1 << 20, 1 << 20, 0, 0};
  EXPECT_EQ(check_input("op", "v", &broadcast).bytes, 4);
  const lk_cmatrix empty{at(0x1000), LK_F32, 0, 4, 4, 1};
  EXPECT_TRUE(check_input("op", "v", &empty).empty());
  // The last address there is.
  const lk_cmatrix last{at(~std::uintptr_t{0}), LK_F8_E4M3, 1, 1, 1, 1};
  EXPECT_TRUE(is_invalid(refusal([&] { check_input("op", "v", &last); }), "is too large"));
  // Broadcast, so few bytes, but more elements than a planner may be asked to count.
  const lk_cmatrix many{at(0x1000), LK_F32, std::int64_t{1} << 28, std::int64_t{1} << 28, 0, 0};
  EXPECT_TRUE(is_invalid(refusal([&] { check_input("op", "v", &many); }), "is too large"));
}

TEST(CheckTest, SelfOverlapAgreesWithCounting) {
  for (int rows = 1; rows <= 7; ++rows) {
    for (int cols = 1; cols <= 7; ++cols) {
      for (int rs = 0; rs <= 15; ++rs) {
        for (int cs = 0; cs <= 15; ++cs) {
          std::set<int> offsets;
          for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < cols; ++c) offsets.insert(r * rs + c * cs);
          }
          // As after check_view: the stride of a single row or column does not count.
          const bool overlaps = static_cast<int>(offsets.size()) < rows * cols;
          const int row_stride = rows > 1 ? rs : cols, col_stride = cols > 1 ? cs : 1;
          ASSERT_EQ(self_overlaps(rows, cols, row_stride, col_stride), overlaps)
              << rows << " x " << cols << " strides " << rs << " " << cs;
        }
      }
    }
  }
  EXPECT_FALSE(self_overlaps(kMax, 1, 1, 1));
  EXPECT_TRUE(self_overlaps(2, 2, kMax, kMax));
}

TEST(CheckTest, ShapesMustAgree) {
  const lk_cmatrix a{at(0x1000), LK_F32, 4, 8, 8, 1}, b{at(0x1000), LK_F32, 8, 4, 4, 1};
  EXPECT_TRUE(is_invalid(
      refusal([&] { check_same_shape(check_input("op", "x", &a), check_input("op", "y", &b)); }),
      "op: x is 4 x 8 and y is 8 x 4; both need the same shape"));
}

TEST(CheckTest, OutputsAreDisjointFromInputsOrTheSame) {
  struct Case {
    const char* what;
    lk_cmatrix in;
    lk_matrix out;
    bool in_place;  // accepted if in place is
    bool disjoint;  // accepted always
  };
  const lk_cmatrix x{at(0x1000), LK_F32, 4, 8, 8, 1};  // 0x1000 to 0x107f
  const Case cases[] = {
      {"behind", x, {at(0x1080), LK_F32, 4, 8, 8, 1}, true, true},
      {"in front", x, {at(0x0f80), LK_F32, 4, 8, 8, 1}, true, true},
      {"by one element at the end", x, {at(0x107c), LK_F32, 4, 8, 8, 1}, false, false},
      {"by one element in front", x, {at(0x0f84), LK_F32, 4, 8, 8, 1}, false, false},
      {"the same", x, {at(0x1000), LK_F32, 4, 8, 8, 1}, true, false},
      {"other strides", x, {at(0x1000), LK_F32, 4, 8, 9, 1}, false, false},
      {"transposed", x, {at(0x1000), LK_F32, 4, 8, 1, 4}, false, false},
      {"other type", x, {at(0x1000), LK_BF16, 4, 8, 8, 1}, false, false},
      {"other shape", x, {at(0x1000), LK_F32, 2, 8, 8, 1}, false, false},
      {"interleaved columns",
       {at(0x1000), LK_F32, 4, 8, 16, 2},
       {at(0x1004), LK_F32, 4, 8, 16, 2},
       false,
       false},
      {"strides of one row differ",
       {at(0x1000), LK_F32, 1, 8, 3, 1},
       {at(0x1000), LK_F32, 1, 8, 5, 1},
       true,
       false},
      {"no elements",
       {at(0x1000), LK_F32, 0, 8, 8, 1},
       {at(0x1000), LK_F32, 0, 8, 9, 1},
       true,
       true},
  };
  for (const Case& c : cases) {
    const Operand in = check_input("op", "x", &c.in), out = check_output("op", "y", &c.out);
    EXPECT_EQ(refusal([&] { check_disjoint(out, in, InPlace::allowed); }).text.empty(), c.in_place)
        << c.what;
    EXPECT_EQ(refusal([&] { check_disjoint(out, in, InPlace::refused); }).text.empty(), c.disjoint)
        << c.what;
  }
  const lk_matrix y{at(0x107c), LK_F32, 4, 8, 8, 1};
  EXPECT_TRUE(is_invalid(
      refusal([&] {
        check_disjoint(check_output("op", "y", &y), check_input("op", "x", &x), InPlace::allowed);
      }),
      "op: the output y (bytes 0x107c to 0x10fb) overlaps the input x (bytes 0x1000 to "
      "0x107f); they must be disjoint, or in place: the same pointer, strides and type. "
      "Ranges count from first to last byte, so interleaved views overlap"));
}

// ---- Options ----------------------------------------------------------------------------------

// Options of a newer version: longer than what this one knows.
struct NewerOptions {
  lk_gelu_options known;
  std::int32_t more[4];
};

TEST(CheckOptionsTest, NullMeansDefaults) {
  const auto o = checked_options<lk_gelu_options>("op", nullptr);
  EXPECT_EQ(o.call.size, sizeof(lk_gelu_options));
  EXPECT_EQ(o.call.max_sms, 0);
  EXPECT_EQ(o.form, LK_GELU_TANH);
}

TEST(CheckOptionsTest, AShorterStructGetsDefaults) {
  lk_gelu_options o = LK_OPTIONS_INIT(lk_gelu_options);
  o.call.size = sizeof(lk_call_options);  // as compiled before `form` was there
  o.call.max_sms = 3;
  o.form = LK_GELU_ERF;  // what happens to stand behind it
  const auto read = checked_options("op", &o);
  EXPECT_EQ(read.call.max_sms, 3);
  EXPECT_EQ(read.form, LK_GELU_TANH);
}

TEST(CheckOptionsTest, ALongerStructMustBeZeroBeyondWhatIsKnown) {
  NewerOptions o{};
  o.known = LK_OPTIONS_INIT(lk_gelu_options);
  o.known.call.size = sizeof(NewerOptions);
  o.known.form = LK_GELU_ERF;
  EXPECT_EQ(checked_options("op", &o.known).form, LK_GELU_ERF);
  o.more[3] = 1;
  EXPECT_TRUE(
      is_unsupported(refusal([&] { checked_options("op", &o.known); }),
                     "op: byte 52 of the options is 1, but this version of libkernels knows "
                     "only the first 40 of their 56 bytes"));
}

TEST(CheckOptionsTest, EveryFieldIsJudgedWithAText) {
  struct Case {
    std::function<void(lk_gelu_options&)> change;
    const char* text;
  };
  const Case cases[] = {
      {[](auto& o) { o.call.size = 0; }, "op: options.call.size is 0; it is the sizeof"},
      {[](auto& o) { o.call.size = 31; }, "options.call.size is 31"},
      {[](auto& o) { o.call.size = 4097; }, "options.call.size is 4097"},
      {[](auto& o) { o.call.size = 4104; }, "options.call.size is 4104"},
      {[](auto& o) { o.call.size = 33; },
       "op: options.call.size is 33; it is the sizeof of the "
       "options struct, a multiple of 8 between 32 and 4096"},
      {[](auto& o) { o.call.size = 36; }, "options.call.size is 36"},
      {[](auto& o) { o.call.size = 39; }, "options.call.size is 39"},
      {[](auto& o) { o.call.size = 42; }, "options.call.size is 42"},
      {[](auto& o) { o.call.max_sms = -1; }, "op: options.call.max_sms is -1; 0 (all SMs)"},
      {[](auto& o) { o.call.pdl = 2; }, "op: options.call.pdl is 2; 0 or 1"},
      {[](auto& o) { o.call.pdl = -1; }, "op: options.call.pdl is -1; 0 or 1"},
      {[](auto& o) { o.call.workspace_bytes = 9; },
       "op: options.call.workspace is null with options.call.workspace_bytes 9"},
      {[](auto& o) { o.call.workspace = at(0x1080); },
       "op: options.call.workspace is 0x1080; it needs an alignment of 256 bytes"},
  };
  for (const Case& c : cases) {
    lk_gelu_options o = LK_OPTIONS_INIT(lk_gelu_options);
    c.change(o);
    EXPECT_TRUE(is_invalid(refusal([&] { checked_options("op", &o); }), c.text));
  }
}

TEST(CheckOptionsTest, AWorkspaceIsNullOrLargeEnough) {
  lk_call_options o{};
  EXPECT_TRUE(is_accepted(refusal([&] { check_workspace("op", o, 1000); })));
  o.workspace = at(0x1000);
  o.workspace_bytes = 999;
  EXPECT_TRUE(is_invalid(refusal([&] { check_workspace("op", o, 1000); }),
                         "op: options.call.workspace_bytes is 999; this call needs 1000 "
                         "(lk_op_workspace_size), or a null workspace"));
  EXPECT_TRUE(is_accepted(refusal([&] { check_workspace("op", o, 999); })));
}

TEST(CheckTest, WorkspaceOverlapsNoOperand) {
  const lk_cmatrix view{at(0x1000), LK_F32, 2, 8, 16, 1};  // bytes 0x1000 to 0x105f
  const Operand x = check_input("op", "x", &view);
  lk_call_options o{};
  o.size = sizeof(o);
  for (const auto& [workspace, bytes, apart] :
       {std::tuple(0xf00, 0x100, true), std::tuple(0xf00, 0x101, false),
        std::tuple(0x1000, 1, false), std::tuple(0x1000, 0, true), std::tuple(0, 0, true),
        std::tuple(0x1060, 0x1000, true), std::tuple(0x105f, 1, false)}) {
    o.workspace = at(std::uintptr_t(workspace));
    o.workspace_bytes = std::size_t(bytes);
    const auto r = refusal([&] { check_workspace_apart(o, x); });
    if (apart) {
      EXPECT_TRUE(is_accepted(r)) << workspace << " " << bytes;
    } else {
      EXPECT_TRUE(is_invalid(r, "overlaps x (bytes 0x1000 to 0x105f); it needs memory of its own"));
    }
  }
}

}  // namespace
}  // namespace libkernels
