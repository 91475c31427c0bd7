/* SPDX-License-Identifier: MIT
 *
 * cuBLAS by dlopen: ubench neither links with it nor needs its headers. */
#include "micro/gemm/library.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The version of the toolkit that this was built with, an older one, whichever is there, the
 * usual folder. */
static const char *const names[] = {"libcublas.so.13",
                                    "libcublas.so.12",
                                    "libcublas.so",
                                    "/usr/local/cuda/lib64/libcublas.so.13",
                                    "/usr/local/cuda/lib64/libcublas.so.12",
                                    "/usr/local/cuda/lib64/libcublas.so"};

/* From cublas_api.h and library_types.h. The math mode is the default one, which leaves TF32
 * and emulation to those who ask for them. */
enum { STATUS_SUCCESS = 0, OP_N = 0, DEFAULT_MATH = 0, COMPUTE_32F = 68, TYPE_32F = 0, TYPE_16F = 2, ALGORITHM = -1 };

typedef struct cublasContext *handle;

struct functions {
    int (*create)(handle *);
    int (*destroy)(handle);
    int (*set_stream)(handle, cudaStream_t);
    int (*set_workspace)(handle, void *, size_t);
    int (*set_math_mode)(handle, int);
    int (*sgemm)(handle, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                 float *, int);
    int (*gemm_ex)(handle, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                   const void *, void *, int, int, int, int);
};

struct gemm_library {
    void *object;
    handle context;
    void *workspace;
    struct functions call;
};

/* What NVIDIA recommends for Hopper ("cublasSetWorkspace()"). Its own, because the library
 * would else allocate within a graph that is captured. */
static const size_t workspace_bytes = 32u << 20;

static bool find(struct gemm_library *library)
{
    const struct {
        const char *name;
        void **where;
    } symbols[] = {
        {"cublasCreate_v2", (void **)&library->call.create},
        {"cublasDestroy_v2", (void **)&library->call.destroy},
        {"cublasSetStream_v2", (void **)&library->call.set_stream},
        {"cublasSetWorkspace_v2", (void **)&library->call.set_workspace},
        {"cublasSetMathMode", (void **)&library->call.set_math_mode},
        {"cublasSgemm_v2", (void **)&library->call.sgemm},
        {"cublasGemmEx", (void **)&library->call.gemm_ex},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        *symbols[i].where = dlsym(library->object, symbols[i].name);
        if (*symbols[i].where == NULL)
            return false;
    }
    return true;
}

/* Once loaded it stays (RTLD_NODELETE): its kernels belong to the context, and loading takes
 * a second. */
static void *open_any(char *why, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *object = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (object != NULL)
            return object;
        if (i == 0)
            snprintf(why, size, "cuBLAS cannot be loaded: %s", dlerror());
    }
    return NULL;
}

static bool start(struct gemm_library *library, char *why, size_t size)
{
    if (!find(library)) {
        snprintf(why, size, "cuBLAS lacks a function that is needed: %s", dlerror());
        return false;
    }
    const int status = library->call.create(&library->context);
    if (status != STATUS_SUCCESS) {
        library->context = NULL;
        snprintf(why, size, "cuBLAS does not start: cublasCreate() says %d", status);
        return false;
    }
    if (cudaMalloc(&library->workspace, workspace_bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(why, size, "no 32 MiB of device memory are left for cuBLAS");
        return false;
    }
    return true;
}

struct gemm_library *gemm_library_open(char *why, size_t size)
{
    struct gemm_library *library = (struct gemm_library *)calloc(1, sizeof *library);
    if (library == NULL) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    library->object = open_any(why, size);
    if (library->object != NULL && start(library, why, size))
        return library;
    gemm_library_close(library);
    return NULL;
}

void gemm_library_close(struct gemm_library *library)
{
    if (library == NULL)
        return;
    if (library->context != NULL)
        (void)library->call.destroy(library->context);
    if (library->workspace != NULL)
        (void)cudaFree(library->workspace);
    if (library->object != NULL)
        (void)dlclose(library->object);
    free(library);
}

/* Setting the stream takes the workspace away again. */
static bool prepare(struct gemm_library *library, void *stream)
{
    return library->call.set_stream(library->context, (cudaStream_t)stream) == STATUS_SUCCESS &&
           library->call.set_workspace(library->context, library->workspace, workspace_bytes) == STATUS_SUCCESS &&
           library->call.set_math_mode(library->context, DEFAULT_MATH) == STATUS_SUCCESS;
}

/* The library stores by columns: what is C = A*B by rows is C' = B'*A' to it. */
int gemm_library_fp32(struct gemm_library *library, const struct gemm_shape *shape, const void *a, const void *b,
                      float *c, void *stream)
{
    const int m = (int)shape->m, n = (int)shape->n, k = (int)shape->k;
    const float one = 1, zero = 0;
    if (!prepare(library, stream) || library->call.sgemm(library->context, OP_N, OP_N, n, m, k, &one, (const float *)b,
                                                         n, (const float *)a, k, &zero, c, n) != STATUS_SUCCESS)
        return (int)cudaErrorUnknown;
    return (int)cudaGetLastError();
}

int gemm_library_fp16(struct gemm_library *library, const struct gemm_shape *shape, const void *a, const void *b,
                      float *c, void *stream)
{
    const int m = (int)shape->m, n = (int)shape->n, k = (int)shape->k;
    const float one = 1, zero = 0;
    if (!prepare(library, stream) ||
        library->call.gemm_ex(library->context, OP_N, OP_N, n, m, k, &one, b, TYPE_16F, n, a, TYPE_16F, k, &zero, c,
                              TYPE_32F, n, COMPUTE_32F, ALGORITHM) != STATUS_SUCCESS)
        return (int)cudaErrorUnknown;
    return (int)cudaGetLastError();
}
