// Counts what the lanes of a warp access together: the k-th execution of a program counter by each
// lane, since their last synchronisation, is one request.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kSectorBytes = 32;
constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;
constexpr std::uint32_t kLineBytes = kBanks * kBankBytes;

// One instruction of a warp. A lane takes part at most once.
struct Request {
  std::uintptr_t address[kLanes] = {};
  std::uint16_t bytes[kLanes] = {};  // 0: not taking part
};

struct Site {
  bool shared = false, write = false;
  std::vector<Request> requests;
};

// Distinct values of what `granule` divides the accesses of lanes [first, last) into.
std::size_t distinct(const Request& r, std::uint32_t first, std::uint32_t last, std::size_t granule,
                     std::uintptr_t* values) {
  std::size_t count = 0;
  for (std::uint32_t lane = first; lane < last; ++lane) {
    if (!r.bytes[lane]) continue;
    const std::uintptr_t end = r.address[lane] + r.bytes[lane];
    for (std::uintptr_t v = r.address[lane] / granule; v * granule < end; ++v) values[count++] = v;
  }
  std::sort(values, values + count);
  return std::size_t(std::unique(values, values + count) - values);
}

// An access is at most 32 bytes and may straddle.
constexpr std::size_t kMostValues = kLanes * (32 / kBankBytes + 1);

void count_global(const Request& r, bool write, Counters* c) {
  std::uintptr_t values[kMostValues];
  const std::size_t sectors = distinct(r, 0, kLanes, kSectorBytes, values);
  std::uint64_t bytes = 0;
  for (std::uint16_t b : r.bytes) bytes += b;
  (write ? c->global_bytes_written : c->global_bytes_read) += bytes;
  (write ? c->global_write_requests : c->global_read_requests) += 1;
  (write ? c->global_write_sectors : c->global_read_sectors) += sectors;
}

// Passes for the lanes of one phase: the most distinct words that one bank has to deliver.
std::uint32_t passes(const Request& r, std::uint32_t first, std::uint32_t last) {
  std::uintptr_t words[kMostValues];
  const std::size_t count = distinct(r, first, last, kBankBytes, words);
  std::uint32_t load[kBanks] = {}, most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, ++load[words[i] % kBanks]);
  return most;
}

// Wide accesses go by half warps (8 bytes) or quarter warps (16 bytes): as many lanes at a time as
// 128 bytes serve.
void count_shared(const Request& r, bool write, Counters* c) {
  const std::uint32_t widest = std::max<std::uint32_t>(
      kBankBytes, *std::max_element(std::begin(r.bytes), std::end(r.bytes)));
  const std::uint32_t phase = std::max(1u, kLineBytes / widest);
  for (std::uint32_t first = 0; first < kLanes; first += phase) {
    const std::uint32_t n = passes(r, first, first + phase);
    c->shared_wavefronts += n;
    c->shared_bank_conflicts += n ? n - 1 : 0;
  }
  (write ? c->shared_write_requests : c->shared_read_requests) += 1;
}

}  // namespace

void log_access(Thread* t, std::uintptr_t address, std::size_t bytes, bool shared, bool write,
                const void* pc) {
  // A copy of a structure: as if by the widest instructions.
  constexpr std::size_t kWidest = 16;
  const bool one = bytes <= kWidest || bytes == 32;
  for (std::size_t at = 0; at < bytes; at += one ? bytes : kWidest) {
    const std::size_t n = one ? bytes : std::min(kWidest, bytes - at);
    t->log.push_back({pc, address + at, std::uint16_t(n), shared, write});
  }
}

void flush_logs(Warp* warp) {
  std::unordered_map<std::uintptr_t, Site> sites;
  std::unordered_map<std::uintptr_t, std::uint32_t> executed;
  Thread* lanes = &warp->cta->threads[warp->index * kLanes];
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    executed.clear();
    for (const LoggedAccess& a : lanes[lane].log) {
      // A copy reads and writes at one program counter.
      const std::uintptr_t key =
          reinterpret_cast<std::uintptr_t>(a.pc) * 4 + a.shared * 2 + a.write;
      Site& site = sites[key];
      site.shared = a.shared;
      site.write = a.write;
      const std::uint32_t k = executed[key]++;
      if (k >= site.requests.size()) site.requests.resize(k + 1);
      site.requests[k].address[lane] = a.address;
      site.requests[k].bytes[lane] = a.bytes;
    }
    lanes[lane].log.clear();
  }
  Counters& c = machine().counters;
  for (const auto& [key, site] : sites) {
    for (const Request& r : site.requests) {
      site.shared ? count_shared(r, site.write, &c) : count_global(r, site.write, &c);
    }
  }
}

Counters counters() { return machine().counters; }
void reset_counters() { machine().counters = {}; }
LastLaunch last_launch() { return machine().last; }

}  // namespace libkernels::emulator
