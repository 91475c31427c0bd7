/* SPDX-License-Identifier: MIT
 *
 * What a point of `roofline` means in numbers. Law, kernel and verification agree on
 * these; which part of the source a thread loads stands in access.h alone. */
#ifndef UB_ROOFLINE_GEOMETRY_H
#define UB_ROOFLINE_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum roofline_axis { ROOFLINE_TYPE, ROOFLINE_FMAS, ROOFLINE_SIZE, ROOFLINE_AXES };

/* The words of the axis `type`: what an element is. half2 is two halves, on which one
 * instruction works at a time. */
enum roofline_type { ROOFLINE_FP32, ROOFLINE_FP64, ROOFLINE_HALF2, ROOFLINE_TYPES };

/* A thread loads two chunks of 16 bytes a step, and while it works on them the next two
 * are on their way. One chunk a step makes the instructions round the multiply-adds count
 * twice as much; more than four steps a block end later on some SMs than on others. */
enum {
    ROOFLINE_BLOCK = 256,
    ROOFLINE_CHUNK_BYTES = 16,
    ROOFLINE_CHUNKS = 2, /* of a thread in a step */
    ROOFLINE_STEPS = 4,
    ROOFLINE_BLOCK_BYTES = ROOFLINE_BLOCK * ROOFLINE_CHUNK_BYTES * ROOFLINE_CHUNKS * ROOFLINE_STEPS,
    ROOFLINE_FMAS_MAX = 1024
};

struct roofline_geometry {
    uint32_t type;
    uint32_t element_bytes;
    uint32_t flops; /* of one multiply-add instruction of a thread */
    uint32_t fmas;  /* for each element */
    uint32_t blocks;
    uint64_t size_bytes;
};

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *roofline_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct roofline_geometry *out);

static inline uint64_t roofline_elements(const struct roofline_geometry *g)
{
    return g->size_bytes / g->element_bytes;
}

#ifdef __cplusplus
}
#endif
#endif
