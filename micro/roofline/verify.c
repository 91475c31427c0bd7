/* SPDX-License-Identifier: MIT
 *
 * The answer of a small instance: the sum of what all elements have become, from one end
 * of the source to the other. Adding 1 to a half is done in whole numbers here, because
 * C11 has no halves: in units of 2^-24, of which every half is a whole number. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "micro/roofline/rule.h"

enum { SMALL_BLOCKS = 3, HALF_INFINITY = 0x7C00, HALF_SIGN = 0x8000, HALF_MANTISSA_BITS = 10, NAN_COUNTS = 1 };

bool roofline_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct roofline_geometry g;
    *out = *point;
    out->values[ROOFLINE_SIZE] = (int64_t)SMALL_BLOCKS * ROOFLINE_BLOCK_BYTES;
    return roofline_resolve(gpu, point, &g) == NULL;
}

static uint64_t fp32_bits(uint32_t word, uint32_t fmas)
{
    float x;
    memcpy(&x, &word, sizeof x);
    for (uint32_t i = 0; i < fmas; i++)
        x += 1;
    memcpy(&word, &x, sizeof word);
    return isnan(x) ? NAN_COUNTS : word;
}

static uint64_t fp64_bits(uint64_t word, uint32_t fmas)
{
    double x;
    memcpy(&x, &word, sizeof x);
    for (uint32_t i = 0; i < fmas; i++)
        x += 1;
    memcpy(&word, &x, sizeof word);
    return isnan(x) ? NAN_COUNTS : word;
}

/* A finite half in units of 2^-24. */
static int64_t units_of_half(uint32_t half)
{
    const uint32_t exponent = (half & HALF_INFINITY) >> HALF_MANTISSA_BITS, mantissa = half & 0x3FF;
    const int64_t units = exponent == 0 ? mantissa : (int64_t)(mantissa | 0x400) << (exponent - 1);
    return half & HALF_SIGN ? -units : units;
}

/* The nearest half, of two the even one. The eleven bits that a half keeps, with the number
 * of those it drops as its exponent, are its bits: a carry goes where it belongs. */
static uint32_t half_of_units(int64_t units)
{
    const uint32_t sign = units < 0 ? HALF_SIGN : 0;
    const uint64_t magnitude = (uint64_t)(units < 0 ? -units : units);
    uint32_t drop = 0;
    while (magnitude >> drop >= UINT64_C(2) << HALF_MANTISSA_BITS)
        drop++;
    uint64_t kept = magnitude >> drop;
    const uint64_t twice_rest = (magnitude - (kept << drop)) * 2, unit = UINT64_C(1) << drop;
    if (twice_rest > unit || (twice_rest == unit && (kept & 1) != 0))
        kept++;
    const uint64_t half = ((uint64_t)drop << HALF_MANTISSA_BITS) + kept;
    return sign | (half < HALF_INFINITY ? (uint32_t)half : HALF_INFINITY);
}

static uint64_t half_bits(uint32_t half, uint32_t fmas)
{
    if ((half & ~(uint32_t)HALF_SIGN) > HALF_INFINITY)
        return NAN_COUNTS;
    if ((half & ~(uint32_t)HALF_SIGN) == HALF_INFINITY)
        return half;
    for (uint32_t i = 0; i < fmas; i++)
        half = half_of_units(units_of_half(half) + (INT64_C(1) << 24));
    return half;
}

static uint64_t element_bits(const struct roofline_geometry *g, const void *source, uint64_t element)
{
    uint32_t word;
    uint64_t two_words;
    switch ((enum roofline_type)g->type) {
    case ROOFLINE_FP64:
        memcpy(&two_words, (const char *)source + element * sizeof two_words, sizeof two_words);
        return fp64_bits(two_words, g->fmas);
    case ROOFLINE_HALF2:
        memcpy(&word, (const char *)source + element * sizeof word, sizeof word);
        return half_bits(word & 0xFFFF, g->fmas) + half_bits(word >> 16, g->fmas);
    case ROOFLINE_FP32:
    case ROOFLINE_TYPES:
        break;
    }
    memcpy(&word, (const char *)source + element * sizeof word, sizeof word);
    return fp32_bits(word, g->fmas);
}

uint64_t roofline_sum(const struct roofline_geometry *g, const void *source)
{
    uint64_t sum = 0;
    for (uint64_t element = 0; element < roofline_elements(g); element++)
        sum += element_bits(g, source, element);
    return sum;
}

bool roofline_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                     uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct roofline_geometry g;
    const char *unsupported = roofline_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 1 || host->sizes_bytes[0] < g.size_bytes)
        return ub_fail(err, UB_INTERNAL, "there is no source of %" PRIu64 " bytes", g.size_bytes);
    const uint64_t expected = roofline_sum(&g, host->pointers[0]);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of all results is %016" PRIx64 ", the host expects %016" PRIx64,
                   checksum, expected);
}
