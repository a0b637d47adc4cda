// Memory that kernels may touch outside shared memory and their own stacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ptx/emu/race.h"

namespace libkernels::emulator {

// One range of legal addresses. Lives until it is freed; its shadow is mapped at first use.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool writable = true;
  bool device = true;       // global memory; false: read-only data of the program
  void* mapping = nullptr;  // of memory_allocate, guards included
  std::size_t mapped = 0;
  RaceCell* shadow = nullptr;  // one cell per 8 bytes, counted from `begin` rounded down
  bool shadow_tried = false;

  bool holds(std::uintptr_t a, std::size_t n) const {
    return a - begin < bytes && n <= bytes - (a - begin);
  }
};

// The region that holds byte a, or null. Remembers the last hits; for the running launch only.
Region* find_region(std::uintptr_t a);

// Maps the shadow; stays null if that fails, and races in the region go unseen.
void map_shadow(Region* region);

// Forgets every remembered access, so that incarnation numbers may start again.
void clear_all_shadows();

// Writes "7 bytes past the end of a buffer of 400 bytes at 0x..." for an illegal address.
void describe_address(std::uintptr_t a, char* text, std::size_t size);

// Forgets what was freed since the last launch.
void begin_launch();

}  // namespace libkernels::emulator
