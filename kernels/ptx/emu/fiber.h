// Fibers: one CUDA thread each, switched by hand on one OS thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Our own switch where we have one; LK_EMU_UCONTEXT asks for the slow, portable one.
#if defined(__x86_64__) && !defined(LK_EMU_UCONTEXT)
#define LK_EMU_OWN_SWITCH 1
#else
#define LK_EMU_OWN_SWITCH 0
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define LK_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LK_EMU_ASAN 1
#endif
#endif
#if !defined(LK_EMU_ASAN)
#define LK_EMU_ASAN 0
#endif

namespace libkernels::emulator {

// Enough for a kernel's locals and for the C library's mathematics.
inline constexpr std::size_t kStackBytes = 64 * 1024;

// What is saved of a fiber, or of the thread that runs them, while another one runs.
struct Fiber {
#if LK_EMU_OWN_SWITCH
  void* sp = nullptr;
#else
  ucontext_t context;
#endif
  char* stack = nullptr;  // lowest byte; null for the OS thread's own stack
#if LK_EMU_ASAN
  void* fake_stack = nullptr;
  const void* bottom = nullptr;  // as the sanitizer sees it
  std::size_t bytes = 0;
#endif
};

// Makes *fiber start at `entry`, which must never return, when it is first switched to.
void fiber_prepare(Fiber* fiber, char* stack, void (*entry)());

// Continues *to; returns when something switches back to *from.
void fiber_switch(Fiber* from, Fiber* to);

// The first thing that `entry` does, told who switched to it.
void fiber_started(Fiber* starter);

// Stacks with a guard page below each, kept for the next launch. The last one given back, which is
// warm in the caches, is the next one taken.
class StackPool {
 public:
  // Lowest byte of a stack of kStackBytes; null if memory ran out.
  char* take();
  void give_back(char* stack) { free_.push_back(stack); }
  // Is p in the guard page below this stack?
  static bool is_guard(const char* stack, const void* p);

 private:
  bool grow();
  std::vector<char*> free_;
};

}  // namespace libkernels::emulator
