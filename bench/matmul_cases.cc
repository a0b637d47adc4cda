#include "bench/matmul_cases.h"

#include <algorithm>
#include <optional>

namespace libkernels::bench {
namespace {

constexpr Layout kNN{};
constexpr Layout kNT{.a_transposed = false, .b_transposed = true};
constexpr Layout kTN{.a_transposed = true, .b_transposed = false};
constexpr Layout kTT{.a_transposed = true, .b_transposed = true};

// The operands' types of a case, and how fp32 is multiplied.
struct Types {
  const char* name;  // of Case::types
  DType in, out;
  Math math = Math::fp32;
};

constexpr Types kTypes[] = {
    {"bf16", DType::bf16, DType::bf16},
    {"f16", DType::f16, DType::f16},
    {"f32", DType::f32, DType::f32},
    {"tf32", DType::f32, DType::f32, Math::tf32},
    {"tf32x3", DType::f32, DType::f32, Math::tf32x3},
    {"bf16->f32", DType::bf16, DType::f32},
    {"f16->f32", DType::f16, DType::f32},
    {"f8_e4m3->bf16", DType::f8_e4m3, DType::bf16},
    {"f8_e4m3->f16", DType::f8_e4m3, DType::f16},
    {"f8_e4m3->f32", DType::f8_e4m3, DType::f32},
    {"f8_e5m2->bf16", DType::f8_e5m2, DType::bf16},
    {"f8_e5m2->f16", DType::f8_e5m2, DType::f16},
    {"f8_e5m2->f32", DType::f8_e5m2, DType::f32},
};

std::string types_name(const MatmulCase& c) {
  for (const Types& t : kTypes) {
    if (t.in == c.in && t.out == c.out && (c.in != DType::f32 || t.math == c.math)) return t.name;
  }
  return "unknown";
}

MatmulCase product(const std::string& types, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Layout& layout, Epilogue epilogue) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Types& t) { return types == t.name; });
  return {.in = found->in,
          .out = found->out,
          .math = found->math,
          .epilogue = epilogue,
          .layout = layout,
          .m = m,
          .n = n,
          .k = k};
}

void add_cubes(std::vector<MatmulCase>* all, const std::string& types, const Layout& layout,
               const std::vector<std::int64_t>& sizes, Epilogue epilogue = Epilogue::bias_relu) {
  for (const std::int64_t n : sizes) all->push_back(product(types, n, n, n, layout, epilogue));
}

const char* layout_name(const Layout& layout) {
  if (layout.a_transposed) return layout.b_transposed ? "TT" : "TN";
  return layout.b_transposed ? "NT" : "NN";
}

const char* epilogue_name(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      return "none";
    case Epilogue::relu:
      return "relu";
    case Epilogue::bias_relu:
      return "bias+relu";
  }
  return "invalid";
}

// A case for each shape, type, layout and form of the command line; where it names none of a kind,
// those of `own`, which also decides what a shape alone brings.
std::vector<MatmulCase> asked_cases(const Selection& selection, const MatmulCase& own) {
  std::vector<std::string> types;
  for (const std::string& text : selection.types_or({types_name(own)})) {
    const auto is_it = [&](const Types& t) { return text == t.name; };
    if (std::any_of(std::begin(kTypes), std::end(kTypes), is_it)) types.push_back(text);
  }
  const auto wanted = [](const std::vector<std::string>& choice, const char* name, bool is_own) {
    return choice.empty() ? is_own : std::count(choice.begin(), choice.end(), name) > 0;
  };
  std::vector<MatmulCase> all;
  for (const auto& shape : selection.shapes_or(3, {})) {
    for (const std::string& t : types) {
      const bool is_fp8 = t.starts_with("f8");
      for (const Layout& layout : {kNN, kNT, kTN, kTT}) {
        if (!wanted(selection.layouts, layout_name(layout),
                    layout == (is_fp8 ? kNT : own.layout))) {
          continue;
        }
        for (const Epilogue e : {Epilogue::none, Epilogue::relu, Epilogue::bias_relu}) {
          if (!wanted(selection.forms, epilogue_name(e), e == own.epilogue)) continue;
          all.push_back(product(t, shape[0], shape[1], shape[2], layout, e));
        }
      }
    }
  }
  return all;
}

std::vector<MatmulCase> emulated(std::vector<MatmulCase> all) {
  for (MatmulCase& c : all) c.emulated = true;
  return all;
}

std::vector<MatmulCase> emulated_cases() {
  std::vector<MatmulCase> all;
  add_cubes(&all, "bf16", kNN, {64, 128});
  add_cubes(&all, "bf16", kNT, {128});
  add_cubes(&all, "f16", kTN, {64});
  add_cubes(&all, "tf32", kNN, {64});
  add_cubes(&all, "f32", kNN, {64});
  all.push_back(product("f8_e4m3->bf16", 64, 64, 64, kNT, Epilogue::bias_relu));
  all.push_back(product("bf16", 65, 47, 33, kNN, Epilogue::relu));
  return all;
}

std::vector<MatmulCase> full_cases(bool large) {
  std::vector<MatmulCase> all;
  add_cubes(&all, "bf16", kNN, {256, 512, 1024, 2048, 4096, 8192});
  add_cubes(&all, "bf16", kNT, {256, 512, 1024, 2048, 4096, 8192});
  add_cubes(&all, "bf16", kTN, {1024, 4096});
  add_cubes(&all, "bf16", kTT, {1024, 4096});
  add_cubes(&all, "bf16", kNN, {1024, 4096}, Epilogue::relu);
  add_cubes(&all, "bf16", kNN, {1024, 4096}, Epilogue::none);
  for (const std::int64_t m : {1, 16, 64, 128, 512, 4096}) {
    all.push_back(product("bf16", m, 14336, 4096, kNT, Epilogue::bias_relu));
  }
  all.push_back(product("bf16", 256, 256, 262144, kNT, Epilogue::bias_relu));
  all.push_back(product("bf16", 16384, 16384, 64, kNT, Epilogue::bias_relu));
  all.push_back(product("bf16", 4096, 4096, 14336, kNT, Epilogue::bias_relu));
  add_cubes(&all, "f16", kNN, {1024, 4096});
  add_cubes(&all, "tf32", kNN, {1024, 4096, 8192});
  add_cubes(&all, "f32", kNN, {1024, 4096});
  add_cubes(&all, "tf32x3", kNN, {1024, 4096});
  add_cubes(&all, "f8_e4m3->bf16", kNT, {1024, 4096, 8192});
  add_cubes(&all, "f8_e5m2->bf16", kNT, {4096});
  for (const int shift : {1, 2}) {  // pointers, then leading dimensions, that no vector fits
    MatmulCase c = product("bf16", 4096, 4096, 4096, kNN, Epilogue::bias_relu);
    (shift == 1 ? c.offset : c.pad) = 1;
    all.push_back(c);
  }
  if (large) {
    add_cubes(&all, "bf16", kNN, {16384});
    add_cubes(&all, "bf16", kNT, {16384});
    add_cubes(&all, "f8_e4m3->bf16", kNT, {16384});
  }
  return all;
}

}  // namespace

std::vector<MatmulCase> matmul_cases(const Selection& selection) {
  if (!selection.shapes.empty()) {
    auto all = asked_cases(selection, product("bf16", 1, 1, 1, kNN, Epilogue::bias_relu));
    return selection.emulated ? emulated(all) : all;
  }
  if (selection.emulated) return emulated(emulated_cases());
  if (!selection.quick) return full_cases(selection.large);
  std::vector<MatmulCase> all;
  add_cubes(&all, "bf16", kNN, {512, 1024, 1793, 4096, 8192});
  all.push_back(product("bf16", 16, 14336, 4096, kNT, Epilogue::bias_relu));
  add_cubes(&all, "tf32", kNN, {4096});
  add_cubes(&all, "f8_e4m3->bf16", kNT, {4096});
  return all;
}

std::vector<std::int64_t> cliff_sizes() {
  constexpr std::int64_t kTile = 128;
  std::vector<std::int64_t> sizes{1500};  // of performance tables elsewhere
  for (const std::int64_t tiles : {9, 10, 12, 14, 15, 16, 17, 20, 24, 28, 32, 33, 40, 48, 56, 64}) {
    const std::int64_t n = tiles * kTile;
    for (const std::int64_t less : {0, 1, 126, 127}) sizes.push_back(n - less);
  }
  sizes.insert(sizes.end(), {1023, 1024, 2047});
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<MatmulCase> cliff_cases(const Selection& selection) {
  std::vector<MatmulCase> all;
  if (!selection.shapes.empty()) {
    all = asked_cases(selection, product("bf16", 1, 1, 1, kNN, Epilogue::relu));
  } else if (selection.emulated) {
    for (const std::int64_t n : {63, 64, 65}) add_cubes(&all, "bf16", kNN, {n}, Epilogue::relu);
  } else {
    add_cubes(&all, "bf16", kNN, cliff_sizes(), Epilogue::relu);
    for (const char* types : {"f16", "tf32"}) {
      add_cubes(&all, types, kNN,
                {1023, 1024, 1793, 1920, 2047, 2048, 2049, 2176, 4095, 4096, 4097, 4224},
                Epilogue::relu);
    }
  }
  for (MatmulCase& c : all) c.brief = true;
  return selection.emulated ? emulated(all) : all;
}

std::vector<MatmulCase> decode_cases(const Selection& selection) {
  std::vector<MatmulCase> all;
  const auto add = [&](const char* types, const std::vector<std::int64_t>& ms, std::int64_t n,
                       std::int64_t k, const Layout& layout) {
    for (const std::int64_t m : ms) all.push_back(product(types, m, n, k, layout, Epilogue::relu));
  };
  if (!selection.shapes.empty()) {
    all = asked_cases(selection, product("bf16", 1, 1, 1, kNT, Epilogue::relu));
  } else if (selection.emulated) {
    add("bf16", {1, 16}, 128, 256, kNT);
  } else {
    add("bf16", {1, 2, 4, 8, 16, 32, 64}, 14336, 4096, kNT);
    add("bf16", {1, 16, 64}, 14336, 4096, kNN);
    add("bf16", {1, 16, 64}, 4096, 14336, kNT);
    add("bf16", {1, 16, 64}, 6144, 4096, kNT);
    add("bf16", {1, 16}, 4096, 4096, kNT);
    add("bf16", {1, 16, 64}, 28672, 8192, kNT);
    add("bf16", {1, 16}, 8192, 28672, kNT);
    add("bf16", {1, 16}, 128256, 4096, kNT);
    add("f16", {1, 16}, 14336, 4096, kNT);
    add("f8_e4m3->bf16", {1, 16, 64}, 14336, 4096, kNT);
  }
  for (MatmulCase& c : all) c.brief = true;
  return selection.emulated ? emulated(all) : all;
}

Case matmul_case(const MatmulCase& c) {
  const std::int64_t in = std::int64_t(size_of(c.in)), out = std::int64_t(size_of(c.out));
  const std::int64_t bias = c.epilogue == Epilogue::bias_relu ? c.n * out : 0;
  const Floor floor{.read_bytes = (c.m * c.k + c.k * c.n) * in + bias,
                    .written_bytes = c.m * c.n * out};
  const double flops = 2.0 * double(c.m) * double(c.n) * double(c.k);
  // Which of the two floors is higher, by the H200's data sheet; elsewhere the balance is alike.
  constexpr double kBytesPerSecond = 4.8e12;
  const double rate = in == 1 ? 1979e12 : in == 2 ? 989e12 : c.math == Math::fp32 ? 67e12 : 495e12;
  const bool by_flops = flops / rate > double(floor.bytes()) / kBytesPerSecond;
  const bool by_reads = floor.read_bytes > floor.written_bytes;
  std::string layout = layout_name(c.layout);
  if (c.offset > 0) layout += " a+1 b+1";
  if (c.pad > 0) layout += " ld+1";
  std::vector<std::string> roles{"fused"};
  if (!c.brief) {
    roles.insert(roles.end(), {"unfused", "naive", "naive_tiled"});
    if (!c.emulated) roles.insert(roles.end(), {"cublas", "cublaslt_unfused"});
  }
  if (!c.emulated) roles.emplace_back("cublaslt");
  return {.op = "matmul",
          .types = types_name(c),
          .form = epilogue_name(c.epilogue),
          .shape = {c.m, c.n, c.k},
          .layout = layout,
          .floor = floor,
          .flops = flops,
          .ceiling = by_flops   ? Ceiling::math
                     : by_reads ? Ceiling::read
                                : Ceiling::copy,
          .roles = roles};
}

}  // namespace libkernels::bench
