/* SPDX-License-Identifier: MIT
 *
 * The kernels of `gemm` that have files of their own: async.cu, tensor.cu. Matrices are
 * stored by rows without gaps, from a 512-byte boundary: A has m rows of k elements, B k
 * rows of n, C m rows of n. All of m, n, k >= 1 are allowed. */
#ifndef UB_GEMM_KERNELS_H
#define UB_GEMM_KERNELS_H

#include "harness/contract/micro.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gemm_shape {
    uint64_t m, n, k;
};

/* C = A*B on `stream`, in fp32. Each returns a cudaError_t. */
int gemm_async_launch(const struct gemm_shape *shape, const float *a, const float *b, float *c, void *stream);
/* fp16 inputs, sums in fp32. */
int gemm_tensor_launch(const struct gemm_shape *shape, const void *a_half, const void *b_half, float *c, void *stream);

/* The kernel that such a launch runs, its grid and block. */
void gemm_async_kernel(const struct gemm_shape *shape, struct ub_kernel *out);
void gemm_tensor_kernel(const struct gemm_shape *shape, struct ub_kernel *out);

#ifdef __cplusplus
}
#endif
#endif
