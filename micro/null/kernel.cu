/* SPDX-License-Identifier: MIT
 *
 * The device side of `null`: a kernel that does nothing, and a loop that does
 * nothing between two readings of the SM clock. */
#include <cuda_runtime.h>

#include "micro/null/rule.h"

enum { THREADS = 32 };

static __global__ void nothing(void)
{
}

/* What every clocked kernel of ubench pays for its loop: an add, a compare, a branch.
 * The step is an argument (1), so that the number of iterations is known to nobody
 * before the loop has run; where the counter ended is used, so that it must run. */
static __global__ void loop(uint32_t iterations, uint32_t step, unsigned long long *cycles)
{
    uint32_t i = 0;
    const long long start = clock64();
#pragma unroll 1
    do
        i += step;
    while (i < iterations);
    const long long stop = clock64();
    if (threadIdx.x == 0)
        *cycles = (unsigned long long)(stop - start) + (i - iterations);
}

static bool is_clocked(const ub_point *point)
{
    return point->values[NULL_TIMER] == UB_TIMER_SM_CLOCK;
}

static int launch(const ub_launch *launch)
{
    const unsigned grid = (unsigned)launch->point->values[NULL_GRID];
    cudaStream_t stream = (cudaStream_t)launch->stream;
    if (launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    if (is_clocked(launch->point))
        loop<<<grid, THREADS, 0, stream>>>((uint32_t)launch->iterations, 1, launch->results + UB_RESULT_CYCLES);
    else
        nothing<<<grid, THREADS, 0, stream>>>();
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    out->function = is_clocked(point) ? (const void *)loop : (const void *)nothing;
    out->name = is_clocked(point) ? "loop" : "nothing";
    out->grid[0] = (uint32_t)point->values[NULL_GRID];
    out->grid[1] = out->grid[2] = 1;
    out->block[0] = THREADS;
    out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_null;
const struct ub_code ub_code_null = {launch, NULL, describe};
}
