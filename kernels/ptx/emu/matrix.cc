// ldmatrix, stmatrix and mma.sync: lanes meet as in every collective, and the last one computes.
#include "kernels/ptx/emu/matrix.h"

#include <cstring>
#include <utility>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kRows = 8, kRowBytes = 16;  // of an 8 x 8 matrix of 16-bit elements

// ---- ldmatrix, stmatrix -----------------------------------------------------------------------

struct Rows {
  unsigned char* row;
  std::uint32_t v[4];
};

// Argument of the collective.
constexpr std::uint32_t kTransBit = 1u << 8;

Rows& rows_of(Thread& t) { return *static_cast<Rows*>(t.payload); }

void transpose(std::uint16_t (&m)[kRows][kRows]) {
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < r; ++c) std::swap(m[r][c], m[c][r]);
  }
}

// The rows that lanes point at, and the registers: lane l has two elements of row l / 4.
void move_matrix(Collective op, Thread* lanes, std::uint32_t matrix, bool trans) {
  std::uint16_t m[kRows][kRows];
  const auto row = [&](std::uint32_t r) { return rows_of(lanes[kRows * matrix + r]).row; };
  const auto share = [&](std::uint32_t lane) { return &m[lane / 4][2 * (lane % 4)]; };
  if (op == Collective::ldmatrix) {
    for (std::uint32_t r = 0; r < kRows; ++r) std::memcpy(m[r], row(r), kRowBytes);
    if (trans) transpose(m);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(&rows_of(lanes[lane]).v[matrix], share(lane), sizeof(std::uint32_t));
    }
  } else {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(share(lane), &rows_of(lanes[lane]).v[matrix], sizeof(std::uint32_t));
    }
    if (trans) transpose(m);
    for (std::uint32_t r = 0; r < kRows; ++r) std::memcpy(row(r), m[r], kRowBytes);
  }
}

void move_matrices(Collective op, Thread* lanes) {
  const std::uint32_t count = lanes->argument & ~kTransBit;
  for (std::uint32_t matrix = 0; matrix < count; ++matrix) {
    move_matrix(op, lanes, matrix, (lanes->argument & kTransBit) != 0);
  }
}

void meet_rows(Collective op, Rows* rows, int count, bool trans, const void* pc) {
  Thread* t = current_thread;
  if (t->lane < kRows * std::uint32_t(count)) {
    const auto a = reinterpret_cast<std::uintptr_t>(rows->row);
    if (a % kRowBytes) {
      fail(cudaErrorMisalignedAddress, pc,
           "misaligned: %s of a row at 0x%zx; expected a multiple of %u", name_of(op),
           std::size_t(a), kRowBytes);
    }
    check_access(t, Space::shared, rows->row, kRowBytes, op == Collective::stmatrix, pc);
  }
  collective_matrix(op, std::uint32_t(count) | (trans ? kTransBit : 0), rows, pc);
}

// ---- mma.sync ---------------------------------------------------------------------------------

constexpr int kM = 16, kN = 8, kMaxK = 16;

struct Operands {
  uint4 a;
  uint2 b;
  float4 c;  // and d
};

constexpr std::uint32_t kTypeShift = 8;  // argument of the collective: type, k

const Operands& operands_of(const Thread& t) { return *static_cast<const Operands*>(t.payload); }

// The matrices as the fragments' layout spreads them over lanes (kernels/ptx/mma.cuh).
struct Matrices {
  std::uint32_t a[kM][kMaxK];
  std::uint32_t b[kN][kMaxK];
};

void gather(const Thread* lanes, bool wide_elements, int k, Matrices* m) {
  const int registers_b = wide_elements ? k / 4 : k / 8;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const Operands& o = operands_of(lanes[lane]);
    const std::uint32_t a[4] = {o.a.x, o.a.y, o.a.z, o.a.w}, b[2] = {o.b.x, o.b.y};
    const std::uint32_t g = lane / 4, q = lane % 4;
    for (int i = 0; i < registers_b; ++i) {
      if (wide_elements) {
        m->a[g][q + 4 * unsigned(i)] = a[2 * i];
        m->a[g + 8][q + 4 * unsigned(i)] = a[2 * i + 1];
        m->b[g][q + 4 * unsigned(i)] = b[i];
        continue;
      }
      const std::uint32_t at = 2 * q + 8 * unsigned(i);
      for (std::uint32_t half = 0; half < 2; ++half) {
        m->a[g][at + half] = a[2 * i] >> (16 * half) & 0xffff;
        m->a[g + 8][at + half] = a[2 * i + 1] >> (16 * half) & 0xffff;
        m->b[g][at + half] = b[i] >> (16 * half) & 0xffff;
      }
    }
  }
}

void multiply(Thread* lanes) {
  const auto type = MmaInput(lanes->argument >> kTypeShift);
  const int k = int(lanes->argument & ((1u << kTypeShift) - 1));
  const DeviceProperties& device = current_profile();
  const MmaNumerics numerics = mma_sync_numerics(device.cc_major * 10 + device.cc_minor, type, k);
  Matrices m;
  gather(lanes, type == MmaInput::tf32, k, &m);
  std::uint32_t d[kM][kN];
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const float4 c = operands_of(lanes[lane]).c;
    const std::uint32_t g = lane / 4, q = lane % 4;
    std::memcpy(&d[g][2 * q], &c.x, 2 * sizeof(float));
    std::memcpy(&d[g + 8][2 * q], &c.z, 2 * sizeof(float));
  }
  for (int first = 0; first < k; first += numerics.block) {
    MmaVector a, b[kN];
    for (int j = 0; j < kN; ++j) b[j].decode(type, m.b[j] + first, numerics.block);
    for (int i = 0; i < kM; ++i) {
      a.decode(type, m.a[i] + first, numerics.block);
      for (int j = 0; j < kN; ++j) {
        d[i][j] = mma_block(numerics, a, b[j], numerics.block, d[i][j]);
      }
    }
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    float4& c = static_cast<Operands*>(lanes[lane].payload)->c;
    const std::uint32_t g = lane / 4, q = lane % 4;
    std::memcpy(&c.x, &d[g][2 * q], 2 * sizeof(float));
    std::memcpy(&c.z, &d[g + 8][2 * q], 2 * sizeof(float));
  }
  if (machine().launch.counting) machine().counters.mma_flops += 2 * kM * kN * std::uint64_t(k);
}

}  // namespace

void complete_matrix(Collective op, Thread* lanes) {
  op == Collective::mma ? multiply(lanes) : move_matrices(op, lanes);
}

uint4 ldmatrix(const void* row, int count, bool trans) {
  Rows rows{static_cast<unsigned char*>(const_cast<void*>(row)), {}};
  meet_rows(Collective::ldmatrix, &rows, count, trans, __builtin_return_address(0));
  return {rows.v[0], rows.v[1], rows.v[2], rows.v[3]};
}

void stmatrix(void* row, uint4 v, int count, bool trans) {
  Rows rows{static_cast<unsigned char*>(row), {v.x, v.y, v.z, v.w}};
  meet_rows(Collective::stmatrix, &rows, count, trans, __builtin_return_address(0));
}

float4 mma_sync(MmaInput type, int k, uint4 a, uint2 b, float4 c) {
  Operands operands{a, b, c};
  collective_matrix(Collective::mma, std::uint32_t(type) << kTypeShift | std::uint32_t(k),
                    &operands, __builtin_return_address(0));
  return operands.c;
}

}  // namespace libkernels::emulator
