#include "kernels/ptx/emu/fiber.h"

#include <sys/mman.h>

#include <cstring>

#if LK_EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if LK_EMU_OWN_SWITCH
extern "C" void lk_emu_switch(void** save, void* load);
#endif

namespace libkernels::emulator {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kSlotBytes = kGuardBytes + kStackBytes;
constexpr int kStacksPerMapping = 64;

}  // namespace

void fiber_prepare(Fiber* fiber, char* stack, void (*entry)()) {
  fiber->stack = stack;
#if LK_EMU_ASAN
  ASAN_UNPOISON_MEMORY_REGION(stack, kStackBytes);  // what an abandoned fiber left behind
  fiber->fake_stack = nullptr;
  fiber->bottom = stack;
  fiber->bytes = kStackBytes;
#endif
#if LK_EMU_OWN_SWITCH
  // What lk_emu_switch pops: six registers and the return address; then a null return address for
  // debuggers, which leaves the stack aligned as after a call.
  constexpr int kPopped = 6;
  auto* top = reinterpret_cast<void**>(stack + kStackBytes);
  void** sp = top - (kPopped + 2);
  std::memset(sp, 0, (kPopped + 2) * sizeof(void*));
  sp[kPopped] = reinterpret_cast<void*>(entry);
  fiber->sp = sp;
#else
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = stack;
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, entry, 0);
#endif
}

void fiber_switch(Fiber* from, Fiber* to) {
#if LK_EMU_ASAN
  __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#endif
#if LK_EMU_OWN_SWITCH
  lk_emu_switch(&from->sp, to->sp);
#else
  swapcontext(&from->context, &to->context);
#endif
#if LK_EMU_ASAN
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

void fiber_started([[maybe_unused]] Fiber* starter) {
#if LK_EMU_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &starter->bottom, &starter->bytes);
#endif
}

char* StackPool::take() {
  if (free_.empty() && !grow()) return nullptr;
  char* stack = free_.back();
  free_.pop_back();
  return stack;
}

bool StackPool::is_guard(const char* stack, const void* p) {
  const auto* address = static_cast<const char*>(p);
  return address < stack && address >= stack - kGuardBytes;
}

bool StackPool::grow() {
  void* mapping = mmap(nullptr, kStacksPerMapping * kSlotBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  for (int i = kStacksPerMapping - 1; i >= 0; --i) {
    char* slot = static_cast<char*>(mapping) + i * kSlotBytes;
    if (mprotect(slot, kGuardBytes, PROT_NONE) != 0) return false;
    free_.push_back(slot + kGuardBytes);
  }
  return true;
}

}  // namespace libkernels::emulator
