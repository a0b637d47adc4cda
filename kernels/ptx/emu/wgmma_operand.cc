#include "kernels/ptx/emu/wgmma_operand.h"

#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/async_state.h"
#include "kernels/ptx/emu/state.h"
#include "kernels/ptx/emu/wgmma_tile.h"

namespace libkernels::emulator {
namespace {

using emu::ptx::descriptor_fields;
using emu::ptx::DescriptorFields;
using emu::ptx::element_address;
using emu::ptx::MatrixDescriptor;
using emu::ptx::Swizzle;
using emu::ptx::swizzle_repeat;
using emu::ptx::swizzle_width;

constexpr int kElementsOfChunk = 8;  // of 16 bits: others are K-major

int bytes_of(MmaInput type) { return type == MmaInput::tf32 ? 4 : type <= MmaInput::bf16 ? 2 : 1; }

// Where an operand lies, and whom a fault is about.
struct Place {
  const char* name;
  std::uint64_t bits;
  DescriptorFields fields;
  const void* pc;
};

// Tiles begin where the swizzle does; K-major, the 32 bytes of K stay within a row of it.
void check_fields(const Place& p, Major major) {
  const DescriptorFields& f = p.fields;
  if (f.base_offset != 0) {
    fail(cudaErrorLaunchFailure, p.pc,
         "descriptor of %s, 0x%016llx: base offset %u; expected 0, and a tile that begins on a "
         "multiple of the swizzle's %u bytes",
         p.name, static_cast<unsigned long long>(p.bits), f.base_offset, swizzle_repeat(f.swizzle));
  }
  const std::uint32_t width = swizzle_width(f.swizzle);
  if (f.swizzle != Swizzle::none && f.start % swizzle_repeat(f.swizzle) >= width) {
    fail(cudaErrorLaunchFailure, p.pc,
         "descriptor of %s, 0x%016llx: it starts at offset %u, amid the pattern of the %u-byte "
         "swizzle; expected a tile that begins on a multiple of %u bytes",
         p.name, static_cast<unsigned long long>(p.bits), f.start, width,
         swizzle_repeat(f.swizzle));
  }
  if (f.swizzle != Swizzle::none && major == Major::k && f.start % width + kWgmmaRowBytes > width) {
    fail(cudaErrorLaunchFailure, p.pc,
         "descriptor of %s, 0x%016llx: 32 bytes from byte %u of a row of %u on leave the row; "
         "expected a step along K that stays within it",
         p.name, static_cast<unsigned long long>(p.bits), f.start % width, width);
  }
}

void check_inside(const Place& p, std::uint32_t offset) {
  const std::size_t smem = machine().launch.request.smem;
  if (offset + kChunkBytes <= smem) return;
  fail(cudaErrorIllegalAddress, p.pc,
       "descriptor of %s, 0x%016llx: it reads 16 bytes at offset %u (start %u, leading %u, stride "
       "%u); expected them within the %zu bytes of the CTA's shared memory",
       p.name, static_cast<unsigned long long>(p.bits), offset, p.fields.start, p.fields.leading,
       p.fields.stride, smem);
}

void check_swizzle(const Place& p, const Cta& cta, std::uint32_t offset) {
  const int written = cta.warpgroups.swizzles.at(offset);
  if (written == WrittenSwizzles::kUnknown || Swizzle(written) == p.fields.swizzle) return;
  constexpr const char* kNames[] = {"no", "the 32-byte", "the 64-byte", "the 128-byte"};
  fail(cudaErrorLaunchFailure, p.pc,
       "descriptor of %s, 0x%016llx, has %s swizzle, but a tensor copy wrote 16 bytes at offset %u "
       "with %s swizzle; expected the same",
       p.name, static_cast<unsigned long long>(p.bits), kNames[int(p.fields.swizzle)], offset,
       kNames[written]);
}

// Contiguous pieces, in either direction, are judged at once.
class Judge {
 public:
  Judge(Thread* threads, const Place& p) : threads_(threads), name_{}, place_(p) {
    std::snprintf(name_, sizeof(name_), "wgmma.mma_async (%s)", p.name);
  }
  void add(std::uint32_t offset, std::uint32_t first_warp, std::uint32_t last_warp) {
    const bool same = first_warp == first_warp_ && last_warp == last_warp_;
    if (same && offset == end_) {
      end_ += kChunkBytes;
    } else if (same && offset + kChunkBytes == begin_) {
      begin_ = offset;
    } else {
      flush();
      begin_ = offset;
      end_ = offset + kChunkBytes;
      first_warp_ = first_warp;
      last_warp_ = last_warp;
    }
  }
  // The first lane stands for its warp.
  void flush() {
    if (begin_ == end_) return;
    for (std::uint32_t w = first_warp_; w <= last_warp_; ++w) {
      Thread& t = threads_[w * kLanes];
      const Access stamp =
          Access::pack(t.cta->incarnation, t.warp->clock.clock, t.index, 0, false, false);
      check_async_shared(&t, t.cta, begin_, end_ - begin_,
                         {.stamp = stamp, .proxy = true, .name = name_, .pc = place_.pc});
    }
    begin_ = end_ = 0;
  }

 private:
  Thread* threads_;
  char name_[32];
  const Place& place_;
  std::uint32_t begin_ = 0, end_ = 0, first_warp_ = 0, last_warp_ = 0;
};

}  // namespace

void find_operand(Thread* threads, std::uint64_t descriptor, Major major, MmaInput type, int rows,
                  const char* name, const void* pc, std::vector<std::uint32_t>* chunks) {
  const Place p{name, descriptor, descriptor_fields(MatrixDescriptor{descriptor}), pc};
  check_fields(p, major);
  const auto es = std::uint32_t(bytes_of(type));
  const bool is_a = name[0] == 'A';
  Judge judge(threads, p);
  const auto add = [&](std::uint32_t mn, std::uint32_t k) {
    const std::uint32_t offset = element_address(p.fields, major, es, mn, k);
    check_inside(p, offset);
    check_swizzle(p, *threads->cta, offset);
    const std::uint32_t warp = mn / 16;  // of A, a warp reads its own 16 rows
    judge.add(offset, is_a ? warp : 0, is_a ? warp : kWarpsOfGroup - 1);
    chunks->push_back(offset);
  };
  chunks->reserve(std::size_t(rows) * 2);
  if (major == Major::k) {
    for (int r = 0; r < rows; ++r) {
      add(std::uint32_t(r), 0);
      add(std::uint32_t(r), kChunkBytes / es);
    }
  } else {
    for (std::uint32_t k = 0; k < kWgmmaRowBytes / es; ++k) {
      for (int r = 0; r < rows; r += kElementsOfChunk) add(std::uint32_t(r), k);
    }
  }
  judge.flush();
}

void load_operand(const unsigned char* shared, const std::vector<std::uint32_t>& chunks,
                  Major major, int rows, unsigned char* bytes) {
  if (major == Major::k) {
    for (const std::uint32_t offset : chunks) {
      std::memcpy(bytes, shared + offset, kChunkBytes);
      bytes += kChunkBytes;
    }
    return;
  }
  const std::uint32_t* offset = chunks.data();
  for (int k = 0; k < kWgmmaRowBytes / 2; ++k) {
    for (int r = 0; r < rows; r += kElementsOfChunk, ++offset) {
      for (int i = 0; i < kElementsOfChunk; ++i) {
        std::memcpy(bytes + (r + i) * kWgmmaRowBytes + 2 * k, shared + *offset + 2 * i, 2);
      }
    }
  }
}

}  // namespace libkernels::emulator
