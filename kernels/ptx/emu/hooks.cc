// The hooks that -fsanitize=thread plants, answered by the emulator instead of libtsan; and the
// alignment checks of -fsanitize=alignment. Kernels' translation units are compiled with both
// (flags.cmake) and linked with neither runtime.
//
// Host code of those units, and inline functions that the linker took from them, come through here
// as well: outside a kernel every hook does nothing, quickly.
#include <cstdint>
#include <cstring>

#include "kernels/ptx/emu/state.h"

using libkernels::emulator::check_access;
using libkernels::emulator::current_thread;
using libkernels::emulator::fail;
using libkernels::emulator::Space;
using libkernels::emulator::Thread;

namespace {

[[gnu::always_inline]] inline void access(const void* p, std::size_t bytes, bool write,
                                          const void* pc) {
  if (Thread* t = current_thread) check_access(t, Space::generic, p, bytes, write, pc);
}

// For hooks that promise an aligned address.
[[gnu::always_inline]] inline void aligned(const void* p, std::size_t bytes, bool write,
                                           const void* pc) {
  Thread* t = current_thread;
  if (!t) return;
  check_access(t, Space::generic, p, bytes, write, pc);
  if (reinterpret_cast<std::uintptr_t>(p) % bytes == 0) return;
  fail(cudaErrorMisalignedAddress, pc,
       "misaligned: %s of %zu bytes at %p; expected a multiple of %zu", write ? "write" : "read",
       bytes, p, bytes);
}

}  // namespace

#define LK_PC __builtin_return_address(0)
#define LK_HOOKS(BYTES)                                                                   \
  void __tsan_read##BYTES(void* p) { aligned(p, BYTES, false, LK_PC); }                   \
  void __tsan_write##BYTES(void* p) { aligned(p, BYTES, true, LK_PC); }                   \
  void __tsan_volatile_read##BYTES(void* p) { aligned(p, BYTES, false, LK_PC); }          \
  void __tsan_volatile_write##BYTES(void* p) { aligned(p, BYTES, true, LK_PC); }          \
  void __tsan_unaligned_read##BYTES(void* p) { access(p, BYTES, false, LK_PC); }          \
  void __tsan_unaligned_write##BYTES(void* p) { access(p, BYTES, true, LK_PC); }          \
  void __tsan_unaligned_volatile_read##BYTES(void* p) { access(p, BYTES, false, LK_PC); } \
  void __tsan_unaligned_volatile_write##BYTES(void* p) { access(p, BYTES, true, LK_PC); } \
  void __tsan_read_write##BYTES(void* p) {                                                \
    aligned(p, BYTES, false, LK_PC);                                                      \
    aligned(p, BYTES, true, LK_PC);                                                       \
  }                                                                                       \
  void __tsan_unaligned_read_write##BYTES(void* p) {                                      \
    access(p, BYTES, false, LK_PC);                                                       \
    access(p, BYTES, true, LK_PC);                                                        \
  }

extern "C" {

LK_HOOKS(1)
LK_HOOKS(2)
LK_HOOKS(4)
LK_HOOKS(8)
LK_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_vptr_read(void** p) { access(p, sizeof(void*), false, LK_PC); }
void __tsan_vptr_update(void** p, void*) { access(p, sizeof(void*), true, LK_PC); }
void __tsan_read_range(void* p, std::size_t bytes) {
  if (bytes) access(p, bytes, false, LK_PC);
}
void __tsan_write_range(void* p, std::size_t bytes) {
  if (bytes) access(p, bytes, true, LK_PC);
}

// What builtins.h renames memcpy, memmove and memset to.
void* lk_emu_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes) access(from, bytes, false, LK_PC), access(to, bytes, true, LK_PC);
  return std::memmove(to, from, bytes);
}
void* lk_emu_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes) access(from, bytes, false, LK_PC), access(to, bytes, true, LK_PC);
  return std::memmove(to, from, bytes);
}
void* lk_emu_memset(void* to, int value, std::size_t bytes) {
  if (bytes) access(to, bytes, true, LK_PC);
  return std::memset(to, value, bytes);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  return lk_emu_memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  return lk_emu_memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) { return lk_emu_memset(to, value, n); }

}  // extern "C"

// ---- Atomics ----------------------------------------------------------------------------------

namespace {

// Kernels have no C++ atomics; host code of the same translation unit may (guards of statics).
void refuse_in_kernel(const void* pc) {
  if (current_thread) {
    fail(cudaErrorLaunchFailure, pc, "a C++ atomic operation, which is not supported in kernels");
  }
}

}  // namespace

// Always the strongest order: host code only, where it costs nothing that matters.
#define LK_ATOMIC_OP(T, BITS, NAME, BUILTIN)                \
  T __tsan_atomic##BITS##_##NAME(volatile T* p, T v, int) { \
    refuse_in_kernel(LK_PC);                                \
    return BUILTIN(p, v, __ATOMIC_SEQ_CST);                 \
  }
#define LK_ATOMICS(T, BITS)                                                                        \
  T __tsan_atomic##BITS##_load(const volatile T* p, int) {                                         \
    refuse_in_kernel(LK_PC);                                                                       \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##BITS##_store(volatile T* p, T v, int) {                                      \
    refuse_in_kernel(LK_PC);                                                                       \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  LK_ATOMIC_OP(T, BITS, exchange, __atomic_exchange_n)                                             \
  LK_ATOMIC_OP(T, BITS, fetch_add, __atomic_fetch_add)                                             \
  LK_ATOMIC_OP(T, BITS, fetch_sub, __atomic_fetch_sub)                                             \
  LK_ATOMIC_OP(T, BITS, fetch_and, __atomic_fetch_and)                                             \
  LK_ATOMIC_OP(T, BITS, fetch_or, __atomic_fetch_or)                                               \
  LK_ATOMIC_OP(T, BITS, fetch_xor, __atomic_fetch_xor)                                             \
  LK_ATOMIC_OP(T, BITS, fetch_nand, __atomic_fetch_nand)                                           \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {   \
    refuse_in_kernel(LK_PC);                                                                       \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {     \
    refuse_in_kernel(LK_PC);                                                                       \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }                                                                                                \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {         \
    refuse_in_kernel(LK_PC);                                                                       \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                               \
  }

extern "C" {

LK_ATOMICS(std::uint8_t, 8)
LK_ATOMICS(std::uint16_t, 16)
LK_ATOMICS(std::uint32_t, 32)
LK_ATOMICS(std::uint64_t, 64)
void __tsan_atomic_thread_fence(int) { refuse_in_kernel(LK_PC); }
void __tsan_atomic_signal_fence(int) {}

// ---- Alignment --------------------------------------------------------------------------------

// What the compilers pass (their runtimes' TypeMismatchData).
struct LkSourceLocation {
  const char* file;
  std::uint32_t line, column;
};
struct LkTypeDescriptor {
  std::uint16_t kind, info;
  char name[1];
};
struct LkTypeMismatch {
  LkSourceLocation location;
  const LkTypeDescriptor* type;
  unsigned char log2_alignment, check_kind;
};

// A dereference of a pointer that is not aligned for its type: what builtins.h renames
// __ubsan_handle_type_mismatch_v1_abort to.
void lk_emu_misaligned(const LkTypeMismatch* data, std::uintptr_t address) {
  if (!current_thread) return;
  fail(cudaErrorMisalignedAddress, LK_PC,
       "misaligned: dereference of %s at 0x%zx; expected a multiple of %u (%s:%u)",
       data->type->name, std::size_t(address), 1u << data->log2_alignment, data->location.file,
       data->location.line);
}

}  // extern "C"
