/* SPDX-License-Identifier: MIT
 *
 * The vendor's library as the ceiling of `gemm`: cuBLAS, opened when a point asks for it. */
#ifndef UB_GEMM_LIBRARY_H
#define UB_GEMM_LIBRARY_H

#include "micro/gemm/kernels.h"

struct gemm_library;

/* NULL where there is no library that works; `why` then says so. */
struct gemm_library *gemm_library_open(char *why, size_t size);
void gemm_library_close(struct gemm_library *library);

/* C = A*B with sums in fp32: of fp32 inputs without tensor cores, or of fp16 inputs. Both
 * return a cudaError_t. */
int gemm_library_fp32(struct gemm_library *library, const struct gemm_shape *shape, const void *a, const void *b,
                      float *c, void *stream);
int gemm_library_fp16(struct gemm_library *library, const struct gemm_shape *shape, const void *a, const void *b,
                      float *c, void *stream);

#endif
