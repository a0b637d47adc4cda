// What the emulated instructions (emu/*.inl, builtins.h) call: the core's side of the front door.
//
// Everything here is compiled without instrumentation, and the program counter of an access or a
// collective is the return address of the call: hence the .inl bodies are always inlined.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

// Is this translation unit instrumented, so that plain loads and stores are seen?
#if defined(__SANITIZE_THREAD__)
#define LK_EMU_HOOKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LK_EMU_HOOKED 1
#endif
#endif
#if !defined(LK_EMU_HOOKED)
#define LK_EMU_HOOKED 0
#endif

// Lanes meet at one program counter: the compiler must not duplicate the call (gcc: flags.cmake).
#if defined(__clang__)
#define LK_EMU_CONVERGENT __attribute__((convergent))
#else
#define LK_EMU_CONVERGENT
#endif

namespace libkernels::emulator {

// ---- Who runs ---------------------------------------------------------------------------------

// By value, not by reference: a reference would make every use an instrumented load.
[[gnu::const]] uint3 thread_idx();
[[gnu::const]] uint3 block_idx();
[[gnu::const]] dim3 block_dim();
[[gnu::const]] dim3 grid_dim();

// ---- Memory -----------------------------------------------------------------------------------

enum class Space : std::uint8_t {
  generic,      // whatever the address says: a plain load or store
  global,       // ld.global, st.global
  global_nc,    // ld.global.nc: nobody may write it during the launch
  global_sync,  // ld.acquire, st.release, ld.relaxed, st.relaxed, atom
  shared,       // ld.shared, st.shared
};

// T: std::uint8_t, std::uint16_t, std::uint32_t, uint2, uint4. Aligned to sizeof(T), or a fault.
template <class T>
T load(Space space, const T* p);
template <class T>
void store(Space space, T* p, T v);

// The same for any size, through memory of the caller's stack.
void load_bytes(Space space, void* to, const void* p, std::size_t bytes);
void store_bytes(Space space, void* p, const void* from, std::size_t bytes);

// ld.acquire.gpu and st.release.gpu of global memory: the one that reads the other's value learns
// what that thread did and knew. Reading the same value again is a poll: other threads go first.
// T: std::uint32_t, std::uint64_t.
template <class T>
T load_acquire(const T* p);
template <class T>
void store_release(T* p, T v);

// ld.relaxed.gpu and st.relaxed.gpu: the same, but nobody learns anything. T: std::uint64_t.
template <class T>
T load_relaxed(const T* p);
template <class T>
void store_relaxed(T* p, T v);

// atom.add.relaxed.gpu of global memory: what a release left there stays to be acquired.
std::uint32_t fetch_add(std::uint32_t* p, std::uint32_t v);

// The CTA's dynamic shared memory, of which the kernel claims `bytes`.
[[gnu::pure]] void* dynamic_shared(std::size_t bytes);

// ---- Warps and CTAs ---------------------------------------------------------------------------

enum class Collective : std::uint8_t {
  shfl_bfly,
  shfl_idx,
  shfl_up,
  shfl_down,
  ballot,
  any,
  all,
  elect,
  sync_warp,
  ldmatrix,
  stmatrix,
  mma,
};

// Meets the other lanes of membermask; returns this lane's result.
LK_EMU_CONVERGENT std::uint32_t collective(Collective op, std::uint32_t value,
                                           std::uint32_t argument, std::uint32_t membermask);

LK_EMU_CONVERGENT void barrier_sync(std::uint32_t id, std::uint32_t threads);
LK_EMU_CONVERGENT void barrier_arrive(std::uint32_t id, std::uint32_t threads);
LK_EMU_CONVERGENT void barrier_sync_cta();  // __syncthreads(): bar.sync 0 over the whole CTA

void griddepcontrol_wait();
void griddepcontrol_launch_dependents();

// The emulated device must be of this generation to execute `instruction`; a fault otherwise.
void require_sm(int cc, const char* instruction);

// ---- Arithmetic -------------------------------------------------------------------------------

// Correctly rounded, or at the documented bound (Settings::worst_ulp).
float ex2_approx(float x);
float lg2_approx(float x);
float rcp_approx(float x);
float rsqrt_approx(float x);
float tanh_approx(float x);

float f32_from_f16(std::uint16_t bits);
std::uint16_t f16_from_f32(float x);   // to nearest even; NaN becomes 0x7fff
std::uint16_t bf16_from_f32(float x);  // to nearest even; NaN becomes 0x7fff

// ---- Launch -----------------------------------------------------------------------------------

struct LaunchRequest {
  dim3 grid, block, cluster;
  std::size_t smem = 0;
  bool pdl = false;
  bool hooked = false;                    // the kernel's translation unit is instrumented
  const void* kernel = nullptr;           // its address, to name it in faults
  void (*invoke)(const void*) = nullptr;  // runs one thread of it
  const void* argument = nullptr;         // for invoke
  const void* params = nullptr;           // the kernel's parameters: legal to read
  std::size_t params_bytes = 0;
};

// Checks the shape against the current profile, runs the whole grid and returns.
cudaError_t run(const LaunchRequest& request);

}  // namespace libkernels::emulator
