// The state of a running launch: CTAs, warps, threads and what they wait for. Internal to the core.
#pragma once

#include <cuda_runtime.h>
#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/ptx/emu/core.h"
#include "kernels/ptx/emu/cp_async.h"
#include "kernels/ptx/emu/emulator.h"
#include "kernels/ptx/emu/fiber.h"
#include "kernels/ptx/emu/memory.h"
#include "kernels/ptx/emu/race.h"
#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::emulator {

inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kMaxWarps = 32;
inline constexpr std::uint32_t kMaxThreads = kLanes * kMaxWarps;
inline constexpr std::uint32_t kBarriers = 16;
inline constexpr std::size_t kSharedBytes = 227 * 1024;  // what a CTA can address

struct Cta;
struct Warp;
struct Cluster;   // async_state.h
struct CtaAsync;  // async_state.h

// ---- Counting (Settings::count) ---------------------------------------------------------------

// One access of one lane, kept until its warp synchronises.
struct LoggedAccess {
  const void* pc;
  std::uintptr_t address;
  std::uint16_t bytes;
  bool shared, write;
};

// ---- Threads ----------------------------------------------------------------------------------

enum class State : std::uint8_t {
  fresh,
  running,
  spinning,
  in_collective,
  in_barrier,
  in_wgmma,
  in_setmaxnreg,
  in_mbarrier,
  in_cluster_barrier,
  exited
};

// Accesses after which a thread makes way for others: it may wait for what they store.
inline constexpr std::uint64_t kAccessesPerTurn = 1 << 12;

struct Thread {
  Fiber fiber;
  std::uintptr_t stack = 0;  // lowest byte; 0 before the first run and after the exit
  std::uint64_t accesses = 0;
  Cta* cta = nullptr;
  Warp* warp = nullptr;
  uint3 idx{};
  std::uint32_t index = 0;  // in the CTA
  std::uint32_t lane = 0;
  State state = State::fresh;

  // What it waits in.
  Collective op{};
  std::uint32_t barrier = 0;
  std::uint32_t membermask = 0;
  const void* pc = nullptr;
  std::uint32_t value = 0, argument = 0, result = 0;
  void* payload = nullptr;                 // operands and results of a wider collective
  std::uint32_t mbarrier = 0, parity = 0;  // the offset in shared memory
  bool polls_mbarrier = false;             // test_wait, in vain

  // Accesses up to these clocks the async proxy may see.
  std::uint32_t fenced_shared = 0, fenced_global = 0;
  Knowledge::Pointer fenced_known;   // what it knew of other CTAs at fence.proxy.async.global
  std::uint64_t cluster_phase = 0;   // of barrier.cluster that it arrived for, plus 1; 0: none
  std::uint64_t cluster_waited = 0;  // phases of barrier.cluster that it knows to be over
  bool waited_for_grid = false;      // griddepcontrol.wait is ordered before what it does

  // Its last ld.acquire: the same once more is a poll.
  const void* polled = nullptr;
  std::uint64_t polled_value = 0;
  Knowledge::Pointer learned;  // from the last one

  AsyncCopies copies;
  std::unique_ptr<WgmmaThread> wgmma;  // from its first wgmma.fence on
  std::vector<LoggedAccess> log;
};

// ---- Warps ------------------------------------------------------------------------------------

// A collective that some lanes have reached and others have not. Kept at the index of its lowest
// lane: masks of concurrent collectives are disjoint.
struct Gathering {
  std::uint32_t membermask = 0;  // 0: none
  std::uint32_t arrived = 0;
  Collective op{};
  const void* pc = nullptr;
};

struct Warp {
  Cta* cta = nullptr;
  std::uint32_t index = 0;
  std::uint32_t lanes = 0;  // that exist
  std::uint32_t runnable = 0;
  std::uint32_t spinning = 0;  // made way, and have not been made runnable again
  std::uint32_t exited = 0;
  std::uint32_t gathering = 0;           // lanes that some unfinished collective names
  std::uint32_t in_barrier = 0;          // lanes that wait in bar.sync
  std::uint32_t in_cluster_barrier = 0;  // lanes that arrived in barrier.cluster, in this phase
  bool cluster_relaxed = false;          // some of them with .relaxed
  Gathering gatherings[kLanes];
  WarpClock clock;
};

// ---- CTAs -------------------------------------------------------------------------------------

struct Barrier {
  std::uint32_t expected = 0;  // threads; 0: nobody has arrived
  std::uint32_t arrived = 0;
  std::uint32_t waiting[kMaxWarps] = {};  // lanes of each warp in bar.sync
  std::uint32_t came[kMaxWarps] = {};     // lanes of each warp in either form
  const void* pc[kMaxWarps] = {};
  ReleasedClock released;  // what bar.arrive published
};

struct Cta {
  uint3 idx{};
  std::uint64_t linear = 0;
  std::uint32_t incarnation = 0;  // names this CTA in Access
  std::uint32_t live = 0;         // threads that have not exited
  std::uint32_t runnable = 0;     // warps with runnable lanes
  std::uint32_t spinning = 0;     // warps with spinning lanes
  bool polling = false;           // one of them polls
  // Threads that wait for what peers of its cluster may bring. While there are any, its own waits
  // alone are no deadlock.
  std::uint32_t waits_outside = 0;
  std::vector<Access> grid_waits;  // griddepcontrol.wait
  std::uint32_t rank = 0;
  Cluster* cluster = nullptr;
  std::unique_ptr<Cluster> own_cluster;  // which the CTA of rank 0 lends
  std::uint32_t first_incarnation = 0;   // of the cluster's CTAs
  bool has_mbarriers = false;
  bool polls_mbarrier = false;  // a test_wait was in vain
  std::unique_ptr<CtaAsync> async;
  std::uint32_t barriers_used = 0;
  unsigned char* shared = nullptr;  // kSharedBytes, 1024-aligned
  RaceCell* shared_shadow = nullptr;
  std::vector<std::uint8_t> shared_written;  // a bit per byte
  BytesInFlight in_flight{kSharedBytes};
  WarpgroupStates warpgroups{kSharedBytes};
  Barrier barriers[kBarriers];
  Warp warps[kMaxWarps];
  Thread threads[kMaxThreads];

  Cta();
  ~Cta();
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;
};

// ---- The launch -------------------------------------------------------------------------------

struct Fault {
  cudaError_t error = cudaSuccess;
  std::string text;
  const Thread* thread = nullptr;  // whose fault it is; null: a whole CTA's
  const Cta* cta = nullptr;
  const void* pc = nullptr;
};

struct Launch {
  LaunchRequest request;
  std::uint32_t threads = 0;  // per CTA
  std::uint32_t warps = 0;
  std::uint64_t ctas = 0;
  std::uint32_t first_incarnation = 0;
  bool race_checks = true;
  bool counting = false;
  Fault fault;
  std::vector<std::uint32_t> cta_of_incarnation;  // only if CTAs start out of order
  std::uint64_t idle = 0;           // accesses of spinning threads since anybody stored or exited
  const Thread* spinner = nullptr;  // the last one to make way
  std::uint64_t bulk_stores = 0;    // issued
  std::unordered_map<const void*, Knowledge::Pointer> released;  // by st.release, at its address
};

// Everything that outlives a launch. Guarded by the launch mutex.
struct Machine {
  Launch launch;
  Fiber scheduler;
  struct {
    int number = 0;
    const void* address = nullptr;
    const void* pc = nullptr;
  } signal;  // caught while a fiber ran
  StackPool stacks;
  std::vector<std::unique_ptr<Cta>> spare;
  std::uint32_t next_incarnation = 1;
  LastLaunch last;
  Counters counters;
};
Machine& machine();

// The running CUDA thread; null outside kernels. Per OS thread: instrumented host code of any
// thread comes through the hooks too.
#define LK_EMU_TLS thread_local __attribute__((tls_model("initial-exec")))
extern LK_EMU_TLS Thread* current_thread;

// ---- Between the parts ------------------------------------------------------------------------

// Runs all of it, or until a fault; abandons what still runs then.
void run_grid(Launch* launch);

inline std::uint64_t volume(dim3 d) { return std::uint64_t(d.x) * d.y * d.z; }

// Ends the launch; the calling fiber never continues. printf-style, so that no object is left
// behind on the abandoned stack.
[[noreturn]] void fail(cudaError_t error, const void* pc, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// The same from the scheduler, about a CTA.
void record_cta_fault(const Cta& cta, const std::string& text);
void record_thread_fault(const Thread& thread, const void* pc, const std::string& text);

// Gives the OS thread to the scheduler until someone makes this thread runnable.
void block(Thread* thread, State state);
void wake(Warp* warp, std::uint32_t lanes);
// Lets other threads go first; this one stays runnable.
void make_way(Thread* thread, const void* pc, bool polls);

// Judges an access of the running thread, and remembers it.
void check_access(Thread* thread, Space space, const void* p, std::size_t bytes, bool write,
                  const void* pc);
// The same for bytes of the CTA's shared memory, or of a peer's.
void check_shared(Thread* thread, Cta* cta, std::size_t offset, std::size_t bytes, bool write,
                  const void* pc);
void check_written(const Cta& cta, std::size_t offset, std::size_t bytes, const void* pc);
void mark_written(Cta* cta, std::size_t offset, std::size_t bytes);
// An ordinary access to a live mbarrier is a fault.
void check_no_mbarrier(const Cta& cta, std::size_t offset, std::size_t bytes, bool write,
                       const void* pc);
// The shadow of a buffer of global memory; null: its races cannot be judged.
RaceCell* shadow_of(Region* region);
// A kernel launched with pdl touches global memory after griddepcontrol.wait alone.
void check_waited_for_grid(Thread* thread, const void* pc);

// What a thread's release publishes, and what an acquire of it adds.
Knowledge::Pointer release(Thread* thread);
void learn(Thread* thread, const Knowledge::Pointer& what);

// The thread's last act. Faults if it leaves asynchronous work behind.
void exit_async(Thread* thread);
std::uint64_t cta_of(const Access& access);  // its number in the grid
// "CTA (0, 0, 0), thread (1, 0, 0)", or the asynchronous work that the access belongs to.
void describe_access(const Thread& thread, const Access& access, char* text, std::size_t size);

// The thread goes where it cannot take part in collectives; those that wait for it are faults.
void leave_warp(Thread* thread, const char* how);
void describe_lanes(std::uint32_t lanes, char* text, std::size_t size);
const char* name_of(Collective op);

// Nobody in this CTA can go on, and nobody outside of it can help: where its threads are.
void record_stuck_cta(const Cta& cta);
// Nobody in the grid can go on, or nobody gets anywhere.
void record_stuck_grid(const std::vector<Cta*>& resident, std::uint64_t not_started);

// st.release and ld.acquire at an address: what the one knows the other learns.
void release_at(Thread* thread, const void* address);
void acquire_at(Thread* thread, const void* address);
// Is a remembered access ordered before whatever `thread` does now?
bool ordered_before(const Access& access, const Thread& thread);
// Checks and updates the cells of bytes [offset, offset + bytes); offsets count from the cells. A
// null region is the CTA's shared memory.
void check_races(Thread* thread, RaceCell* cells, std::size_t offset, std::size_t bytes, bool write,
                 Space space, const void* pc, const Region* region);

void log_access(Thread* thread, std::uintptr_t address, std::size_t bytes, bool shared, bool write,
                const void* pc);
void flush_logs(Warp* warp);

// Catches SIGSEGV and its like while it lives: a fiber that raises one switches to the scheduler
// for good, with Machine::signal set.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  stack_t former_stack_{};
};
// Turns what the handler caught into the launch's fault.
void record_signal(Thread* thread);

// "kernel_name<...>", or "function+0x12": from the program's symbol table.
std::string name_kernel(const void* address);
std::string name_pc(const void* pc);

void set_last_fault(std::string text);

}  // namespace libkernels::emulator
