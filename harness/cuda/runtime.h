/* SPDX-License-Identifier: MIT
 *
 * The harness's own kernels and what only cudart can say of a kernel. Defined by
 * runtime.cu, by runtime_none.c in a build without nvcc, and by a test's fake.
 * Each function that launches or asks returns a cudaError_t as int, 0 is success. */
#ifndef UB_CUDA_RUNTIME_H
#define UB_CUDA_RUNTIME_H

#include "harness/contract/micro.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDART_VERSION of the build, 13000 = CUDA 13.0; 0: this build has no kernels. */
int ub_runtime_version(void);

/* Fills device memory (8-byte aligned) as enum ub_fill says; asynchronous. */
int ub_runtime_fill(void *pointer, uint64_t size_bytes, enum ub_fill fill, uint64_t seed, void *stream);

/* Writes {clock64, globaltimer in ns} of SM 0 into out[0..1] (device memory).
 * Two stamps give the SM clock between them: cycles / ns. `sms`: SMs of the card. */
int ub_runtime_stamp(unsigned long long *out, int sms, void *stream);

/* Reads globaltimer in a loop: smallest step seen, in ns, into out[0] (device memory). */
int ub_runtime_globaltimer_tick(unsigned long long *out, void *stream);

/* Reads `size_bytes` from device memory: what the caches held before is evicted, and
 * nothing dirty is left behind (a flush by writing would be). `sink`: device, one word,
 * never written. */
int ub_runtime_read(const void *pointer, uint64_t size_bytes, unsigned long long *sink, void *stream);

/* An empty kernel: the cost of a graph node. */
int ub_runtime_empty(void *stream);

/* Keeps the SMs busy for about `cycles` SM cycles: brings the clock up. */
int ub_runtime_spin(unsigned long long cycles, int sms, void *stream);

/* Registers, local and shared bytes, resident blocks and code versions of a kernel. */
int ub_runtime_attributes(const struct ub_kernel *kernel, int *registers, int *local_bytes, int *shared_bytes,
                          int *resident_blocks, int *binary_version, int *ptx_version);

/* Name of a cudaError_t ("cudaErrorLaunchOutOfResources"). */
const char *ub_runtime_error_name(int code);

#ifdef __cplusplus
}
#endif
#endif
