// Tensor copies of kernels/ptx/cp_async_bulk_tensor.cuh with everything drawn by the test.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "kernels/ptx/tensor_map.h"
#include "tests/kernels/ptx/tensor_copy_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::kMostCtas;
using test::kSlotWords;
using test::kTilePoison;
using test::kTileWords;
using test::MulticastDraw;
using test::TensorDraw;

constexpr int kThreads = 128;

struct Smem {
  alignas(1024) std::uint32_t tile[kTileWords];
  ptx::Mbarrier bar;
};

struct Params {
  ptx::TensorMap map;
  TensorDraw draw;
  MulticastDraw cast;
  std::uint32_t bytes;
  const std::uint32_t* in;
  std::uint32_t* out;
};

// The instruction of the draw's rank and hint.
LK_DEVICE void load(void* dst, const Params& p, const int* at, ptx::Mbarrier* bar) {
  const bool hint = p.draw.hint;
  if (p.draw.rank == 1) {
    hint ? ptx::cp_async_bulk_tensor_1d_shared_global(dst, &p.map, at[0], bar, ptx::kEvictFirst)
         : ptx::cp_async_bulk_tensor_1d_shared_global(dst, &p.map, at[0], bar);
  } else if (p.draw.rank == 2) {
    hint ? ptx::cp_async_bulk_tensor_2d_shared_global(dst, &p.map, at[0], at[1], bar,
                                                      ptx::kEvictLast)
         : ptx::cp_async_bulk_tensor_2d_shared_global(dst, &p.map, at[0], at[1], bar);
  } else {
    hint ? ptx::cp_async_bulk_tensor_3d_shared_global(dst, &p.map, at[0], at[1], at[2], bar,
                                                      ptx::kEvictNormal)
         : ptx::cp_async_bulk_tensor_3d_shared_global(dst, &p.map, at[0], at[1], at[2], bar);
  }
}
LK_DEVICE void load_multicast(void* dst, const Params& p, const int* at, ptx::Mbarrier* bar,
                              std::uint16_t mask) {
  const ptx::CachePolicy policy = ptx::kEvictFirst;
  const bool hint = p.draw.hint;
  if (p.draw.rank == 1) {
    hint ? ptx::cp_async_bulk_tensor_1d_shared_global_multicast(dst, &p.map, at[0], bar, mask,
                                                                policy)
         : ptx::cp_async_bulk_tensor_1d_shared_global_multicast(dst, &p.map, at[0], bar, mask);
  } else if (p.draw.rank == 2) {
    hint ? ptx::cp_async_bulk_tensor_2d_shared_global_multicast(dst, &p.map, at[0], at[1], bar,
                                                                mask, policy)
         : ptx::cp_async_bulk_tensor_2d_shared_global_multicast(dst, &p.map, at[0], at[1], bar,
                                                                mask);
  } else {
    hint ? ptx::cp_async_bulk_tensor_3d_shared_global_multicast(dst, &p.map, at[0], at[1], at[2],
                                                                bar, mask, policy)
         : ptx::cp_async_bulk_tensor_3d_shared_global_multicast(dst, &p.map, at[0], at[1], at[2],
                                                                bar, mask);
  }
}
LK_DEVICE void store(const Params& p, const int* at, const void* src) {
  const ptx::CachePolicy policy = ptx::kEvictFirst;
  const bool hint = p.draw.hint;
  if (p.draw.rank == 1) {
    hint ? ptx::cp_async_bulk_tensor_1d_global_shared(&p.map, at[0], src, policy)
         : ptx::cp_async_bulk_tensor_1d_global_shared(&p.map, at[0], src);
  } else if (p.draw.rank == 2) {
    hint ? ptx::cp_async_bulk_tensor_2d_global_shared(&p.map, at[0], at[1], src, policy)
         : ptx::cp_async_bulk_tensor_2d_global_shared(&p.map, at[0], at[1], src);
  } else {
    hint ? ptx::cp_async_bulk_tensor_3d_global_shared(&p.map, at[0], at[1], at[2], src, policy)
         : ptx::cp_async_bulk_tensor_3d_global_shared(&p.map, at[0], at[1], at[2], src);
  }
}
LK_DEVICE void prefetch(const Params& p, const int* at) {
  ptx::prefetch_tensormap(&p.map);
  if (p.draw.rank == 1) ptx::cp_async_bulk_prefetch_tensor_1d_L2(&p.map, at[0]);
  if (p.draw.rank == 2) ptx::cp_async_bulk_prefetch_tensor_2d_L2(&p.map, at[0], at[1]);
  if (p.draw.rank == 3) ptx::cp_async_bulk_prefetch_tensor_3d_L2(&p.map, at[0], at[1], at[2]);
}

// A tile of poison that the async proxy may overwrite, and a barrier that counts one arrival.
LK_DEVICE void prepare(Smem& s) {
  for (unsigned i = threadIdx.x; i < unsigned(kTileWords); i += blockDim.x) {
    s.tile[i] = kTilePoison;
  }
  ptx::fence_proxy_async_shared_cta();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.bar, 1);
    ptx::fence_mbarrier_init_release_cluster();
  }
}
LK_DEVICE void wait(ptx::Mbarrier* bar, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
  }
}

__global__ void load_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  prepare(s);
  __syncthreads();
  if (threadIdx.x == 0) {
    prefetch(p, p.draw.at);
    ptx::mbarrier_arrive_expect_tx(&s.bar, p.bytes);
    load(s.tile, p, p.draw.at, &s.bar);
  }
  wait(&s.bar, 0);
  for (unsigned i = threadIdx.x; i < unsigned(kTileWords); i += blockDim.x) p.out[i] = s.tile[i];
}

__global__ void store_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  for (unsigned i = threadIdx.x; i < unsigned(kTileWords); i += blockDim.x) s.tile[i] = p.in[i];
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(p, p.draw.at, s.tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

// Every CTA sends a box into its slot of the CTAs in its mask, and expects those sent to it.
__global__ void multicast_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  const std::uint32_t rank = ptx::cluster_ctarank();
  prepare(s);
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
  std::uint32_t expected = 0;
  for (int r = 0; r < p.cast.ctas; ++r) expected += p.cast.masks[r] >> rank & 1 ? p.bytes : 0;
  if (threadIdx.x == 0) {
    int at[3] = {p.draw.at[0], p.draw.at[1], p.draw.at[2]};
    at[p.draw.rank - 1] += p.cast.shift * int(rank);
    ptx::mbarrier_arrive_expect_tx(&s.bar, expected);
    if (p.cast.masks[rank]) {
      load_multicast(s.tile + rank * kSlotWords, p, at, &s.bar, std::uint16_t(p.cast.masks[rank]));
    }
  }
  wait(&s.bar, 0);
  std::uint32_t* out = p.out + rank * kMostCtas * kSlotWords;
  for (unsigned i = threadIdx.x; i < unsigned(kMostCtas * kSlotWords); i += blockDim.x) {
    out[i] = s.tile[i];
  }
  // Nobody leaves while its peers' copies may be on their way.
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

cudaError_t make(const void* base, const TensorDraw& d, Params* p) {
  ptx::TiledTensor t{.base = base,
                     .type = ptx::TensorType(d.type),
                     .rank = d.rank,
                     .swizzle = ptx::Swizzle(d.swizzle),
                     .promotion = ptx::L2Promotion(d.promotion)};
  for (int i = 0; i < 3; ++i) t.extents[i] = d.extents[i], t.box[i] = d.box[i];
  for (int i = 0; i < 2; ++i) t.strides[i] = d.strides[i];
  p->draw = d;
  p->bytes = ptx::box_bytes(t);
  return ptx::encode_tiled(&p->map, t);
}

cudaError_t run(void (*kernel)(Params), const Params& p, int ctas, cudaStream_t stream) {
  return ptx::launch(kernel,
                     {.grid = dim3(unsigned(ctas)),
                      .block = dim3(kThreads),
                      .smem = sizeof(Smem),
                      .cluster = dim3(unsigned(ctas))},
                     stream, p);
}

cudaError_t launch_load(const void* base, const TensorDraw& draw, std::uint32_t* out,
                        cudaStream_t stream) {
  Params p{};
  const cudaError_t error = make(base, draw, &p);
  if (error != cudaSuccess) return error;
  p.out = out;
  return run(&load_kernel, p, 1, stream);
}
cudaError_t launch_store(void* base, const TensorDraw& draw, const std::uint32_t* in,
                         cudaStream_t stream) {
  Params p{};
  const cudaError_t error = make(base, draw, &p);
  if (error != cudaSuccess) return error;
  p.in = in;
  return run(&store_kernel, p, 1, stream);
}
cudaError_t launch_multicast(const void* base, const TensorDraw& draw, const MulticastDraw& cast,
                             std::uint32_t* out, cudaStream_t stream) {
  Params p{};
  const cudaError_t error = make(base, draw, &p);
  if (error != cudaSuccess) return error;
  p.cast = cast;
  p.out = out;
  return run(&multicast_kernel, p, cast.ctas, stream);
}
cudaError_t encode(const void* base, const TensorDraw& draw) {
  Params p{};
  return make(base, draw, &p);
}

}  // namespace

const test::TensorSide& tensor_side() {
  static const test::TensorSide side{&launch_load, &launch_store, &launch_multicast, &encode};
  return side;
}

}  // namespace libkernels::inline LK_BACKEND
