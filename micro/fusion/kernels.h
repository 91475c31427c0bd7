/* SPDX-License-Identifier: MIT
 *
 * What each work of `fusion` does on the device: elementwise.cu, softmax.cu, attention.cu. */
#ifndef UB_FUSION_KERNELS_H
#define UB_FUSION_KERNELS_H

#include "micro/fusion/geometry.h"

struct fusion_kernels {
    void (*launch)(const fusion_geometry &g, const ub_launch &launch);
    /* The reference kernel, which counts wrong elements at `mismatches`. */
    void (*check)(const fusion_geometry &g, const ub_launch &launch, unsigned long long *mismatches);
    /* Function and grid of the kernel that stands for the others: which has the most to do. */
    void (*describe)(const fusion_geometry &g, ub_kernel *out);
};

extern const fusion_kernels fusion_elementwise, fusion_softmax, fusion_attention;

typedef void (*fusion_row_kernel)(const float4 *source, float4 *target, uint32_t length, float scale);

/* Softmax of rows that stay in registers: also what split attention does with its scores. */
fusion_row_kernel fusion_kept_row(const fusion_geometry &g);

#endif
