// Fences between proxies. Included by ptx.cuh only.
//
// Bulk and tensor copies and wgmma go through the async proxy; everything else that kernels write
// goes through the generic one. What a thread stored the async proxy sees only after that thread's
// fence, and then a barrier or another synchronisation with whoever issues the copy.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// fence.proxy.async;                  both state spaces                 sm_90, PTX 8.0, thread
LK_DEVICE void fence_proxy_async();

// fence.proxy.async.shared::cta;                                        sm_90, PTX 8.0, thread
LK_DEVICE void fence_proxy_async_shared_cta();

// fence.proxy.async.global;                                             sm_90, PTX 8.0, thread
LK_DEVICE void fence_proxy_async_global();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/fence.inl"
#else
#include "kernels/ptx/cuda/fence.inl"
#endif
