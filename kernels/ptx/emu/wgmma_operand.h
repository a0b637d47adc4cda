// Operands of wgmma in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::emulator {

// Where the 16-byte pieces of an operand lie: [rows, 2] K-major, [k, rows / 8] MN-major. Faults if
// the descriptor makes no sense, or if the warpgroup (its first thread is `threads`) may not read
// there now.
void find_operand(Thread* threads, std::uint64_t descriptor, Major major, MmaInput type, int rows,
                  const char* name, const void* pc, std::vector<std::uint32_t>* chunks);

// The bytes of an operand: [rows, 32].
void load_operand(const unsigned char* shared, const std::vector<std::uint32_t>& chunks,
                  Major major, int rows, unsigned char* bytes);

}  // namespace libkernels::emulator
