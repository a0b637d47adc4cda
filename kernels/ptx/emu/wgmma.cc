// Products of warpgroups: how the threads issue them and wait for them.
#include "kernels/ptx/emu/wgmma.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/emu/state.h"
#include "kernels/ptx/emu/wgmma_operand.h"
#include "kernels/ptx/emu/wgmma_tile.h"

namespace libkernels::emulator {
namespace {

constexpr char kName[] = "wgmma.mma_async";
constexpr std::uint32_t kPoison = 0x7fedcba9;  // a NaN: what D holds before the wait
constexpr int kRegisterBytes = 4, kARegisters = 4;

Warpgroup& warpgroup_of(const Thread& t) {
  return t.cta->warpgroups.groups[t.index / kThreadsOfGroup];
}
std::uint32_t thread_in_group(const Thread& t) { return t.index % kThreadsOfGroup; }
Thread* first_of_group(const Thread& t) {
  return t.cta->threads + t.index / kThreadsOfGroup * kThreadsOfGroup;
}

void require_sm90a(const char* name, const void* pc) {
  const DeviceProperties& p = current_profile();
  if (p.cc_major == 9 && p.cc_minor == 0) return;
  fail(cudaErrorLaunchFailure, pc, "%s needs sm_90a; the emulated device is %d.%d", name,
       p.cc_major, p.cc_minor);
}

// ---- Registers --------------------------------------------------------------------------------

// Where v of D lies, of thread t of the group: wgmma.cuh has the table.
std::size_t place_of(std::uint32_t t, std::uint32_t v, int n) {
  const std::uint32_t warp = t / kLanes, lane = t % kLanes;
  const std::uint32_t row = 16 * warp + lane / 4 + 8 * (v / 2 % 2);
  return row * std::size_t(n) + 8 * (v / 4) + 2 * (lane % 4) + v % 2;
}

void gather(const float* registers, std::uint32_t t, WgmmaSums* sums) {
  for (std::uint32_t v = 0; v < std::uint32_t(sums->n) / 2; v += 2) {
    std::memcpy(&sums->d[place_of(t, v, sums->n)], registers + v, 2 * sizeof(float));
  }
}
void scatter(const WgmmaSums& sums, std::uint32_t t, float* registers) {
  for (std::uint32_t v = 0; v < std::uint32_t(sums.n) / 2; v += 2) {
    std::memcpy(registers + v, &sums.d[place_of(t, v, sums.n)], 2 * sizeof(float));
  }
}

void poison(float* registers, int n) {
  std::fill_n(registers, n / 2, std::bit_cast<float>(kPoison));
}

// In all types a register holds 4 bytes of a row of 32.
void gather_a(const std::uint32_t* registers, std::uint32_t t, unsigned char* bytes) {
  const std::uint32_t warp = t / kLanes, lane = t % kLanes;
  for (std::uint32_t i = 0; i < kARegisters; ++i) {
    const std::uint32_t row = 16 * warp + lane / 4 + 8 * (i % 2);
    std::memcpy(bytes + row * kWgmmaRowBytes + 4 * (lane % 4) + 16 * (i / 2), registers + i,
                kRegisterBytes);
  }
}

void check_on_stack(const Thread& t, std::uintptr_t begin, std::size_t bytes, const char* which,
                    const void* pc) {
  if (begin - t.stack < kStackBytes && bytes <= kStackBytes - (begin - t.stack)) return;
  fail(cudaErrorLaunchFailure, pc, "%s: %s is no array of local variables, which registers are",
       kName, which);
}

void check_fenced(const Thread& t, std::uintptr_t begin, std::size_t bytes, const char* which,
                  const void* pc) {
  if (!t.wgmma->touched(begin - t.stack, bytes)) return;
  fail(cudaErrorLaunchFailure, pc,
       "%s: registers of %s were accessed after the last wgmma.fence; expected a wgmma.fence "
       "between",
       kName, which);
}

// The running product that adds up in these registers, or null if they are free.
HeldRegisters* find_held(Thread* t, std::uintptr_t begin, std::size_t bytes, const void* pc) {
  for (HeldRegisters& h : t->wgmma->held) {
    if (!h.overlaps(begin, bytes)) continue;
    if (h.sums && h.begin == begin && h.bytes == bytes) return &h;
    fail(cudaErrorLaunchFailure, pc,
         "%s: registers of D overlap those that an earlier product, not waited for, %s in another "
         "shape; expected wgmma.wait_group and wgmma.fence between",
         kName, h.sums ? "writes" : "reads");
  }
  return nullptr;
}

// ---- Issue ------------------------------------------------------------------------------------

[[noreturn]] void fail_mismatch(const Thread& t, const WgmmaProduct& p, const char* what,
                                std::uint64_t mine, std::uint64_t other, const void* pc) {
  fail(cudaErrorLaunchFailure, pc,
       "%s: %s is 0x%llx in warp %u, lane %u, but 0x%llx in warp %u, lane %u; expected the same in "
       "all 128 threads of the warpgroup",
       kName, what, static_cast<unsigned long long>(mine), t.warp->index, t.lane,
       static_cast<unsigned long long>(other), p.first->warp->index, p.first->lane);
}

void check_uniform(const Thread& t, const WgmmaProduct& p, const WgmmaProduct& mine) {
  if (p.form != mine.form || (machine().launch.request.hooked && p.pc != mine.pc)) {
    char where[kPlaceBytes];
    copy_place(p.pc, where);
    fail(
        cudaErrorLaunchFailure, mine.pc,
        "%s: warp %u, lane %u issued its own with another shape or at another place of the program "
        "(%s); expected all 128 threads of the warpgroup at the same instruction",
        kName, p.first->warp->index, p.first->lane, where);
  }
  if (p.a != mine.a) fail_mismatch(t, p, "the descriptor of A", mine.a, p.a, mine.pc);
  if (p.b != mine.b) fail_mismatch(t, p, "the descriptor of B", mine.b, p.b, mine.pc);
  if (p.scale_d != mine.scale_d) {
    fail_mismatch(t, p, "scale-d", mine.scale_d, p.scale_d, mine.pc);
  }
  if (p.continues != mine.continues) {
    fail(cudaErrorLaunchFailure, mine.pc,
         "%s: only some threads of the warpgroup have waited for the product before it", kName);
  }
}

bool completes_early(std::uint64_t number) {
  const Settings& s = settings();
  if (s.completion != Completion::random) return s.completion == Completion::eager;
  std::uint64_t z = (s.seed + number) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
  return z >> 63;
}

void compute(Warpgroup* group, std::uint64_t number, const Cta& cta) {
  static WgmmaOperand a, b;  // launches are serialised
  WgmmaProduct& p = group->at(number);
  unsigned char bytes[kWgmmaMaxN * kWgmmaRowBytes];
  if (!p.form.a_in_registers) {
    load_operand(cta.shared, p.a_chunks, p.form.major_a, kWgmmaM, bytes);
  }
  a.decode(p.form.a, p.form.a_in_registers ? p.a_bytes.data() : bytes, kWgmmaM);
  load_operand(cta.shared, p.b_chunks, p.form.major_b, p.form.n, bytes);
  b.decode(p.form.b, bytes, p.form.n);
  wgmma_tile(wgmma_numerics(p.form.a), a, b, p.scale_d, p.sums->d.data());
  p.computed = true;
}

void compute_up_to(Warpgroup* group, std::uint64_t end, const Cta& cta) {
  for (std::uint64_t i = group->first; i < end; ++i) {
    if (!group->at(i).computed) compute(group, i, cta);
  }
}

// All threads have issued it.
void begin_product(Thread* last, Warpgroup* group, std::uint64_t number) {
  WgmmaProduct& p = group->at(number);
  Cta* cta = last->cta;
  Thread* threads = first_of_group(*last);
  if (!p.form.a_in_registers) {
    find_operand(threads, p.a, p.form.major_a, p.form.a, kWgmmaM, "A", p.pc, &p.a_chunks);
    cta->warpgroups.pinned.pin(p.a_chunks);
  }
  find_operand(threads, p.b, p.form.major_b, p.form.b, p.form.n, "B", p.pc, &p.b_chunks);
  cta->warpgroups.pinned.pin(p.b_chunks);
  group->count = number + 1;
  if (machine().launch.counting) {
    machine().counters.mma_flops += 2 * std::uint64_t(kWgmmaM) * std::uint64_t(p.form.n) *
                                    std::uint64_t(wgmma_numerics(p.form.a).block);
  }
  const bool early = completes_early(number);
  if (early) compute_up_to(group, number + 1, *cta);
  for (std::uint32_t i = 0; i < kThreadsOfGroup; ++i) {
    Thread& t = threads[i];
    for (const HeldRegisters& h : t.wgmma->held) {
      if (h.sums != p.sums) continue;
      if (early) scatter(*h.sums, i, reinterpret_cast<float*>(h.begin));
      if (!early && p.sums->shown) poison(reinterpret_cast<float*>(h.begin), p.form.n);
    }
    if (t.state == State::in_wgmma && t.wgmma->target <= group->count) wake(t.warp, 1u << t.lane);
  }
  p.sums->shown = early;
}

}  // namespace

void wgmma_mma_async(const WgmmaForm& form, float* d, std::uint64_t a,
                     const std::uint32_t* a_registers, std::uint64_t b, bool scale_d) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  require_sm90a(kName, pc);
  check_warpgroup(*t, kName, pc);
  machine().launch.idle = 0;
  if (!t->wgmma || !t->wgmma->fenced) {
    fail(cudaErrorLaunchFailure, pc,
         "%s without wgmma.fence; expected one before the first product", kName);
  }
  WgmmaThread& mine = *t->wgmma;
  const auto begin = reinterpret_cast<std::uintptr_t>(d);
  const std::size_t bytes = std::size_t(form.n) / 2 * sizeof(float);
  check_on_stack(*t, begin, bytes, "D", pc);
  HeldRegisters* held = find_held(t, begin, bytes, pc);
  if (!held) check_fenced(*t, begin, bytes, "D", pc);
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a_registers);
  if (a_registers) {
    check_on_stack(*t, a_begin, kARegisters * kRegisterBytes, "A", pc);
    check_fenced(*t, a_begin, kARegisters * kRegisterBytes, "A", pc);
  }

  Warpgroup& group = warpgroup_of(*t);
  const std::uint64_t number = mine.issued++;
  WgmmaProduct now;
  now.pc = pc;
  now.form = form;
  now.a = a;
  now.b = b;
  now.scale_d = scale_d;
  now.continues = held != nullptr;
  now.first = t;
  if (number == group.first + group.products.size()) {
    if (held) {
      now.sums = held->sums;
    } else {
      now.sums = std::make_shared<WgmmaSums>();
      now.sums->n = form.n;
      now.sums->d.resize(std::size_t(kWgmmaM * form.n));
    }
    if (a_registers) now.a_bytes.resize(kWgmmaM * kWgmmaRowBytes);
    group.products.push_back(std::move(now));
  } else {
    check_uniform(*t, group.at(number), now);
  }
  WgmmaProduct& p = group.at(number);
  if (held) {
    held->last = number;
  } else {
    gather(d, thread_in_group(*t), p.sums.get());
    mine.held.push_back({begin, bytes, number, p.sums, {}});
    poison(d, form.n);
  }
  if (a_registers) {
    gather_a(a_registers, thread_in_group(*t), p.a_bytes.data());
    mine.held.push_back({a_begin, kARegisters * kRegisterBytes, number, nullptr, {}});
    std::memcpy(mine.held.back().a, a_registers, sizeof(HeldRegisters::a));
  }
  if (++p.issued == kThreadsOfGroup) begin_product(t, &group, number);
}

void check_warpgroup(const Thread& t, const char* name, const void* pc) {
  const std::uint32_t first = t.index / kThreadsOfGroup * kThreadsOfGroup;
  const std::uint32_t threads = machine().launch.threads;
  if (first + kThreadsOfGroup > threads) {
    fail(cudaErrorLaunchFailure, pc,
         "%s: the warpgroup of this thread has only %u threads; expected 128 from a warp whose "
         "index is divisible by 4",
         name, threads - first);
  }
  for (std::uint32_t w = first / kLanes; w < first / kLanes + kWarpsOfGroup; ++w) {
    if (!t.cta->warps[w].exited) continue;
    fail(cudaErrorLaunchFailure, pc,
         "%s: threads of warp %u of this warpgroup have exited; expected all four warps", name, w);
  }
}

// ---- Groups -----------------------------------------------------------------------------------

std::uint32_t shared_address(const void* p) {
  const auto offset = reinterpret_cast<std::uintptr_t>(p) -
                      reinterpret_cast<std::uintptr_t>(current_thread->cta->shared);
  if (offset < kSharedBytes) return std::uint32_t(offset);
  fail(cudaErrorIllegalAddress, __builtin_return_address(0),
       "a matrix descriptor of %p; expected the CTA's shared memory", p);
}

void wgmma_fence() {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  require_sm90a("wgmma.fence", pc);
  check_warpgroup(*t, "wgmma.fence", pc);
  if (!t->wgmma) t->wgmma = std::make_unique<WgmmaThread>();
  t->wgmma->fenced = true;
  t->wgmma->clear_touched();
}

void wgmma_commit_group() {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  require_sm90a("wgmma.commit_group", pc);
  if (!t->wgmma) t->wgmma = std::make_unique<WgmmaThread>();
  t->wgmma->committed = t->wgmma->issued;
  t->wgmma->groups.push_back(t->wgmma->committed);
}

namespace {

// The thread's registers of products below `end` are its own again.
void deliver(Thread* t, std::uint64_t end, const void* pc) {
  auto& held = t->wgmma->held;
  for (HeldRegisters& h : held) {
    if (h.last >= end) continue;
    // Compilers leave some accesses of local variables without a hook.
    auto* registers = reinterpret_cast<float*>(h.begin);
    for (std::uint32_t v = 0; v < h.bytes / kRegisterBytes; ++v) {
      const std::uint32_t expected = h.sums ? kPoison : h.a[v];
      if ((h.sums && h.sums->shown) || std::bit_cast<std::uint32_t>(registers[v]) == expected) {
        continue;
      }
      fail(cudaErrorLaunchFailure, pc,
           "register %u of %s was written before the wgmma.wait_group that its %s needs; expected "
           "the wait first",
           v, h.sums ? "D" : "A", kName);
    }
    if (!h.sums) continue;
    scatter(*h.sums, thread_in_group(*t), registers);
  }
  std::erase_if(held, [&](const HeldRegisters& h) { return h.last < end; });
}

// Products that all have waited for are forgotten. Their operands are free before: the wait is
// aligned, so with its first lane a warp has waited.
void release(Thread* t, std::uint64_t end) {
  constexpr std::uint32_t kAllWarps = (1u << kWarpsOfGroup) - 1;
  Warpgroup& group = warpgroup_of(*t);
  for (std::uint64_t i = t->wgmma->waited; i < end; ++i) {
    WgmmaProduct& p = group.at(i);
    ++p.waited;
    const std::uint32_t warp = 1u << t->warp->index % kWarpsOfGroup;
    if (p.warps_waited & warp) continue;
    p.warps_waited |= warp;
    if (p.warps_waited != kAllWarps) continue;
    t->cta->warpgroups.pinned.unpin(p.a_chunks);
    t->cta->warpgroups.pinned.unpin(p.b_chunks);
  }
  t->wgmma->waited = end;
  while (!group.products.empty() && group.products.front().waited == kThreadsOfGroup) {
    group.products.pop_front();
    ++group.first;
  }
}

}  // namespace

void wgmma_wait_group(int pending) {
  const void* pc = __builtin_return_address(0);
  Thread* t = current_thread;
  require_sm90a("wgmma.wait_group", pc);
  if (!t->wgmma) return;
  WgmmaThread& mine = *t->wgmma;
  if (mine.groups.size() <= std::size_t(pending)) return;
  const std::size_t done = mine.groups.size() - std::size_t(pending);
  const std::uint64_t end = mine.groups[done - 1];
  mine.groups.erase(mine.groups.begin(), mine.groups.begin() + std::ptrdiff_t(done));
  if (end <= mine.waited) return;
  Warpgroup& group = warpgroup_of(*t);
  if (group.count < end) {
    mine.target = end;
    t->pc = pc;
    block(t, State::in_wgmma);
  }
  compute_up_to(&group, end, *t->cta);
  deliver(t, end, pc);
  release(t, end);
}

// ---- The end ----------------------------------------------------------------------------------

void leave_warpgroup(Thread* t) {
  const Warpgroup& group = warpgroup_of(*t);
  const std::uint64_t issued = t->wgmma ? t->wgmma->issued : 0;
  if (issued < group.first + group.products.size()) {
    const WgmmaProduct& p = group.products[std::size_t(issued - group.first)];
    fail(cudaErrorLaunchFailure, p.pc,
         "warp %u, lane %u exited without the %s that warp %u, lane %u has issued; expected all "
         "four warps of the warpgroup",
         t->warp->index, t->lane, kName, p.first->warp->index, p.first->lane);
  }
  if (t->wgmma && t->wgmma->waited < issued) {
    fail(
        cudaErrorLaunchFailure, nullptr,
        "a thread exited with %llu products of wgmma in flight; expected %swgmma.wait_group before "
        "the exit",
        static_cast<unsigned long long>(t->wgmma->issued - t->wgmma->waited),
        t->wgmma->committed < t->wgmma->issued ? "wgmma.commit_group and " : "");
  }
}

void describe_wgmma_wait(const Thread& t, char* text, std::size_t size) {
  const Warpgroup& group = warpgroup_of(t);
  const std::uint64_t next = group.count;
  const bool known = next - group.first < group.products.size();
  std::snprintf(text, size,
                "wait in wgmma.wait_group for a %s that %u of 128 threads of the warpgroup have "
                "issued",
                kName, known ? group.products[std::size_t(next - group.first)].issued : 0);
}

void WarpgroupStates::reset() {
  for (Warpgroup& g : groups) {
    if (g.first || !g.products.empty() || g.registers || g.arrived) g = Warpgroup{};
  }
  pinned.reset();
  swizzles.reset();
}

}  // namespace libkernels::emulator
