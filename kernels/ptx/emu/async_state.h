// The state of what runs asynchronously, and of clusters. Internal to the core.
//
// A copy is issued by a thread and lands later: when a thread waits for it (late), at once (eager),
// or at a drawn moment. The races it may take part in are judged in every order alike, by clocks:
// what a copy touches is stamped with an agent of its CTA, a virtual thread that stands for an
// mbarrier's phases or for a thread's bulk groups; who observes the phase or waits for the group
// learns of the agent's work, and nobody else knows of it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ptx/emu/async.h"
#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {

// ---- mbarriers --------------------------------------------------------------------------------

struct MbarrierState {
  std::uint32_t offset = 0;  // in shared memory
  bool live = false;
  std::uint32_t expected = 0, pending = 0;
  std::int64_t tx = 0;
  std::uint64_t phase = 0;
  std::uint32_t agent = 0;
  Access init{};                    // who initialised it
  bool fenced_for_cluster = false;  // fence.mbarrier_init since
  std::uint64_t fence_phase = 0;  // of barrier.cluster, to whose end even relaxed arrivals carry it
  bool fenced_for_copies = false;  // that, or fence.proxy.async
  std::uint32_t in_flight = 0;     // copies that will land on it
  std::uint64_t landed = 0;        // the phase of the last landing, plus 1
  std::uint64_t observed = 0;      // phases that some wait has seen complete
  bool polled = false;             // by test_wait, in vain
  Knowledge::Pointer arriving;     // what the arrivals of this phase release
  Knowledge::Pointer completed;    // and those of all earlier ones
  std::vector<Thread*> waiting;
};

// ---- Copies -----------------------------------------------------------------------------------

// A row of a box: contiguous on both sides but for the swizzle. What lies outside the tensor is
// zero when loaded, and not stored.
struct Row {
  std::uint32_t shared = 0;  // offset
  std::uint32_t bytes = 0;
  std::uint32_t first = 0, valid = 0;  // bytes [first, first + valid) are inside the tensor
  std::uintptr_t global = 0;           // of the first of them; or an address in shared memory
};

struct AsyncOp {
  enum class Kind : std::uint8_t { load, cluster_copy, store_async, store };
  Kind kind{};
  Cta* target = nullptr;  // whose shared memory it writes or (store) reads
  MbarrierState* bar = nullptr;
  Thread* issuer = nullptr;
  const void* pc = nullptr;
  const char* name = "";
  std::uint32_t bytes = 0;  // that bar counts
  std::uint8_t swizzle = 0;
  bool tensor = false;          // a tensor copy
  bool rounds_to_tf32 = false;  // a load
  std::vector<Row> rows;
  std::vector<unsigned char> data;  // what has been read already
};

// Of one thread.
struct BulkGroups {
  std::uint32_t read_agent = 0, write_agent = 0;
  std::uint64_t committed = 0;  // groups
  std::uint64_t read_waited = 0, waited = 0;
  bool open = false;  // copies since the last commit
  struct Store {
    std::uint64_t group;
    AsyncOp op;
    bool read = false;
  };
  std::deque<Store> stores;  // not landed yet
  const void* last_pc = nullptr;
};

struct CtaAsync {
  static constexpr std::uint32_t kNone = 0;
  // mbarriers, from 1; slots[offset / 8] is an index or kNone. Deque: ops point to them.
  std::deque<MbarrierState> bars = std::deque<MbarrierState>(1);
  std::vector<std::uint16_t> slots = std::vector<std::uint16_t>(kSharedBytes / 8);
  std::vector<std::unique_ptr<BulkGroups>> groups;  // by thread; null: none
  std::vector<std::uint32_t>
      agent_of;  // what an agent stands for: an mbarrier, or a thread's stores
  // The last access of each peer thread to this CTA's shared memory, by cta and thread: they must
  // be known to be over at the exit.
  std::unordered_map<std::uint64_t, Access> touched;
  Knowledge::Pointer exit_known;  // what the threads that have exited know

  void reset();
};

// ---- Clusters ---------------------------------------------------------------------------------

struct Cluster {
  std::vector<Cta*> ctas;  // by rank
  uint3 idx{};
  std::uint32_t unfinished = 0;  // CTAs
  std::uint32_t live = 0;        // threads
  std::uint64_t phase = 0;       // of barrier.cluster
  std::uint32_t arrived = 0;
  Knowledge::Pointer arriving, released;
  std::vector<AsyncOp> pending;
};

// ---- Between the parts ------------------------------------------------------------------------

// A new agent's number; kBlindAgent when there are too many, whose work is not judged. `what` is an
// offset of an mbarrier, or kStoresOf | a thread.
std::uint32_t new_agent(Cta* cta, std::uint32_t what);
inline constexpr std::uint32_t kStoresOf = 1u << 31;
inline constexpr std::uint32_t kBlindAgent = (1u << Access::kThreadBits) - 1;
inline constexpr std::uint32_t kInFlight = Access::kMaxClock - 1;
Access agent_access(const Cta& cta, std::uint32_t agent, std::uint64_t clock, bool write);
// What who observes the agent's work up to `clock` learns.
Knowledge::Pointer agent_knowledge(const Cta& cta, std::uint32_t agent, std::uint64_t clock);

// Judges what the copy engine (or wgmma, through the async proxy) does for thread t to bytes of
// target's shared memory, and stamps it. Reads must find written bytes.
struct AsyncAccess {
  Access stamp{};
  bool proxy = true;  // the async one: what generic stores left has to be fenced
  const char* name = "";
  const void* pc = nullptr;
};
void check_async_shared(Thread* t, Cta* target, std::uint32_t offset, std::uint32_t bytes,
                        const AsyncAccess& access);
void check_async_global(Thread* t, std::uintptr_t address, std::size_t bytes,
                        const AsyncAccess& access);
// The same bytes have landed: the stamp's clock becomes the phase's.
void restamp_shared(Cta* target, std::uint32_t offset, std::uint32_t bytes, Access in_flight,
                    Access landed);

// An empty operation to fill in and issue. Not on the stack: a fault abandons that as it is.
AsyncOp& new_op(AsyncOp::Kind kind, Thread* issuer, const char* name, const void* pc);
// Issues a copy that lands on an mbarrier; or a store of the thread's open bulk group.
void issue(AsyncOp& op);
// The same into the CTAs of the mask (kOwnCta: the thread's), each with its mbarrier at the offset.
void issue_load(AsyncOp& op, std::uint32_t bar, std::uint32_t cta_mask);
void issue_store(AsyncOp& op);
// Lands copies until that wakes somebody of the cluster: those that somebody waits for, the newest
// first; or any, as drawn. False: it cannot.
using Draw = std::function<std::uint64_t(std::uint64_t below)>;
bool progress(Cluster* cluster, const Draw* draw);
void land_any(Cluster* cluster, const Draw& draw);
// All of the thread's stores, at the latest when it exits.
void land_stores(Thread* t);
Cluster* begin_cluster(Cta* first, const Launch& launch, std::uint64_t number);

// The offset of a pointer into the CTA's shared memory; a fault if it is not one.
std::uint32_t shared_offset(Thread* t, const void* p, std::uint32_t bytes, std::uint32_t alignment,
                            const char* name, const void* pc);
// Who accesses a peer's shared memory: the thread, which the peer must then not outlive unordered,
// or an asynchronous copy, which has landed once somebody there has waited for it.
enum class By { thread, copy };
// What a shared::cluster address means; a fault if the peer may not be touched now.
struct Remote {
  Cta* cta;
  std::uint32_t offset;
};
Remote remote_address(Thread* t, std::uint32_t address, std::uint32_t bytes,
                      std::uint32_t alignment, const char* name, const void* pc,
                      By by = By::thread);
// The peer's side of that, for an access at a known offset.
void check_peer(Thread* t, Cta* peer, const char* name, const void* pc, By by = By::thread);

// The live mbarrier at the offset, initialised before thread t uses it; else a fault.
enum class MbarrierUse { own, remote, copy };
MbarrierState& find_mbarrier(Thread* t, Cta* cta, std::uint32_t offset, MbarrierUse use,
                             const char* name, const void* pc);
// A copy's bytes have landed. From the scheduler too; false after a fault.
bool complete_tx(Cta* cta, MbarrierState* bar, std::uint32_t bytes, const AsyncOp& op);

// The CTA's asynchronous state, made at its first use.
CtaAsync& async_of(Cta* cta);
BulkGroups& bulk_groups(Thread* t);

// A fault of the thread that issued a copy, from its fiber or from the scheduler.
void fail_op(const AsyncOp& op, const char* format, ...) __attribute__((format(printf, 2, 3)));

// "the mbarrier at offset 8 (phase 0: 1 of 2 arrivals pending, 64 bytes to come)"
void describe(const MbarrierState& bar, char* text, std::size_t size);
inline constexpr std::size_t kDescription = 256;

}  // namespace libkernels::emulator
