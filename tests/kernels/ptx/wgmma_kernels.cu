// One CTA of one warpgroup multiplies one tile: it lays the operands out in shared memory by the
// formulas of descriptor.cuh, element by element, and lets wgmma read them.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/wgmma_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using ptx::Major;
using ptx::MmaType;
using ptx::Swizzle;
using test::WgmmaCase;
using test::WgmmaParams;

constexpr int kM = 64, kThreads = 128, kRowBytes = 32;

struct Config {
  MmaType a, b;
  int n;
  Swizzle swizzle = Swizzle::b128;
  Major major_a = Major::k, major_b = Major::k;
  bool a_in_registers = false;
  bool odd_leading = false;  // a leading offset where the hardware should ignore it
};

__host__ __device__ constexpr int steps_of(const Config& c) {
  const bool k_major = c.major_a == Major::k && c.major_b == Major::k;
  return k_major && c.swizzle != Swizzle::none ? int(ptx::swizzle_width(c.swizzle)) / kRowBytes : 2;
}

// One operand of `rows` by `steps` times 32 bytes.
struct Layout {
  ptx::DescriptorFields fields;
  std::uint32_t step;  // bytes from one product's operand to the next one's
};
constexpr std::uint32_t kPiece = 128 + 16;  // 8 x 16 bytes, and a gap

LK_DEVICE Layout layout_of(const Config& c, Major major, int rows, int steps) {
  const std::uint32_t width = ptx::swizzle_width(c.swizzle);
  if (c.swizzle == Swizzle::none) {
    const std::uint32_t leading = std::uint32_t(rows) / 8 * kPiece;
    return {{.leading = leading, .stride = kPiece}, 2 * leading};
  }
  if (major == Major::mn) {
    return {ptx::mn_major_tile(c.swizzle, 16u * std::uint32_t(steps)), 16 * width};
  }
  ptx::DescriptorFields fields = ptx::k_major_tile(c.swizzle);
  if (c.odd_leading) fields.leading = 0x3fff0;
  return {fields, kRowBytes};
}

struct Smem {
  alignas(1024) unsigned char a[kM * 144];
  alignas(1024) unsigned char b[256 * 144];
};

template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Type = std::uint8_t;
};
template <>
struct ElementOf<2> {
  using Type = std::uint16_t;
};
template <>
struct ElementOf<4> {
  using Type = std::uint32_t;
};

// from: [rows, steps * 32] bytes
template <class Element>
LK_DEVICE void fill(unsigned char* tile, const unsigned char* from, const Layout& layout,
                    Major major, int rows, int steps) {
  constexpr int kEs = sizeof(Element), kPerStep = kRowBytes / kEs;
  const auto* in = reinterpret_cast<const Element*>(from);
  for (int i = int(threadIdx.x); i < rows * steps * kPerStep; i += kThreads) {
    const int row = i / (steps * kPerStep), k = i % (steps * kPerStep);
    ptx::DescriptorFields f = layout.fields;
    f.start = layout.step * std::uint32_t(k / kPerStep);
    const std::uint32_t at =
        ptx::element_address(f, major, kEs, std::uint32_t(row), std::uint32_t(k % kPerStep));
    ptx::st_shared(reinterpret_cast<Element*>(tile + at), in[i]);
  }
}

// Registers of A for one step: 4 bytes of a row each. rows: [64, steps * 32] bytes
LK_DEVICE void load_a(std::uint32_t (&a)[4], const unsigned char* rows, int step, int steps) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = 16 * warp + lane / 4 + 8 * (i % 2);
    const int byte = kRowBytes * step + 4 * (lane % 4) + 16 * (i / 2);
    a[i] = *reinterpret_cast<const std::uint32_t*>(rows + row * kRowBytes * steps + byte);
  }
}

template <class Cfg>
__global__ void __launch_bounds__(kThreads) wgmma_kernel(WgmmaParams p) {
  constexpr Config kConfig = Cfg::value;
  constexpr int kN = kConfig.n, kSteps = steps_of(kConfig);
  constexpr int kK = kRowBytes / ptx::mma_bytes(kConfig.a);
  using A = typename ElementOf<ptx::mma_bytes(kConfig.a)>::Type;
  using B = typename ElementOf<ptx::mma_bytes(kConfig.b)>::Type;
  auto& smem = ptx::dynamic_smem<Smem>();
  const Layout layout_a = layout_of(kConfig, kConfig.major_a, kM, kSteps);
  const Layout layout_b = layout_of(kConfig, kConfig.major_b, kN, kSteps);
  const unsigned char* a_rows = p.a + std::size_t(blockIdx.x) * kM * kSteps * kRowBytes;
  const unsigned char* b_rows = p.b + std::size_t(blockIdx.x) * kN * kSteps * kRowBytes;
  if (!kConfig.a_in_registers) {
    fill<A>(smem.a, a_rows, layout_a, kConfig.major_a, kM, kSteps);
  }
  fill<B>(smem.b, b_rows, layout_b, kConfig.major_b, kN, kSteps);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();

  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = int(blockIdx.x) * kM + 16 * warp + lane / 4, column = 2 * (lane % 4);
  float d[kN / 2];
#pragma unroll
  for (int v = 0; v < kN / 2; ++v) {
    d[v] = p.c[(row + 8 * (v / 2 % 2)) * kN + 8 * (v / 4) + column + v % 2];
  }
  std::uint32_t a[kSteps][4] = {};
  if (kConfig.a_in_registers) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) load_a(a[s], a_rows, s, kSteps);
  }
  const auto descriptor_a = ptx::matrix_descriptor_at(smem.a, layout_a.fields);
  const auto descriptor_b = ptx::matrix_descriptor_at(smem.b, layout_b.fields);
  ptx::wgmma_fence(d);
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const auto b = descriptor_b.advanced(std::uint32_t(s) * layout_b.step);
    const bool scale_d = p.scale_d || s > 0;
    if constexpr (kConfig.a_in_registers) {
      ptx::wgmma_mma_async<kM, kN, kK, kConfig.a, kConfig.b, kConfig.major_b>(d, a[s], b, scale_d);
    } else {
      ptx::wgmma_mma_async<kM, kN, kK, kConfig.a, kConfig.b, kConfig.major_a, kConfig.major_b>(
          d, descriptor_a.advanced(std::uint32_t(s) * layout_a.step), b, scale_d);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(d);
#pragma unroll
  for (int v = 0; v < kN / 2; ++v) {
    p.d[(row + 8 * (v / 2 % 2)) * kN + 8 * (v / 4) + column + v % 2] = d[v];
  }
}

// ---- The list ---------------------------------------------------------------------------------

constexpr const char* name_of(MmaType type) {
  constexpr const char* kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2"};
  return kNames[int(type)];
}

template <class Cfg>
cudaError_t launch(const WgmmaParams& params, unsigned tiles, cudaStream_t stream) {
  return ptx::launch(&wgmma_kernel<Cfg>,
                     {.grid = dim3(tiles), .block = dim3(kThreads), .smem = sizeof(Smem)}, stream,
                     params);
}

constexpr MmaType kBf16 = MmaType::bf16, kF16 = MmaType::f16, kTf32 = MmaType::tf32;
constexpr MmaType kE4m3 = MmaType::e4m3, kE5m2 = MmaType::e5m2;
constexpr Major kK = Major::k, kMn = Major::mn;
constexpr Swizzle kNone = Swizzle::none, k32 = Swizzle::b32, k64 = Swizzle::b64,
                  k128 = Swizzle::b128;

struct Named {
  const char* name;
  Config config;
};
constexpr Named kCases[] = {
    {"bf16_n8", {kBf16, kBf16, 8}},
    {"bf16_n16", {kBf16, kBf16, 16}},
    {"bf16_n24", {kBf16, kBf16, 24}},
    {"bf16_n32", {kBf16, kBf16, 32}},
    {"bf16_n40", {kBf16, kBf16, 40}},
    {"bf16_n48", {kBf16, kBf16, 48}},
    {"bf16_n64", {kBf16, kBf16, 64}},
    {"bf16_n96", {kBf16, kBf16, 96}},
    {"bf16_n128", {kBf16, kBf16, 128}},
    {"bf16_n192", {kBf16, kBf16, 192}},
    {"bf16_n248", {kBf16, kBf16, 248}},
    {"bf16_n256", {kBf16, kBf16, 256}},
    {"bf16_none", {kBf16, kBf16, 32, kNone}},
    {"bf16_32b", {kBf16, kBf16, 32, k32}},
    {"bf16_64b", {kBf16, kBf16, 32, k64}},
    {"bf16_odd_leading", {kBf16, kBf16, 32, k128, kK, kK, false, true}},
    {"f16_tn", {kF16, kF16, 64}},
    {"f16_tt", {kF16, kF16, 64, k128, kK, kMn}},
    {"f16_nn", {kF16, kF16, 64, k128, kMn, kK}},
    {"f16_nt", {kF16, kF16, 64, k128, kMn, kMn}},
    {"f16_nt_none", {kF16, kF16, 64, kNone, kMn, kMn}},
    {"f16_nt_32b", {kF16, kF16, 64, k32, kMn, kMn}},
    {"f16_nt_64b", {kF16, kF16, 64, k64, kMn, kMn}},
    {"bf16_nt_n256", {kBf16, kBf16, 256, k128, kMn, kMn}},
    {"bf16_nt_n8", {kBf16, kBf16, 8, k128, kMn, kMn}},
    {"bf16_registers", {kBf16, kBf16, 64, k128, kK, kK, true}},
    {"bf16_registers_t", {kBf16, kBf16, 64, k128, kK, kMn, true}},
    {"f16_registers", {kF16, kF16, 128, k128, kK, kK, true}},
    {"tf32", {kTf32, kTf32, 64}},
    {"tf32_none", {kTf32, kTf32, 24, kNone}},
    {"tf32_64b", {kTf32, kTf32, 256, k64}},
    {"tf32_registers", {kTf32, kTf32, 64, k128, kK, kK, true}},
    {"e4m3", {kE4m3, kE4m3, 64}},
    {"e4m3_e5m2", {kE4m3, kE5m2, 64}},
    {"e5m2_e4m3", {kE5m2, kE4m3, 32, k64}},
    {"e5m2", {kE5m2, kE5m2, 128, k32}},
    {"e4m3_none", {kE4m3, kE4m3, 16, kNone}},
    {"e4m3_registers", {kE4m3, kE4m3, 64, k128, kK, kK, true}},
    {"e5m2_e4m3_registers", {kE5m2, kE4m3, 16, k128, kK, kK, true}},
};

template <std::size_t... kI>
std::span<const WgmmaCase> make_cases(std::index_sequence<kI...>) {
  static const WgmmaCase cases[] = {
      {kCases[kI].name, name_of(kCases[kI].config.a), name_of(kCases[kI].config.b),
       kCases[kI].config.n, steps_of(kCases[kI].config),
       &launch<std::integral_constant<Config, kCases[kI].config>>}...};
  return cases;
}

// ---- What the front door refuses at compile time ----------------------------------------------

template <int kM_, int kN_, int kK_, MmaType kA_, MmaType kB_, Major kMajorA_, Major kMajorB_>
concept Issues = requires(float (&d)[kN_ / 2], ptx::MatrixDescriptor x) {
  ptx::wgmma_mma_async<kM_, kN_, kK_, kA_, kB_, kMajorA_, kMajorB_>(d, x, x, true);
};
static_assert(Issues<64, 256, 16, kBf16, kBf16, kMn, kMn> &&
              Issues<64, 8, 8, kTf32, kTf32, kK, kK>);
static_assert(Issues<64, 200, 32, kE4m3, kE5m2, kK, kK>);
static_assert(!Issues<128, 64, 16, kBf16, kBf16, kK, kK>);  // M is 64
static_assert(!Issues<64, 20, 16, kBf16, kBf16, kK, kK>);   // N is a multiple of 8
static_assert(!Issues<64, 264, 16, kBf16, kBf16, kK, kK>);  // up to 256
static_assert(!Issues<64, 64, 8, kBf16, kBf16, kK, kK>);    // K is 32 bytes
static_assert(!Issues<64, 64, 16, kBf16, kF16, kK, kK>);    // one type, but for fp8
static_assert(!Issues<64, 64, 8, kTf32, kTf32, kK, kMn>);   // only 16-bit types are transposed
static_assert(!Issues<64, 64, 32, kE4m3, kE4m3, kMn, kK>);

}  // namespace

std::span<const WgmmaCase> wgmma_cases() {
  return make_cases(std::make_index_sequence<std::size(kCases)>());
}

}  // namespace libkernels::inline LK_BACKEND
