// What the emulator must say of each broken kernel around wgmma, besides the kernel's name.
#pragma once

#include <vector>

#include "tests/kernels/ptx/emu_fault_hopper_expect.h"

namespace libkernels::test {

inline const std::vector<HopperExpected>& wgmma_expectations() {
  static const std::vector<HopperExpected> all = {
      {"missing_first_fence",
       false,
       {"without wgmma.fence; expected one before the first product"}},
      {"missing_fence_after_write",
       true,
       {"registers of D were accessed after the last wgmma.fence", "expected a wgmma.fence"}},
      {"accumulator_read_before_wait",
       true,
       {"register 0 of D is read before the product that writes it is done",
        "expected wgmma.wait_group"}},
      {"accumulator_written_before_wait", true, {"register 5 of D", "written before"}},
      {"a_written_before_wait", true, {"register 2 of A", "written before"}},
      {"missing_commit", true, {"expected wgmma.commit_group and wgmma.wait_group"}},
      {"waits_for_the_older_group", true, {"register 0 of D is read before"}},
      {"missing_wait_at_exit",
       false,
       {"exited with 1 products of wgmma in flight; expected wgmma.wait_group before the exit"}},
      {"other_shape_in_flight", false, {"not waited for, writes in another shape"}},
      {"non_uniform_descriptor",
       false,
       {"the descriptor of B is 0x", "expected the same in all 128 threads of the warpgroup"}},
      {"missing_warp", false, {"warp 3", "exited", "expected all four warps"}},
      {"warp_at_a_barrier",
       false,
       {"deadlock", "wait in wgmma.wait_group for a wgmma.mma_async that 96 of 128 threads",
        "warp 3 wait in bar.sync 0"}},
      {"divergent_multiply", false, {"expected all 128 threads of the warpgroup at the same"}},
      {"registers_differ", false, {"expected the same instruction in all four"}},
      {"registers_beyond_the_launch", false, {"setmaxnreg.inc 256: more than the CTA has, 248"}},
      {"registers_increase_downwards",
       false,
       {"setmaxnreg.inc 120: the warpgroup has 128 registers a thread; expected at least as many"}},
      {"missing_proxy_fence",
       true,
       {"missing proxy fence: wgmma.mma_async (B) reads",
        "expected fence.proxy.async.shared::cta"}},
      {"proxy_fence_of_one_thread", true, {"missing proxy fence: wgmma.mma_async (B) reads"}},
      {"missing_barrier_after_fill", true, {"race on shared memory: wgmma.mma_async (B) reads"}},
      {"unwritten_operand", true, {"uninitialised shared memory"}},
      {"copy_not_waited_for", true, {"race on shared memory: wgmma.mma_async (B) reads"}},
      {"operand_overwritten_in_flight",
       true,
       {"which a wgmma.mma_async in flight reads",
        "expected wgmma.wait_group by all four warps before the buffer is reused"}},
      {"operand_free_for_one_warp", true, {"shared memory"}},
      {"stage_released_before_wait", true, {"which a wgmma.mma_async in flight reads"}},
      {"descriptor_past_end", false, {"descriptor of B, 0x", "bytes of the CTA's shared memory"}},
      {"tile_amid_the_pattern", false, {"amid the pattern of the 128-byte swizzle"}},
      {"step_leaves_the_row", false, {"leave the row"}},
      {"wrong_swizzle",
       true,
       {"has the 64-byte swizzle, but a tensor copy wrote", "with the 128-byte swizzle"}},
      {"no_swizzle", true, {"has no swizzle, but a tensor copy wrote"}},
  };
  return all;
}

}  // namespace libkernels::test
