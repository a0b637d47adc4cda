// Runs a grid: which CTAs are resident, and which warp runs next.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "kernels/ptx/emu/async_state.h"
#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {

LK_EMU_TLS Thread* current_thread = nullptr;

Machine& machine() {
  static auto* m = new Machine;  // never destroyed: other statics may still launch
  return *m;
}

uint3 thread_idx() { return current_thread->idx; }
uint3 block_idx() { return current_thread->cta->idx; }
dim3 block_dim() { return machine().launch.request.block; }
dim3 grid_dim() { return machine().launch.request.grid; }

// ---- CTAs -------------------------------------------------------------------------------------

namespace {

// mmap instead of new: untouched pages cost nothing, and the start is aligned to a page.
void* map_zeroed(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

constexpr std::size_t kShadowBytes = kSharedBytes / RaceCell::kBytes * sizeof(RaceCell);

}  // namespace

Cta::Cta() : shared_written(kSharedBytes / 8) {
  shared = static_cast<unsigned char*>(map_zeroed(kSharedBytes));
  shared_shadow = static_cast<RaceCell*>(map_zeroed(kShadowBytes));
  if (!shared || !shared_shadow) throw std::bad_alloc();
}

Cta::~Cta() {
  munmap(shared, kSharedBytes);
  munmap(shared_shadow, kShadowBytes);
}

namespace {

// Everything that differs from one CTA of a launch to the next.
void reset_cta(Cta* cta, const Launch& launch, std::uint64_t linear, std::uint32_t incarnation) {
  if (cta->async) cta->async->reset();
  cta->has_mbarriers = false;
  const dim3 grid = launch.request.grid, block = launch.request.block;
  cta->linear = linear;
  cta->idx = {unsigned(linear % grid.x), unsigned(linear / grid.x % grid.y),
              unsigned(linear / grid.x / grid.y)};
  cta->incarnation = incarnation;
  cta->live = launch.threads;
  cta->runnable = std::uint32_t((std::uint64_t(1) << launch.warps) - 1);
  cta->spinning = cta->waits_outside = 0;
  cta->polling = false;
  cta->grid_waits.clear();
  for (; cta->barriers_used; cta->barriers_used &= cta->barriers_used - 1)
    cta->barriers[std::countr_zero(cta->barriers_used)] = Barrier{};
  std::memset(cta->shared, 0xff, launch.request.smem);
  std::memset(cta->shared_written.data(), 0, (launch.request.smem + 7) / 8);
  cta->in_flight.reset();
  cta->warpgroups.reset();
  for (std::uint32_t w = 0; w < launch.warps; ++w) {
    Warp& warp = cta->warps[w];
    const std::uint32_t count = std::min(kLanes, launch.threads - w * kLanes);
    warp.cta = cta;
    warp.index = w;
    warp.lanes = std::uint32_t((std::uint64_t(1) << count) - 1);
    warp.runnable = warp.lanes;
    warp.spinning = warp.exited = warp.in_barrier = warp.in_cluster_barrier = 0;
    warp.cluster_relaxed = false;
    if (warp.gathering) std::fill_n(warp.gatherings, kLanes, Gathering{});
    warp.gathering = 0;
    warp.clock.reset();
  }
  uint3 idx{0, 0, 0};
  for (std::uint32_t i = 0; i < launch.threads; ++i) {
    Thread& t = cta->threads[i];
    t.cta = cta;
    t.warp = &cta->warps[i / kLanes];
    t.index = i;
    t.lane = i % kLanes;
    t.idx = idx;
    t.state = State::fresh;
    t.accesses = 0;
    t.polled = nullptr;
    t.learned.reset();
    t.copies.reset();
    t.wgmma.reset();
    t.fenced_shared = t.fenced_global = 0;
    t.fenced_known.reset();
    t.cluster_phase = t.cluster_waited = 0;
    t.waited_for_grid = t.polls_mbarrier = false;
    if (++idx.x == block.x) idx.x = 0, ++idx.y;
    if (idx.y == block.y) idx.y = 0, ++idx.z;
  }
}

// ---- Fibers -----------------------------------------------------------------------------------

void leave_for_scheduler(Thread* t) { fiber_switch(&t->fiber, &machine().scheduler); }

[[noreturn]] void fiber_main() {
  Machine& m = machine();
  fiber_started(&m.scheduler);
  Thread* t = current_thread;
  try {
    m.launch.request.invoke(m.launch.request.argument);
  } catch (...) {
    fail(cudaErrorLaunchFailure, nullptr, "the kernel threw a C++ exception");
  }
  leave_warp(t, "exited");
  leave_warpgroup(t);
  exit_async(t);
  t->state = State::exited;
  leave_for_scheduler(t);
  __builtin_unreachable();
}

// Runs one thread until it blocks, exits or faults.
void resume(Thread* t) {
  Machine& m = machine();
  if (t->state == State::fresh) {
    char* stack = m.stacks.take();
    if (!stack) return record_cta_fault(*t->cta, "the emulator ran out of memory for stacks");
    t->stack = reinterpret_cast<std::uintptr_t>(stack);
    fiber_prepare(&t->fiber, stack, &fiber_main);
  }
  t->state = State::running;
  current_thread = t;
  fiber_switch(&m.scheduler, &t->fiber);
  current_thread = nullptr;
  if (m.signal.number) return record_signal(t);
  if (t->state != State::exited) return;
  m.stacks.give_back(reinterpret_cast<char*>(t->stack));
  t->stack = 0;
  t->warp->exited |= 1u << t->lane;
  --t->cta->live;
  m.launch.idle = 0;
  if (m.launch.counting && t->warp->exited == t->warp->lanes) flush_logs(t->warp);
}

}  // namespace

void block(Thread* t, State state) {
  t->state = state;
  leave_for_scheduler(t);
}

void make_way(Thread* t, const void* pc, bool polls) {
  // What a poll takes, in accesses: two switches, and threads whose stacks are cold.
  constexpr std::uint64_t kPollCost = 16;
  Launch& l = machine().launch;
  l.idle += polls ? kPollCost : kAccessesPerTurn;
  l.spinner = t;
  t->warp->spinning |= 1u << t->lane;
  t->cta->spinning |= 1u << t->warp->index;
  t->cta->polling |= polls;
  t->pc = pc;
  block(t, State::spinning);
}

void wake(Warp* warp, std::uint32_t lanes) {
  if (!lanes) return;
  warp->runnable |= lanes;
  warp->cta->runnable |= 1u << warp->index;
}

// ---- The order of things ----------------------------------------------------------------------

namespace {

// Fibers that may exist at once: the kernel's limit on mappings is 65530, and a stack takes two.
constexpr std::uint64_t kMaxFibers = 24 * 1024;

// CTAs that the device holds at once (the occupancy calculator's rules, without registers).
std::uint64_t resident_ctas(const Launch& launch) {
  const DeviceProperties& p = current_profile();
  constexpr std::size_t kReserved = 1024, kGranule = 128;
  const std::size_t smem = (launch.request.smem + kReserved + kGranule - 1) / kGranule * kGranule;
  const std::uint64_t threads = launch.warps * kLanes;
  std::uint64_t per_sm = std::min<std::uint64_t>(p.max_ctas_per_sm, p.max_threads_per_sm / threads);
  per_sm = std::max<std::uint64_t>(1, std::min<std::uint64_t>(per_sm, p.smem_per_sm / smem));
  // Whole clusters, at least one.
  const std::uint64_t most = std::min({per_sm * p.sm_count, kMaxFibers / threads, launch.ctas});
  const std::uint64_t cluster = volume(launch.request.cluster);
  return std::max<std::uint64_t>(1, most / cluster) * cluster;
}

// The CTA's place in the grid: clusters count like CTAs, and CTAs within a cluster.
std::uint64_t linear_cta(const Launch& launch, std::uint64_t cluster, std::uint32_t rank) {
  const dim3 grid = launch.request.grid, dim = launch.request.cluster;
  const std::uint64_t nx = grid.x / dim.x, ny = grid.y / dim.y;
  const std::uint64_t x = cluster % nx * dim.x + rank % dim.x;
  const std::uint64_t y = cluster / nx % ny * dim.y + rank / dim.x % dim.y;
  const std::uint64_t z = cluster / nx / ny * dim.z + rank / dim.x / dim.y;
  return (z * grid.y + y) * grid.x + x;
}

class Scheduler {
 public:
  explicit Scheduler(Launch* launch)
      : launch_(*launch),
        completion_(settings().completion),
        state_(settings().seed),
        cluster_size_(std::uint32_t(volume(launch->request.cluster))),
        limit_(resident_ctas(*launch)) {}

  void run() {
    while (launch_.fault.error == cudaSuccess) {
      start_some();
      if (active_.empty()) return;
      const std::size_t at = next_turn();
      Cta* cta = active_[at];
      if (cta->runnable == 0) {
        if (progress_anywhere()) continue;
        if (launch_.fault.error == cudaSuccess) {
          record_stuck_grid(active_, launch_.ctas - started_ * cluster_size_);
        }
        return;
      }
      run_slice(cta);
      if (launch_.fault.error != cudaSuccess) return;
      if (cta->live == 0) {
        retire(at);
        continue;
      }
      land_copies(cta);
      if (launch_.fault.error != cudaSuccess) return;
      if (cta->runnable == 0 && cta->waits_outside == 0) {
        record_stuck_cta(*cta);
      } else if (launch_.idle > settings().patience && !may_start()) {
        record_stuck_grid(active_, launch_.ctas - started_ * cluster_size_);
      }
    }
  }

  // Abandons whatever still runs.
  void clean_up() {
    active_.insert(active_.end(), finished_.begin(), finished_.end());
    finished_.clear();
    for (Cta* cta : active_) {
      for (Thread& t : cta->threads) {
        if (t.stack) machine().stacks.give_back(reinterpret_cast<char*>(t.stack));
        t.stack = 0;
        t.log.clear();
      }
      machine().spare.emplace_back(cta);
    }
    active_.clear();
  }

 private:
  bool may_start() const {
    return active_.size() + finished_.size() + cluster_size_ <= limit_ &&
           started_ * cluster_size_ < launch_.ctas;
  }

  // All that the device holds. Late: one cluster, when those before it have finished or cannot go
  // on; it runs next. Its stacks are then those of a CTA that has finished, and warm.
  void start_some() {
    while (may_start()) {
      const std::size_t first = active_.size();
      start();
      if (completion_ != Completion::late) continue;
      turn_ = first;
      return;
    }
  }

  void start() {
    Machine& m = machine();
    const std::uint64_t number = next_cluster();
    const std::uint32_t first = m.next_incarnation;
    Cluster* cluster = nullptr;
    for (std::uint32_t rank = 0; rank < cluster_size_; ++rank) {
      if (m.spare.empty()) m.spare.push_back(std::make_unique<Cta>());
      Cta* cta = m.spare.back().release();
      m.spare.pop_back();
      active_.push_back(cta);
      reset_cta(cta, launch_, linear_cta(launch_, number, rank), m.next_incarnation++);
      if (completion_ == Completion::random || cluster_size_ > 1) {
        launch_.cta_of_incarnation.push_back(std::uint32_t(cta->linear));
      }
      if (rank == 0) cluster = begin_cluster(cta, launch_, number);
      cta->rank = rank;
      cta->cluster = cluster;
      cta->first_incarnation = first;
      cluster->ctas.push_back(cta);
    }
  }

  // A CTA's shared memory outlives it for as long as its cluster runs.
  void retire(std::size_t at) {
    Cta* cta = active_[at];
    if (launch_.request.pdl && cta->grid_waits.empty()) {
      return record_cta_fault(*cta,
                              "launched with pdl, but no thread executed griddepcontrol.wait");
    }
    active_.erase(active_.begin() + std::ptrdiff_t(at));
    if (turn_ > at) --turn_;
    if (--cta->cluster->unfinished) return finished_.push_back(cta);
    for (Cta* peer : cta->cluster->ctas) {
      std::erase(finished_, peer);
      machine().spare.emplace_back(peer);
    }
  }

  // Late: when somebody waits for them and the CTA has done what it can. Random: now and then, too.
  void land_copies(Cta* cta) {
    constexpr std::uint64_t kChance = 4;
    if (completion_ == Completion::random && random(kChance) == 0) {
      land_any(cta->cluster, draw_);
    }
    if (cta->runnable == 0 || cta->polls_mbarrier) {
      progress(cta->cluster, completion_ == Completion::random ? &draw_ : nullptr);
    }
    cta->polls_mbarrier = false;
  }

  bool progress_anywhere() {
    bool woke = false;
    for (Cta* cta : active_) {
      woke |= progress(cta->cluster, completion_ == Completion::random ? &draw_ : nullptr);
      if (launch_.fault.error != cudaSuccess) return false;
    }
    return woke;
  }

  // Which of the active CTAs runs now: one that can, if there is any. Random stays with one for a
  // while: the stacks of all of them do not fit into caches.
  std::size_t next_turn() {
    constexpr std::uint64_t kTurns = 32;
    const bool drawn = completion_ == Completion::random;
    if (drawn && (turn_ >= active_.size() || random(kTurns) == 0)) turn_ = random(active_.size());
    for (std::size_t tries = 0; tries < active_.size(); ++tries, ++turn_) {
      if (turn_ >= active_.size()) turn_ = 0;
      if (active_[turn_]->runnable) break;
    }
    if (turn_ >= active_.size()) turn_ = 0;
    return drawn ? turn_ : turn_++;
  }

  // In order, or drawn from the next few.
  std::uint64_t next_cluster() {
    const std::uint64_t clusters = launch_.ctas / cluster_size_;
    constexpr std::size_t kWindow = 64;
    if (completion_ != Completion::random) return started_++;
    while (window_.size() < kWindow && window_end_ < clusters) window_.push_back(window_end_++);
    std::swap(window_[random(window_.size())], window_.back());
    const std::uint64_t drawn = window_.back();
    window_.pop_back();
    ++started_;
    return drawn;
  }

  // Late: until all wait or poll, but not forever. Else one round.
  void run_slice(Cta* cta) {
    // Others may have to run for a CTA to go on; most that make many accesses just do.
    constexpr int kRounds = 16;
    for (int round = 0; round < kRounds; ++round) {
      run_round(cta);
      const bool polling = cta->polling;
      wake_spinning(cta);
      if (completion_ != Completion::late || polling || cta->runnable == 0) return;
      if (launch_.fault.error != cudaSuccess) return;
    }
  }

  // Late: until all wait or have made way. Eager: each warp once, then the next CTA's turn. Random:
  // one warp.
  void run_round(Cta* cta) {
    if (completion_ == Completion::random) return run_warp(cta, pick_bit(cta->runnable));
    std::uint32_t turn = cta->runnable;
    while (turn && launch_.fault.error == cudaSuccess) {
      run_warp(cta, std::uint32_t(std::countr_zero(turn)));
      turn = completion_ == Completion::late ? cta->runnable : turn & (turn - 1);
    }
  }

  // Late: until all lanes wait, have made way or have exited. Else each lane once, so that warps
  // interleave at every collective.
  void run_warp(Cta* cta, std::uint32_t index) {
    Warp& warp = cta->warps[index];
    std::uint32_t turn = warp.runnable;
    while (turn && launch_.fault.error == cudaSuccess) {
      const std::uint32_t lane = completion_ == Completion::random
                                     ? pick_bit(turn)
                                     : std::uint32_t(std::countr_zero(turn));
      warp.runnable &= ~(1u << lane);
      resume(&cta->threads[index * kLanes + lane]);
      turn = completion_ == Completion::late ? warp.runnable : turn & ~(1u << lane);
    }
    if (!warp.runnable) cta->runnable &= ~(1u << index);
  }

  void wake_spinning(Cta* cta) {
    for (; cta->spinning; cta->spinning &= cta->spinning - 1) {
      Warp& warp = cta->warps[std::countr_zero(cta->spinning)];
      // All its lanes have done what they can: a good time to empty the logs of those that spin.
      if (launch_.counting) flush_logs(&warp);
      wake(&warp, warp.spinning);
      warp.spinning = 0;
    }
    cta->polling = false;
  }

  std::uint64_t random(std::uint64_t below) {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
  }
  std::uint32_t pick_bit(std::uint32_t bits) {
    for (std::uint64_t skip = random(std::uint64_t(std::popcount(bits))); skip; --skip)
      bits &= bits - 1;
    return std::uint32_t(std::countr_zero(bits));
  }

  Launch& launch_;
  const Completion completion_;
  std::uint64_t state_;
  const std::uint32_t cluster_size_;
  const std::uint64_t limit_;
  std::vector<Cta*> active_;
  std::vector<Cta*> finished_;  // while peers of their clusters run
  const std::function<std::uint64_t(std::uint64_t)> draw_ = [this](std::uint64_t n) {
    return random(n);
  };
  std::size_t turn_ = 0;
  std::uint64_t started_ = 0;  // clusters
  std::uint64_t window_end_ = 0;
  std::vector<std::uint64_t> window_;
};

}  // namespace

void run_grid(Launch* launch) {
  Scheduler scheduler(launch);
  try {
    const SignalGuard guard;
    scheduler.run();
  } catch (const std::bad_alloc&) {
    launch->fault.error = cudaErrorMemoryAllocation;
    launch->fault.text = "the emulator ran out of memory";
  }
  scheduler.clean_up();
}

}  // namespace libkernels::emulator
