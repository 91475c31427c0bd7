/* SPDX-License-Identifier: MIT
 *
 * The answer of a small instance: each element that came back is what went out, put through
 * the multiply-adds one by one; a copy is what it was copied from. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "micro/streams/rule.h"

enum { SMALL_WORK = 256 };

/* As in kernel.cu: x becomes x * x - 61/32. */
static const float taken_away = 1.90625f;

/* One block a segment, or of a copy one chunk of each of its lanes; of the multiply-adds what
 * leaves both loops of the kernel as they are. */
bool streams_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct streams_geometry g;
    *out = *point;
    if (streams_resolve(gpu, point, &g) != NULL)
        return false;
    out->values[STREAMS_SIZE] = (int64_t)g.segments * STREAMS_BLOCK_BYTES;
    if (g.has_kernel && g.work > SMALL_WORK)
        out->values[STREAMS_WORK] = SMALL_WORK - STREAMS_UNROLLED + g.work % STREAMS_UNROLLED;
    return streams_resolve(gpu, out, &g) == NULL;
}

static uint32_t result_of(uint32_t word, uint32_t work)
{
    float x;
    memcpy(&x, &word, sizeof x);
    for (uint32_t i = 0; i < work; i++)
        x = fmaf(x, x, -taken_away);
    memcpy(&word, &x, sizeof word);
    return word;
}

/* Every word of `to` is that of `from`, after `work` multiply-adds. */
static bool compare(const struct streams_geometry *g, const char *what, const uint32_t *from, const uint32_t *to,
                    uint32_t work, struct ub_error *err)
{
    for (uint64_t i = 0; i < g->size_bytes / sizeof *from; i++) {
        const uint32_t expected = result_of(from[i], work);
        if (to[i] != expected)
            return ub_fail(err, UB_WRONG_ANSWER,
                           "%s: element %" PRIu64 " is %08" PRIx32 ", the host expects %08" PRIx32, what, i, to[i],
                           expected);
    }
    return true;
}

bool streams_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    struct streams_geometry g;
    const uint32_t *at[STREAMS_BUFFERS] = {NULL};
    const char *unsupported = streams_resolve(gpu, point, &g);
    (void)seed;
    (void)checksum;
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    for (int i = 0; i < STREAMS_BUFFERS; i++) {
        const int index = streams_buffer_index(&g, (enum streams_buffer)i);
        if (index >= 0 && ((size_t)index >= host->count || host->sizes_bytes[index] < g.size_bytes))
            return ub_fail(err, UB_INTERNAL, "buffer %d has not %" PRIu64 " bytes", i, g.size_bytes);
        at[i] = index >= 0 ? host->pointers[index] : NULL;
    }
    return (!g.has_in || compare(&g, "copied in", at[STREAMS_HOST_IN], at[STREAMS_DEVICE_IN], 0, err)) &&
           (!g.has_kernel || compare(&g, "computed", at[STREAMS_DEVICE_IN], at[STREAMS_DEVICE_OUT], g.work, err)) &&
           (!g.has_out || compare(&g, "copied out", at[STREAMS_DEVICE_OUT], at[STREAMS_HOST_OUT], 0, err));
}
