/* SPDX-License-Identifier: MIT
 *
 * Where blocks go: each block of the two kinds of multiply-adds of the rule `grid` writes
 * the number of its SM. Exits with 1 where an SM gets two blocks more than another of a
 * launch that the law of `grid` takes for even; says what else it saw.
 *
 * nvcc -arch=native placement.cu -o placement && ./placement */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static __global__ void where(unsigned rounds, float factor, float addend, unsigned *sms)
{
    float value = threadIdx.x;
#pragma unroll 1
    for (unsigned left = rounds; left != 0; left--)
#pragma unroll
        for (int i = 0; i < 1024; i++)
            value = __fmaf_rn(value, factor, addend);
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0)
        sms[blockIdx.x] = value < 0 ? 0 : sm;
}

static void check(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    exit(1);
}

struct placed {
    std::vector<unsigned> sm; /* of each block */
    std::vector<int> blocks;  /* of each SM */
    int fewest, most, used;
};

static placed launch(int sms, int blocks, int threads, int shared, unsigned rounds, unsigned *device)
{
    placed p = {std::vector<unsigned>(blocks), std::vector<int>(sms, 0), blocks, 0, 0};
    where<<<blocks, threads, shared>>>(rounds, 1, 1, device);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(p.sm.data(), device, blocks * sizeof(unsigned), cudaMemcpyDeviceToHost), "copy");
    for (unsigned sm : p.sm)
        p.blocks[sm]++;
    for (int n : p.blocks) {
        p.fewest = n < p.fewest ? n : p.fewest;
        p.most = n > p.most ? n : p.most;
        p.used += n > 0;
    }
    return p;
}

int main()
{
    cudaDeviceProp card;
    unsigned *device;
    check(cudaGetDeviceProperties(&card, 0), "device");
    const int sms = card.multiProcessorCount, all = (int)card.sharedMemPerMultiprocessor;
    check(cudaMalloc(&device, 64 * sms * sizeof *device), "memory");
    check(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)card.sharedMemPerBlockOptin),
          "shared memory");
    int launches = 0, uneven = 0;
    /* Blocks that are all there at once, and blocks that compute in as many waves as one likes. */
    for (int resident = 1; resident <= 4; resident++)
        for (int blocks = 1; blocks <= 6 * sms; blocks += blocks % sms > 2 && blocks % sms < sms - 3 ? 11 : 1)
            for (int threads : {128, 512}) {
                if ((threads == 128 && blocks > resident * sms) ||
                    threads * resident > card.maxThreadsPerMultiProcessor)
                    continue;
                const int shared = all / resident / 128 * 128 - (int)card.reservedSharedMemPerBlock;
                const placed p = launch(sms, blocks, threads, shared, 4, device);
                launches++;
                if (p.most - p.fewest > 1) {
                    uneven++;
                    printf("%d threads, %d resident, %d blocks: an SM has %d, another %d\n", threads, resident, blocks,
                           p.fewest, p.most);
                }
            }
    printf("%d launches, %d of them uneven\n", launches, uneven);
    const placed half = launch(sms, sms / 2, 128, 0, 4, device);
    int pairs = 0;
    for (int i = 0; i + 1 < sms; i += 2)
        pairs += half.blocks[i] + half.blocks[i + 1] == 1;
    printf("%d blocks: %d pairs of SMs have one each\n", sms / 2, pairs);
    const placed full = launch(sms, sms, 128, 0, 4, device);
    printf("the SMs of blocks 0 to %d:", sms - 1);
    for (unsigned sm : full.sm)
        printf(" %u", sm);
    const placed second =
        launch(sms, 3 * sms, 128, all / 2 / 128 * 128 - (int)card.reservedSharedMemPerBlock, 16, device);
    int taken = 0;
    for (int n : second.blocks)
        taken += n > 2;
    printf("\nblocks that wait, 2 resident: the %d of the second wave are on %d SMs\n", sms, taken);
    return uneven != 0;
}
