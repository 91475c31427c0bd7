/* SPDX-License-Identifier: MIT
 *
 * Which elements a thread adds up, and which words of shared memory a thread touches in a
 * step of a tree: the one definition, in the common subset of C11 and CUDA C. The kernels
 * call it, the law replays it; verification and reference kernel do not: they go through
 * the array from end to end. */
#ifndef UB_REDUCE_ACCESS_H
#define UB_REDUCE_ACCESS_H

#include "micro/reduce/geometry.h"

#ifdef __CUDACC__
#define REDUCE_BOTH static __host__ __device__ __forceinline__
#else
#define REDUCE_BOTH static inline
#endif

/* The first element of load `load` of a thread. A block has a part of the array for itself, of
 * `block_elements`; its threads stand side by side, each with `words` elements, then come
 * their next loads. */
REDUCE_BOTH uint64_t reduce_element(uint32_t block, uint32_t thread, uint32_t load, uint32_t threads, uint32_t words,
                                    uint32_t block_elements)
{
    return (uint64_t)block * block_elements + (load * threads + thread) * words;
}

/* Whether a block has all of its elements: then its loads need no test. */
REDUCE_BOTH bool reduce_whole(uint32_t block, uint32_t block_elements, uint64_t n)
{
    return (uint64_t)block * block_elements + block_elements <= n;
}

/* In the step of a tree in which `apart` words part what is added up: whether a thread takes
 * part, and to which word of shared memory it adds the one `apart` further on. The first
 * function is what textbooks have, with the remainder of a division. */
REDUCE_BOTH bool reduce_adds_interleaved(uint32_t thread, uint32_t apart)
{
    return thread % (2 * apart) == 0;
}

REDUCE_BOTH uint32_t reduce_word_strided(uint32_t thread, uint32_t apart)
{
    return 2 * apart * thread;
}

REDUCE_BOTH bool reduce_adds_sequential(uint32_t thread, uint32_t apart)
{
    return thread < apart;
}

#endif
