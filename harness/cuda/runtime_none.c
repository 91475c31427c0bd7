/* SPDX-License-Identifier: MIT
 *
 * runtime.h in a build without nvcc: there are no kernels. The worker refuses to
 * measure before it would call any of these (ub_runtime_version() is 0). */
#include "harness/cuda/runtime.h"

enum { NOT_SUPPORTED = 801 }; /* cudaErrorNotSupported */

int ub_runtime_version(void)
{
    return 0;
}

int ub_runtime_fill(void *pointer, uint64_t size_bytes, enum ub_fill fill, uint64_t seed, void *stream)
{
    (void)pointer, (void)size_bytes, (void)fill, (void)seed, (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_stamp(unsigned long long *out, int sms, void *stream)
{
    (void)out, (void)sms, (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_globaltimer_tick(unsigned long long *out, void *stream)
{
    (void)out, (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_read(const void *pointer, uint64_t size_bytes, unsigned long long *sink, void *stream)
{
    (void)pointer, (void)size_bytes, (void)sink, (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_empty(void *stream)
{
    (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_spin(unsigned long long cycles, int sms, void *stream)
{
    (void)cycles, (void)sms, (void)stream;
    return NOT_SUPPORTED;
}

int ub_runtime_attributes(const struct ub_kernel *kernel, int *registers, int *local_bytes, int *shared_bytes,
                          int *resident_blocks, int *binary_version, int *ptx_version)
{
    (void)kernel, (void)registers, (void)local_bytes, (void)shared_bytes, (void)resident_blocks, (void)binary_version,
        (void)ptx_version;
    return NOT_SUPPORTED;
}

const char *ub_runtime_error_name(int code)
{
    return code == NOT_SUPPORTED ? "cudaErrorNotSupported" : "unknown";
}
