/* SPDX-License-Identifier: MIT
 *
 * cp.async, for the kernels that copy in the background. */
#ifndef UB_GEMM_COPIES_H
#define UB_GEMM_COPIES_H

#include <cuda_runtime.h>

#include <stdint.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GEMM_HAVE_CP_ASYNC 1
#else
#define GEMM_HAVE_CP_ASYNC 0
#endif

/* Address of shared memory, as the instructions of this file take it. */
static __device__ __forceinline__ uint32_t gemm_shared(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* Starts a copy of 4 or 16 bytes from global to shared memory, both aligned to as many. Where
 * not `inside`, zeros are written and nothing is read: the same instruction, so that edges
 * change no count of instructions. 16 bytes pass L1 by. */
template <int bytes> static __device__ __forceinline__ void gemm_copy(uint32_t to, const void *from, bool inside)
{
    static_assert(bytes == 4 || bytes == 16, "cp.async has these sizes (and 8)");
#if GEMM_HAVE_CP_ASYNC
    if (bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(inside ? 4 : 0)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
#endif
}

/* What a thread has started since the last call is a group; and waiting until all but its
 * newest `left` groups have arrived. */
static __device__ __forceinline__ void gemm_end_group(void)
{
#if GEMM_HAVE_CP_ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int left> static __device__ __forceinline__ void gemm_wait_groups(void)
{
#if GEMM_HAVE_CP_ASYNC
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

#endif
