/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/carveout/geometry.h"

static const char *contradiction(const struct ub_gpu *gpu, const struct ub_point *point)
{
    const int64_t *v = point->values;
    if (gpu->cc_major < 7)
        return "before compute capability 7.0 L1 and shared memory are apart, or divided in another way";
    if (gpu->l1_bytes == 0)
        return "how large L1 and shared memory together are is not known of this GPU";
    if (v[CARVEOUT_FOOTPRINT] % CARVEOUT_LINE_BYTES != 0)
        return "a load of a warp takes a whole line: footprint must be a multiple of 128";
    if (v[CARVEOUT_ASK] == CARVEOUT_ASK_NOTHING && v[CARVEOUT_PERCENT] != 0)
        return "ask=nothing states no preference: it needs carveout=0";
    if ((uint64_t)v[CARVEOUT_SHARED] > gpu->shared_per_block_optin_bytes)
        return "a block cannot have so much shared memory on this GPU";
    return NULL;
}

const char *carveout_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct carveout_geometry *out)
{
    const int64_t *v = point->values;
    const uint32_t warps = v[CARVEOUT_ORDER] == CARVEOUT_RANDOM ? CARVEOUT_WARPS : 1;
    *out = (struct carveout_geometry){
        .ask = (uint32_t)v[CARVEOUT_ASK],
        .order = (uint32_t)v[CARVEOUT_ORDER],
        .load = (uint32_t)v[CARVEOUT_LOAD],
        .percent = (uint32_t)v[CARVEOUT_PERCENT],
        .warps = warps,
        .threads = warps * CARVEOUT_LANES,
        .lines = (uint32_t)(v[CARVEOUT_FOOTPRINT] / CARVEOUT_LINE_BYTES),
        .shared_bytes = (uint32_t)v[CARVEOUT_SHARED],
    };
    const char *refused = ub_gpu_block_refused(gpu, out->threads, 0, 0);
    return refused != NULL ? refused : contradiction(gpu, point);
}
