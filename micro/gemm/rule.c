/* SPDX-License-Identifier: MIT
 *
 * The rule `gemm` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/gemm/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const variants[] = {"naive_col", "naive_row", "tiled",          "register", "async",
                                       "tensor",    "library",   "library_tensor", NULL};

static const struct ub_axis axes[GEMM_AXES] = {
    [GEMM_VARIANT] = {.name = "variant",
                      .unit = "",
                      .help = "the version of the kernel; tensor, library_tensor: fp16 inputs; library*: cuBLAS",
                      .kind = UB_AXIS_WORD,
                      .words = variants,
                      .initial = "register",
                      .on_command = "all"},
    [GEMM_N] = {.name = "n",
                .unit = "element",
                .help = "columns of B and C",
                .kind = UB_AXIS_INTEGER,
                .minimum = 1,
                .maximum = GEMM_SIDE_MAX,
                .initial = "2048"},
    [GEMM_M] = {.name = "m",
                .unit = "element",
                .help = "rows of A and C; n: as many as n says",
                .kind = UB_AXIS_INTEGER,
                .minimum = 1,
                .maximum = GEMM_SIDE_MAX,
                .zero_word = "n",
                .initial = "n"},
    [GEMM_K] = {.name = "k",
                .unit = "element",
                .help = "columns of A, rows of B; n: as many as n says",
                .kind = UB_AXIS_INTEGER,
                .minimum = 1,
                .maximum = GEMM_SIDE_MAX,
                .zero_word = "n",
                .initial = "n"},
    [GEMM_TILE] = {.name = "tile",
                   .unit = "element",
                   .help = "side of a tile in shared memory (variant=tiled): 8, 16 or 32; auto: 32",
                   .kind = UB_AXIS_INTEGER,
                   .minimum = 8,
                   .maximum = 32,
                   .zero_word = "auto",
                   .initial = "auto"},
    [GEMM_PER_THREAD] = {.name = "per_thread",
                         .unit = "result",
                         .help = "side of the square of results of a thread (variant=register): 4 or 8; auto: 8",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 4,
                         .maximum = 8,
                         .zero_word = "auto",
                         .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"size", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=naive_col,naive_row,tiled,register,async,library n=256..2048*2",
     "the ladder in fp32 from what a few SMs do to where all are busy"},
    {"large", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=tiled,register,async,library n=4096",
     "matrices that L2 does not hold"},
    {"tensor", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=tensor,library_tensor n=512..4096*2",
     "fp16 inputs, sums in fp32"},
    {"roofline", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=naive_col,naive_row,tiled,register,async n=2048 k=512",
     "what each version asks of L1 and shared memory, and the roof above it"},
    {"tile", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=tiled tile=8,16,32 n=2048", "the side of the tiles"},
    {"per_thread", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=register per_thread=4,8 n=2048", "results of a thread"},
    {"ragged", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "variant=naive_col,naive_row,tiled,register,async,tensor n=1031 m=1021 k=1033",
     "sides that are primes: no tile divides them, no row begins at a sector"},
    {"quick", UB_SUITE_QUICK, "variant=naive_row,tiled,register,async,tensor n=1000 m=520 k=500",
     "five steps of the ladder, with ragged tiles"},
    {"slow", UB_SUITE_FULL, "variant=naive_col,naive_row n=4096", "a quarter of a second a launch"},
    {"around", UB_SUITE_FULL, "variant=naive_col,naive_row,register n=1016..1032", "a power of two and its neighbours"},
};

static const char *const counters[] = {
    "ffma",
    "warpgroup_matrix_instructions",
    "matrix_instructions",
    "global_async_copies",
    "async_copy_sectors",
    "async_copy_wavefronts",
    "l1_wavefronts",
    "global_load_requests",
    "global_load_sectors",
    "global_load_bytes",
    "global_store_requests",
    "global_store_sectors",
    "global_store_bytes",
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "local_loads",
    "local_stores",
    "l1_shared_load_wavefronts",
    "l1_load_hits",
    "l2_read_sectors",
    "l2_sectors",
    "l2_hits",
    "dram_read_bytes",
    "warp_instructions",
};

static const char *const needs[] = {"clock_mhz", "dram_load_ceiling", "l2_load_ceiling", "launch_floor_ns"};

static const char *const metric_keys[] = {
    "flops",     "peak_share",  "useful_share", "intensity",   "bytes_per_fma",
    "pipe_busy", "l1_hit_rate", "l2_hit_rate",  "dram_excess",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct gemm_geometry g;
    return gemm_resolve(gpu, point, &g);
}

static uint64_t whole_lines(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct gemm_geometry g;
    *out = (struct ub_footprint){0};
    if (gemm_resolve(gpu, point, &g) != NULL)
        return;
    const uint64_t m = g.shape.m, n = g.shape.n, k = g.shape.k, bytes = g.half ? 2 : 4;
    const enum ub_fill fill = g.half ? UB_FILL_HALF : UB_FILL_FLOAT;
    out->buffers[0] = (struct ub_buffer_spec){"A", UB_DEVICE_MEMORY, fill, false, whole_lines(m * k * bytes)};
    out->buffers[1] = (struct ub_buffer_spec){"B", UB_DEVICE_MEMORY, fill, false, whole_lines(k * n * bytes)};
    out->buffers[2] = (struct ub_buffer_spec){"C", UB_DEVICE_MEMORY, UB_FILL_POISON, true, whole_lines(m * n * 4)};
    out->count = 3;
}

/* Of two numbers; NaN where there is nothing to divide by. */
static double ratio(double value, double by)
{
    return by > 0 ? value / by : NAN;
}

/* Bytes of the sectors that loads, copies and stores ask of L1. NaN where none was read: the
 * library's bulk copies go round L1, and no counter of it sees them. */
static double requested_bytes(const struct ub_facts *facts)
{
    const double read = ub_fact(facts, "global_load_sectors") + ub_fact(facts, "async_copy_sectors");
    return read > 0 ? UB_SECTOR_BYTES * (read + ub_fact(facts, "global_store_sectors")) : NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct gemm_geometry g;
    out->count = 0;
    if (gemm_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double multiply_adds = gemm_multiply_adds(&g), flops = 2 * multiply_adds / facts->time_ns * 1e9;
    const double sm_cycles = facts->gpu->sms * facts->time_ns * ub_fact_clock_mhz(facts) * 1e-3;
    const double turns = g.half ? NAN : ub_fact(facts, "l1_wavefronts");
    const double inputs_bytes = gemm_matrix_bytes(&g) - 4 * (double)g.shape.m * (double)g.shape.n;
    ub_metric_add(out, "flops", "FLOP/s", flops);
    ub_metric_add(out, "peak_share", "1", flops / gemm_peak(facts->gpu, facts->constants, &g));
    ub_metric_add(out, "useful_share", "1", ratio(multiply_adds, ub_fact(facts, "ffma")));
    ub_metric_add(out, "intensity", "FLOP/B", ratio(2 * multiply_adds, UB_LINE_BYTES * turns));
    ub_metric_add(out, "bytes_per_fma", "B", ratio(requested_bytes(facts), multiply_adds));
    ub_metric_add(out, "pipe_busy", "1", turns / sm_cycles);
    ub_metric_add(out, "l1_hit_rate", "1",
                  ratio(ub_fact(facts, "l1_load_hits"), ub_fact(facts, "global_load_sectors")));
    ub_metric_add(out, "l2_hit_rate", "1", ratio(ub_fact(facts, "l2_hits"), ub_fact(facts, "l2_sectors")));
    ub_metric_add(out, "dram_excess", "B/B", ratio(ub_fact(facts, "dram_read_bytes"), inputs_bytes));
}

/* ---- chart and texts ------------------------------------------------------------ */

/* At so many operations for each byte of the pipe that L1 and shared memory have in common. */
static double roof(const struct ub_gpu *gpu, const struct ub_constants *constants, double intensity)
{
    const double cycles = gpu->sms * ub_constant_value(constants, "clock_mhz") * 1e6;
    return cycles * fmin(2 * (double)gpu->fp32_lanes_per_sm, intensity * UB_LINE_BYTES);
}

static const struct ub_chart_text chart_texts[] = {
    {"size", "Fast versions need matrices that are large enough for every SM", NULL},
    {"large", "Without reuse in registers no kernel passes a seventh of the peak", NULL},
    {"tensor", "Matrix units need large matrices", NULL},
    {"roofline", "One pipe, L1 and shared memory, is the roof until 8 x 8 results a thread", NULL},
    {"tile", "Larger tiles save loads; turns of shared memory stay", NULL},
    {"per_thread", "Twice the side, half the words of shared memory for a multiply-add", NULL},
    {"ragged", "Odd sides cost the fast kernels most: no row begins at 16 bytes", NULL},
    {"variant", "Up the ladder: what a multiply-add asks of memory decides", NULL},
    {"around", "Columns of a power of two meet in one bank of L1", NULL},
    {"", "A product of matrices, version by version", NULL},
};

const struct ub_micro ub_micro_gemm = {
    .name = "gemm",
    .rule = "A product of matrices runs at the pace of what its inner loop asks of L1 and shared memory, until each "
            "thread has enough results in registers.",
    .text =
        {
            .law =
                "Of an SM's cycles a multiply-add of a warp takes 1/4 (128 lanes); each turn of the pipe that L1 and "
                "shared memory share, 128 bytes, takes 1. Turns of a warp for each multiply-add: naive_row 2 (one of "
                "A, one of B), naive_col 33 (its lanes lie in 32 rows of A, in one bank of L1 if k is a multiple of "
                "32), a tile in shared memory 1.5 (A by 16 bytes), 4 x 4 results a thread 0.25, 8 x 8 0.125, 8 x 16 "
                "0.09: where two lanes of each pair want the same, a 16-byte load takes 2 turns and not 4. Peak x "
                "min(1, 1/4 / turns) is the roof: 12.5 % of it, 0.8, 16.7, 100, 100, 100. Under the flat part the "
                "scheduler's instructions decide: 593 of a warp for 512 multiply-adds (register), 2273 for 2048 "
                "(async), started in 0.85 and 0.875 of the cycles (fits: multiply-adds wait for banks of registers). "
                "Time of an SM = its blocks x steps x (the busiest of these + what a step waits / blocks of the SM at "
                "a time) + a start. Multiply-adds: m n k in loops with guards, those of whole tiles else. Sectors are "
                "replayed, access by access. Answers are compared with fp64: within k u / (1 - k u) of the sum of "
                "absolute products, u = 2^-24, with fp16 inputs 9/8 k of 2^-23; in a small instance each element, in "
                "the point itself all up to 2048 x 2048 x 2048, beyond it every so many rows (512 of 4096).",
            .breaks =
                "What waits and starts take is fitted to an H200, and so are two factors that nothing explains: "
                "naive_row takes 1.38 times its turns, wgmma 1.3 times its units' cycles. Where naive_col's rows are "
                "no multiples of 32 elements apart, L1's tags decide, four of them a cycle, and the law is off by up "
                "to a fifth. The counters of asynchronous copies have some that no copy asked for, about 320 a block, "
                "and part of the zeroes beyond an edge: estimates. Under matrix instructions an H200 lowered its "
                "clock to 1648 MHz (4096; cuBLAS 1613) to 1826 MHz (512) of 1980. The library has no law: its kernels "
                "are its own, and it splits k where C alone does not fill the GPU.",
            .consequence =
                "An H200, 2048 x 2048 x 2048 in fp32: naive_col 0.49 TFLOP/s, naive_row 6.0, 32 x 32 tiles 8.9, 8 x 8 "
                "results a thread 43.7, 8 x 16 with asynchronous copies 50.2, cuBLAS 50.6; of a peak of 66.9. The "
                "order of lanes is worth 12, the tile 1.5, registers 4.9. 8 x 8 pays against a tile somewhere between "
                "512 and 1024, tiles of 128 x 256 against 128 x 128 between 1024 and 2048: before, SMs stand idle, "
                "and cuBLAS is 4.3 times as fast at 512. With fp16 inputs wgmma does 663 TFLOP/s at 4096, cuBLAS 759. "
                "Keep rows a multiple of 16 bytes: primes near 1024 cost register a quarter, the matrix units four "
                "fifths.",
            .folk =
                "\"A tile of 32 divides global traffic by 32\": by 20 what naive_row asks of L1 (5 bytes a "
                "multiply-add to 0.25), and next to nothing of what reaches L2, because L1 had found 95 % already: 66 "
                "million sectors without, 57 with tiles (2048).\n"
                "\"A tiled kernel comes near the tensor peak\": its shared memory allows a sixth of the fp32 peak, 1 "
                "% of that of the matrix units.\n"
                "\"GEMM is bound by DRAM unless tiled\": 32 x 32 tiles read their matrices from DRAM 62 times at "
                "4096, B again for each row of tiles, and need a ninth of DRAM's bandwidth for it.\n"
                "\"Powers of two are good sizes\": not for lanes along a column: 1024 takes 3.3 times as long as 1023.",
            .sources =
                "CUDA C++ Programming Guide, \"Shared memory\": the tiled kernel; arithmetic instructions: lanes\n"
                "Boehm, How to Optimize a CUDA Matmul Kernel (siboehm/SGEMM_CUDA): the ladder on an A6000, 309 to "
                "21779 GFLOP/s\n"
                "Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009\n"
                "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1: the bound\n"
                "Fasi, Higham, Mikaitis, Pranesh, PeerJ Comput. Sci. 7:e330, 2021: matrix units cut off\n"
                "PTX ISA, wgmma, mma, cp.async, ldmatrix\n"
                "RRZE gpu-benches gpu-strides: L1's turns and tags\n"
                "Measured: an H200, driver 580, CUDA 13.0: the record of reports/h200, and earlier runs for the "
                "constants of law.c",
        },
    .axis_count = GEMM_AXES,
    .axes = axes,
    .sweep_count = COUNT(sweeps),
    .sweeps = sweeps,
    .counter_count = COUNT(counters),
    .counters = counters,
    .need_count = COUNT(needs),
    .needs = needs,
    .metric_count = COUNT(metric_keys),
    .metric_keys = metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "flops",
            .metric_label = "performance  [TFLOP/s]",
            .metric_scale = 1e-12,
            .x_axis = "variant",
            .x_metric = "intensity",
            .x_label = "operations for each byte that L1 and shared memory move",
            .x_sweep = "roofline",
            .roof = roof,
            .share_metric = "peak_share",
            .share_label = "share of the peak",
            .second_label = "roof: min(peak, intensity × 128 B a cycle of an SM)",
            .panel_metric = "bytes_per_fma",
            .panel_label = "bytes / multiply-add",
            .panel_counter = "counters: sectors of loads, copies and stores a multiply-add",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = gemm_law,
    .metrics = metrics,
    .small = gemm_small,
    .verify = gemm_verify,
};
