// Tensor copies: a box of a tensor as rows, clipped to the tensor.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kTileAlignment = 128;
constexpr std::uint32_t kGlobalAlignment = 16;
constexpr std::uint32_t kBarBytes = 8;

TensorLayout read_map(const void* map, const BoxStart& box, const char* name, const void* pc) {
  require_sm(90, name);
  constexpr std::uintptr_t kMapAlignment = 64;  // what the instruction wants
  TensorLayout layout;
  if (reinterpret_cast<std::uintptr_t>(map) % kMapAlignment != 0) {
    fail(cudaErrorMisalignedAddress, pc,
         "misaligned: %s with a tensor map at %p; expected a "
         "multiple of %zu",
         name, map, std::size_t(kMapAlignment));
  }
  std::memcpy(&layout, map, sizeof(layout));
  if (layout.magic != TensorLayout::kMagic) {
    fail(cudaErrorLaunchFailure, pc,
         "%s: at %p there is no tensor map; expected one that encode_tiled made, in a "
         "__grid_constant__ parameter",
         name, map);
  }
  if (box.rank != layout.rank) {
    fail(cudaErrorLaunchFailure, pc,
         "%s of %d dimensions with a tensor map of %d: expected as many", name, box.rank,
         layout.rank);
  }
  // Measured on an H200: an illegal instruction, wherever the box lies.
  const std::int64_t bytes = std::int64_t(box.at[0]) * layout.element_bytes;
  if (bytes % kGlobalAlignment != 0) {
    fail(cudaErrorMisalignedAddress, pc,
         "misaligned: %s at coordinate x = %d of a tensor of %d-byte elements; expected x to be a "
         "multiple of %u",
         name, box.at[0], layout.element_bytes, kGlobalAlignment / layout.element_bytes);
  }
  return layout;
}

// The rows of the box, one after the other in shared memory. A row narrower than the swizzle's
// pattern takes as much room as the pattern (the programming guide's words; not measured).
std::vector<Row> rows_of(const TensorLayout& m, const BoxStart& box, std::uint32_t shared) {
  const auto extent = [&](int i) { return std::int64_t(m.last[i]) + 1; };
  const std::uint32_t row_bytes = std::uint32_t(m.box[0]) * m.element_bytes;
  const std::uint32_t pitch =
      m.swizzle == 0 ? row_bytes : std::max(row_bytes, ptx::swizzle_width(ptx::Swizzle(m.swizzle)));
  // Elements of a row that exist.
  const std::int64_t begin = std::clamp<std::int64_t>(-std::int64_t(box.at[0]), 0, m.box[0]);
  const std::int64_t end = std::clamp<std::int64_t>(extent(0) - box.at[0], begin, m.box[0]);
  const int ny = m.rank > 1 ? m.box[1] : 1, nz = m.rank > 2 ? m.box[2] : 1;
  std::vector<Row> rows;
  rows.reserve(std::size_t(ny) * std::size_t(nz));
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y, shared += pitch) {
      const std::int64_t at_y = m.rank > 1 ? std::int64_t(box.at[1]) + y : 0;
      const std::int64_t at_z = m.rank > 2 ? std::int64_t(box.at[2]) + z : 0;
      const bool inside = at_y >= 0 && at_z >= 0 && (m.rank < 2 || at_y < extent(1)) &&
                          (m.rank < 3 || at_z < extent(2));
      Row row{.shared = shared, .bytes = row_bytes};
      if (inside && begin < end) {
        row.first = std::uint32_t(begin) * m.element_bytes;
        row.valid = std::uint32_t(end - begin) * m.element_bytes;
        row.global = m.base + std::uint64_t(box.at[0] + begin) * m.element_bytes +
                     std::uint64_t(at_y) * m.strides[0] + std::uint64_t(at_z) * m.strides[1];
      }
      rows.push_back(row);
    }
  }
  return rows;
}

// What stores may not do and loads may; measured on an H200, 2026-11-30. A negative coordinate is
// an illegal instruction. And the inner end clips whole pieces of 16 bytes: one that crosses it is
// written beyond the tensor. (A box beyond the end stores nothing.)
void check_store(const TensorLayout& m, const BoxStart& box, const char* name, const void* pc) {
  for (int i = 0; i < m.rank; ++i) {
    if (box.at[i] >= 0) continue;
    fail(cudaErrorLaunchFailure, pc,
         "%s at coordinate %d of dimension %d: expected none to be negative in a store", name,
         box.at[i], i);
  }
  const std::uint64_t extent = std::uint64_t(m.last[0]) + 1, begin = std::uint64_t(box.at[0]);
  const bool crosses = begin < extent && begin + m.box[0] > extent;
  if (!crosses || extent * m.element_bytes % kGlobalAlignment == 0) return;
  fail(
      cudaErrorLaunchFailure, pc,
      "%s of a box that crosses the end of rows of %llu bytes: stores are clipped in pieces of %u "
      "bytes, the last of which would be written beyond the tensor; expected rows of a multiple of "
      "%u bytes, or a box that ends within them",
      name, static_cast<unsigned long long>(extent * m.element_bytes), kGlobalAlignment,
      kGlobalAlignment);
}

std::uint32_t bytes_of(const TensorLayout& m) {
  std::uint32_t bytes = m.element_bytes;
  for (int i = 0; i < m.rank; ++i) bytes *= m.box[i];
  return bytes;
}

}  // namespace

void tensor_load(void* dst, const void* map, BoxStart box, const void* bar,
                 std::uint32_t cta_mask) {
  constexpr const char* kName = "cp.async.bulk.tensor to shared memory";
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  const TensorLayout m = read_map(map, box, kName, pc);
  AsyncOp& op = new_op(AsyncOp::Kind::load, t, kName, pc);
  op.bytes = bytes_of(m);
  op.swizzle = m.swizzle;
  op.tensor = true;
  op.rounds_to_tf32 = m.rounds_to_tf32;
  op.rows = rows_of(m, box, shared_offset(t, dst, op.bytes, kTileAlignment, kName, pc));
  issue_load(op, shared_offset(t, bar, kBarBytes, kBarBytes, kName, pc), cta_mask);
}

void tensor_store(const void* map, BoxStart box, const void* src) {
  constexpr const char* kName = "cp.async.bulk.tensor to global memory";
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  const TensorLayout m = read_map(map, box, kName, pc);
  check_store(m, box, kName, pc);
  AsyncOp& op = new_op(AsyncOp::Kind::store, t, kName, pc);
  op.target = t->cta;
  op.bytes = bytes_of(m);
  op.swizzle = m.swizzle;
  op.tensor = true;
  op.rows = rows_of(m, box, shared_offset(t, src, op.bytes, kTileAlignment, kName, pc));
  std::erase_if(op.rows, [](const Row& r) { return r.valid == 0; });
  issue_store(op);
}

void tensor_prefetch(const void* map, BoxStart box) {
  read_map(map, box, "cp.async.bulk.prefetch.tensor", __builtin_return_address(0));
}

void tensor_prefetch_map(const void* map) {
  const void* pc = __builtin_return_address(0);
  require_sm(90, "prefetch.tensormap");
  std::uint32_t magic = 0;
  std::memcpy(&magic, map, sizeof(magic));
  if (magic == TensorLayout::kMagic) return;
  fail(cudaErrorLaunchFailure, pc, "prefetch.tensormap: at %p there is no tensor map", map);
}

}  // namespace libkernels::emulator
