/* SPDX-License-Identifier: MIT
 *
 * What fills a buffer, word by word (enum ub_fill): the same in device code and on the
 * host. splitmix64 (Steele, Lea, Flood, OOPSLA 2014) of the index: every word is
 * independent of the others, so the content does not depend on the grid. */
#ifndef UB_CUDA_FILL_H
#define UB_CUDA_FILL_H

#include <stdint.h>

#include "harness/contract/micro.h"

#ifdef __CUDACC__
#define UB_FILL_CODE static __host__ __device__ inline
#else
#define UB_FILL_CODE static inline
#endif

UB_FILL_CODE uint64_t ub_fill_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Clears the low bit of every byte that is 0xFF. */
UB_FILL_CODE uint64_t ub_fill_without_ones(uint64_t x)
{
    const uint64_t low = 0x0101010101010101u;
    uint64_t ones = x & (x >> 4);
    ones &= ones >> 2;
    ones &= ones >> 1;
    return x & ~(ones & low);
}

/* The bits of step / 1024 - 1 for step 0..2047, in a binary format with
 * `fraction_bits` bits of fraction (10 or more) and this exponent bias: a normal number or 0. */
UB_FILL_CODE uint32_t ub_fill_number(uint32_t step, int fraction_bits, int bias, int sign_bit)
{
    const uint32_t negative = step < 1024;
    uint32_t size = negative ? 1024 - step : step - 1024;
    int exponent = 0;
    if (size == 0)
        return 0;
    while (size >> (exponent + 1))
        exponent++;
    const uint32_t fraction = (size << (fraction_bits - exponent)) & ((1u << fraction_bits) - 1);
    return negative << sign_bit | (uint32_t)(exponent - 10 + bias) << fraction_bits | fraction;
}

/* Word `index` of a buffer of 64-bit words. */
UB_FILL_CODE uint64_t ub_fill_word(enum ub_fill fill, uint64_t index, uint64_t seed)
{
    const uint64_t random = ub_fill_mix(seed ^ ub_fill_mix(index));
    uint64_t word = 0;
    switch (fill) {
    case UB_FILL_RANDOM:
        return ub_fill_without_ones(random);
    case UB_FILL_POISON:
        return ~(uint64_t)0;
    case UB_FILL_ZERO:
        return 0;
    case UB_FILL_FLOAT:
        for (int i = 0; i < 2; i++)
            word |= (uint64_t)ub_fill_number((uint32_t)(random >> (32 * i)) & 2047, 23, 127, 31) << (32 * i);
        return word;
    case UB_FILL_HALF:
        for (int i = 0; i < 4; i++)
            word |= (uint64_t)ub_fill_number((uint32_t)(random >> (16 * i)) & 2047, 10, 15, 15) << (16 * i);
        return word;
    }
    return 0;
}

#endif
