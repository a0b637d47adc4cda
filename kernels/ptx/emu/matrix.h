// Instructions by which a warp moves and multiplies small matrices.
#pragma once

#include "kernels/ptx/emu/core.h"
#include "kernels/ptx/emu/mma_model.h"

namespace libkernels::emulator {

// count: 1, 2 or 4 matrices, of which the first so many registers hold a lane's share.
LK_EMU_CONVERGENT uint4 ldmatrix(const void* row, int count, bool trans);
LK_EMU_CONVERGENT void stmatrix(void* row, uint4 v, int count, bool trans);

// m16n8k: k columns of A. Registers that the shape does not have are ignored.
LK_EMU_CONVERGENT float4 mma_sync(MmaInput type, int k, uint4 a, uint2 b, float4 c);

// ---- Between warp.cc and these ----------------------------------------------------------------

struct Thread;

// A collective whose operands are wider than Thread::value: `payload` is the lane's, and stays
// where it is until all lanes have met. `argument` says which form, the same for all lanes.
LK_EMU_CONVERGENT void collective_matrix(Collective op, std::uint32_t argument, void* payload,
                                         const void* pc);
// All 32 lanes have met.
void complete_matrix(Collective op, Thread* lanes);

}  // namespace libkernels::emulator
