/* SPDX-License-Identifier: MIT
 *
 * The device side of `fusion`: element-wise steps, softmax and attention, each as kernels
 * that hand their results on through global memory, and as one that keeps them. */
#include <cuda_runtime.h>

#include "micro/fusion/kernels.h"

static const fusion_kernels *kernels_of(const fusion_geometry &g)
{
    static const fusion_kernels *const works[FUSION_WORKS] = {&fusion_elementwise, &fusion_softmax, &fusion_attention};
    return works[g.work];
}

static int launch(const ub_launch *launch)
{
    fusion_geometry g;
    if (fusion_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    kernels_of(g)->launch(g, *launch);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    fusion_geometry g;
    if (fusion_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    kernels_of(g)->check(g, *launch, launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    fusion_geometry g;
    *out = ub_kernel();
    if (fusion_resolve(gpu, point, &g) != NULL)
        return;
    out->name = "fusion";
    out->grid[0] = g.rows;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->block[0] = FUSION_BLOCK;
    kernels_of(g)->describe(g, out);
}

extern "C" {
extern const struct ub_code ub_code_fusion;
const struct ub_code ub_code_fusion = {launch, check, describe, nullptr, nullptr};
}
