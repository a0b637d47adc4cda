// What the emulated instructions of sm_90 (mbarriers, bulk and tensor copies, clusters) call.
//
// As in core.h: compiled without instrumentation, and the program counter of an instruction is the
// return address of the call.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace libkernels::emulator {

// Addresses of the shared::cluster window are rank << kRankShift | offset, as mapa makes them.
inline constexpr std::uint32_t kRankShift = 24;

// ---- mbarriers --------------------------------------------------------------------------------

void mbarrier_init(const void* bar, std::uint32_t count);
void mbarrier_inval(const void* bar);
// expect_tx(bytes), then an arrival `arrivals` times; `name` is the instruction.
void mbarrier_update(const void* bar, std::uint32_t bytes, std::uint32_t arrivals,
                     const char* name);
void mbarrier_update_cluster(std::uint32_t bar, std::uint32_t bytes, std::uint32_t arrivals,
                             const char* name);
void mbarrier_complete_tx(const void* bar, std::uint32_t bytes);
bool mbarrier_test_wait(const void* bar, std::uint32_t parity);
bool mbarrier_try_wait(const void* bar, std::uint32_t parity, bool cluster);
void fence_mbarrier_init();

// ---- Bulk and tensor copies -------------------------------------------------------------------

inline constexpr std::uint32_t kOwnCta = 0;  // for cta_mask: no multicast

void bulk_load(void* dst, const void* src, std::uint32_t bytes, const void* bar,
               std::uint32_t cta_mask = kOwnCta);
void bulk_cluster_copy(std::uint32_t dst, const void* src, std::uint32_t bytes, std::uint32_t bar);
void bulk_store(void* dst, const void* src, std::uint32_t bytes);
void bulk_prefetch(const void* src, std::uint32_t bytes);

// Where a box begins, in elements.
struct BoxStart {
  int rank;
  int at[3];
};
void tensor_load(void* dst, const void* map, BoxStart box, const void* bar,
                 std::uint32_t cta_mask = kOwnCta);
void tensor_store(const void* map, BoxStart box, const void* src);
void tensor_prefetch(const void* map, BoxStart box);
void tensor_prefetch_map(const void* map);

void bulk_commit_group();
void bulk_wait_group(std::uint32_t pending, bool read);

void fence_proxy_async(bool shared, bool global);

// ---- Clusters ---------------------------------------------------------------------------------

std::uint32_t cluster_rank();
uint3 cluster_cta_idx();
dim3 cluster_dim();
uint3 cluster_idx();
dim3 cluster_grid_dim();

std::uint32_t map_to_cluster(const void* p, std::uint32_t rank);
void load_cluster(std::uint32_t p, void* to, std::uint32_t bytes);
void store_cluster(std::uint32_t p, const void* from, std::uint32_t bytes);
void store_async(std::uint32_t p, const void* from, std::uint32_t bytes, std::uint32_t bar);

void cluster_barrier_arrive(bool release);
void cluster_barrier_wait();

// ---- Tensor maps ------------------------------------------------------------------------------

// What a tensor map carries on the emulator, in its 128 opaque bytes.
struct TensorLayout {
  static constexpr int kMaxRank = 5;
  static constexpr std::uint32_t kMagic = 0x70616d74;

  std::uint32_t magic = 0;
  std::uint8_t rank = 0, element_bytes = 0, swizzle = 0;
  bool rounds_to_tf32 = false;  // what is loaded
  std::uint64_t base = 0;
  std::uint64_t strides[kMaxRank - 1] = {};  // bytes
  std::uint32_t last[kMaxRank] = {};         // extent - 1: an extent may be 2^32
  std::uint16_t box[kMaxRank] = {};
};
static_assert(sizeof(TensorLayout) <= 128);

// Checks every documented rule of cuTensorMapEncodeTiled; last_fault() names the broken one.
cudaError_t encode_tensor_layout(void* map, const TensorLayout& layout,
                                 const std::uint64_t* extents, const std::uint32_t* box);

}  // namespace libkernels::emulator
