// How a launch fails: by the core's judgement, or by a signal that the kernel raised.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

constexpr std::size_t kTextBytes = 2048;

// Nothing to destroy: a launch may come from the destructor of another thread_local. Longer texts
// are cut.
constexpr std::size_t kLastBytes = 16 * 1024;
constinit thread_local char last[kLastBytes] = {};

}  // namespace

std::string last_fault() { return last; }
void set_last_fault(std::string text) { last[text.copy(last, kLastBytes - 1)] = '\0'; }

void fail(cudaError_t error, const void* pc, const char* format, ...) {
  Thread* t = current_thread;
  char text[kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Machine& m = machine();
  Fault& fault = m.launch.fault;
  fault.error = error;
  fault.text = text;
  fault.thread = t;
  fault.cta = t->cta;
  fault.pc = pc;
  fiber_switch(&t->fiber, &m.scheduler);
  std::abort();  // nobody continues a faulted launch
}

void record_cta_fault(const Cta& cta, const std::string& text) {
  Fault& fault = machine().launch.fault;
  fault.error = cudaErrorLaunchFailure;
  fault.text = text;
  fault.cta = &cta;
}

void record_thread_fault(const Thread& thread, const void* pc, const std::string& text) {
  record_cta_fault(*thread.cta, text);
  machine().launch.fault.thread = &thread;
  machine().launch.fault.pc = pc;
}

// ---- Signals ----------------------------------------------------------------------------------

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kHandlerStackBytes = 64 * 1024;

struct sigaction previous[std::size(kSignals)];

const void* program_counter([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto* c = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(c->uc_mcontext.gregs[REG_RIP]);
#else
  return nullptr;
#endif
}

void on_signal(int number, siginfo_t* info, void* context) {
  if (!current_thread) {
    // Not a kernel's: whoever handled it before gets it when the instruction runs again.
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      if (kSignals[i] == number) sigaction(number, &previous[i], nullptr);
    }
    return;
  }
  Machine& m = machine();
  m.signal.number = number;
  m.signal.address = info->si_addr;
  m.signal.pc = program_counter(context);
  // Leaves the handler's stack for good; SA_NODEFER has kept the signal unblocked.
  fiber_switch(&current_thread->fiber, &m.scheduler);
}

}  // namespace

SignalGuard::SignalGuard() {
  static char* stack = static_cast<char*>(mmap(nullptr, kHandlerStackBytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = kHandlerStackBytes;
  sigaltstack(&alternative, &former_stack_);
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &previous[i], nullptr);
  }
  sigaltstack(&former_stack_, nullptr);
}

void record_signal(Thread* t) {
  Machine& m = machine();
  Fault& fault = m.launch.fault;
  const auto caught = m.signal;
  m.signal = {};
  char text[kTextBytes];
  fault.error = cudaErrorLaunchFailure;
  if (StackPool::is_guard(t->fiber.stack, caught.address)) {
    std::snprintf(text, sizeof(text), "stack overflow: a thread has %zu bytes of stack",
                  kStackBytes);
  } else if (caught.number == SIGSEGV || caught.number == SIGBUS) {
    fault.error = cudaErrorIllegalAddress;
    char where[512];
    describe_address(reinterpret_cast<std::uintptr_t>(caught.address), where, sizeof(where));
    std::snprintf(text, sizeof(text), "out of bounds: access at %p, %s", caught.address, where);
  } else {
    std::snprintf(text, sizeof(text), "%s",
                  caught.number == SIGFPE ? "integer division by zero or overflow"
                                          : "illegal instruction or trap");
  }
  fault.text = text;
  fault.thread = t;
  fault.cta = t->cta;
  fault.pc = caught.pc;
}

}  // namespace libkernels::emulator
