/* SPDX-License-Identifier: MIT
 *
 * What a point of `streams` means in numbers, and in which order the host issues what. Law
 * and launch agree on these; what the kernel computes of an element stands in kernel.cu and
 * verify.c, each for itself. */
#ifndef UB_STREAMS_GEOMETRY_H
#define UB_STREAMS_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum streams_axis {
    STREAMS_STAGES,
    STREAMS_HOST,
    STREAMS_STREAMS,
    STREAMS_SEGMENTS,
    STREAMS_ORDER,
    STREAMS_WORK,
    STREAMS_QUEUE,
    STREAMS_BETWEEN,
    STREAMS_SIZE,
    STREAMS_AXES
};

/* The words of the axes. */
enum streams_stages { STREAMS_PIPELINE, STREAMS_ONLY_IN, STREAMS_ONLY_OUT, STREAMS_BOTH_WAYS, STREAMS_ONLY_KERNEL };
enum streams_host { STREAMS_PINNED, STREAMS_PAGEABLE };
enum streams_order { STREAMS_DEPTH, STREAMS_BREADTH };
enum streams_queue { STREAMS_NONBLOCKING, STREAMS_BLOCKING, STREAMS_LEGACY };
enum streams_between { STREAMS_NOTHING, STREAMS_EMPTY_KERNEL };

/* A block works on 256 chunks of 16 bytes, one a thread: 4 KiB. */
enum {
    STREAMS_BLOCK = 256,
    STREAMS_CHUNK_BYTES = 16,
    STREAMS_CHUNK_ELEMENTS = 4, /* of 4 bytes */
    STREAMS_BLOCK_BYTES = STREAMS_BLOCK * STREAMS_CHUNK_BYTES,
    STREAMS_UNROLLED = 64, /* multiply-adds of an element between two branches */
    STREAMS_MAX_STREAMS = 32,
    STREAMS_MAX_SEGMENTS = 256,
    STREAMS_MAX_WORK = 65536,
    STREAMS_MAX_OPS = 4 * STREAMS_MAX_SEGMENTS
};

/* What an operation is; a barrier is an empty kernel in the legacy default stream. */
enum streams_stage { STREAMS_IN, STREAMS_KERNEL, STREAMS_OUT, STREAMS_BARRIER, STREAMS_STAGE_COUNT };

enum { STREAMS_DEFAULT_STREAM = STREAMS_MAX_STREAMS }; /* as the stream of an operation: the legacy default one */

struct streams_op {
    uint16_t stage, segment, stream;
};

struct streams_geometry {
    enum streams_stages stages;
    enum streams_host host;
    enum streams_order order;
    enum streams_queue queue;
    bool barriers;
    uint32_t streams, segments, work;
    uint64_t size_bytes, segment_bytes;
    bool has_in, has_kernel, has_out;
};

/* The buffers of a point. */
enum streams_buffer { STREAMS_HOST_IN, STREAMS_DEVICE_IN, STREAMS_DEVICE_OUT, STREAMS_HOST_OUT, STREAMS_BUFFERS };

/* Which axes count where. */
extern const struct ub_axis_owners streams_owners;

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *streams_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct streams_geometry *out);

/* Where a buffer stands in the footprint; -1: the point has none. */
int streams_buffer_index(const struct streams_geometry *geometry, enum streams_buffer buffer);

/* What the host issues, in this order: STREAMS_MAX_OPS at most. Returns how many. */
uint32_t streams_plan(const struct streams_geometry *geometry, struct streams_op *ops);

/* Words of a timeline, by enum streams_stage. */
extern const char *const streams_stage_names[STREAMS_STAGE_COUNT];

/* Blocks of the kernel of one segment; 0: it has none. */
uint32_t streams_blocks(const struct streams_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
