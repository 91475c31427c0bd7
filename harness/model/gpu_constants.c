/* SPDX-License-Identifier: MIT
 *
 * The constants that laws use where nothing was measured. Measured ones are an
 * H200's; a card for which something was published uses that, as a share of its
 * own data sheet; all others use the middle of what was published. Whatever is
 * not measured says "assumed" and has an interval as wide as the sources differ.
 * A quantity without any source is left out. */
#include "harness/model/gpu.h"

#include <math.h>
#include <string.h>

#include "harness/contract/record.h"

/* A value with its interval; no origin: not known. */
struct figure {
    double value, lo, hi;
    const char *origin;
};

struct card_figures {
    const char *slug;
    struct figure load, store, copy; /* of DRAM, as a share of the data sheet's bandwidth */
    struct figure l2_load;           /* B/s */
    struct figure launch_floor;      /* ns */
    struct figure load_wait;         /* ns from a load to its data, out of an idle DRAM */
};

#define RRZE_STREAM "RRZE-HPC/gpu-benches gpu-stream"
#define RRZE_L2     "RRZE-HPC/gpu-benches gpu-l2-cache"
#define RRZE_LAUNCH "RRZE-HPC/gpu-benches gpu-small-kernels in a CUDA graph"
#define OPENCL      "ProjectPhysX/OpenCL-Benchmark"
#define RRZE_WAIT   "RRZE-HPC/gpu-benches gpu-latency: pointer chase"

static const struct card_figures published[] = {
    {.slug = "v100",
     .load = {0.96, 0.93, 0.98, RRZE_STREAM " read, V100 PCIe"},
     .copy = {0.90, 0.86, 0.93, RRZE_STREAM " scale, V100 PCIe"},
     .load_wait = {315, 290, 400, RRZE_WAIT ", V100 PCIe"}},
    {.slug = "t4", .load = {0.77, 0.70, 0.92, OPENCL " read"}, .store = {0.67, 0.60, 0.90, OPENCL " write"}},
    {.slug = "rtx2080ti", .load = {0.87, 0.83, 0.95, OPENCL " read"}, .store = {0.89, 0.85, 0.95, OPENCL " write"}},
    {.slug = "a100",
     .load = {0.87, 0.84, 0.95, RRZE_STREAM " read"},
     .store = {0.93, 0.88, 0.97, OPENCL " write, A100 PCIe 80GB"},
     .copy = {0.87, 0.84, 0.91, "NVIDIA-STREAM 24.3 copy"},
     .l2_load = {5.2e12, 4.5e12, 5.3e12, RRZE_L2 "; low end: Chips and Cheese"},
     .launch_floor = {1340, 1200, 1500, RRZE_LAUNCH},
     .load_wait = {392, 370, 490, RRZE_WAIT}},
    {.slug = "a100-40",
     .load = {0.96, 0.87, 0.98, RRZE_STREAM " read; low end: OpenCL-Benchmark"},
     .store = {0.97, 0.90, 0.98, OPENCL " write, A100 PCIe 40GB"},
     .copy = {0.89, 0.85, 0.92, RRZE_STREAM " scale"},
     .l2_load = {5.2e12, 4.5e12, 5.3e12, RRZE_L2 ", A100 80GB; low end: Chips and Cheese"},
     .launch_floor = {1340, 1200, 1500, RRZE_LAUNCH ", A100 80GB"}},
    {.slug = "a10", .load = {0.82, 0.78, 0.95, "mixbench read-only, ECC on"}},
    {.slug = "a40",
     .load = {0.98, 0.94, 0.99, RRZE_STREAM " read"},
     .copy = {0.94, 0.90, 0.96, RRZE_STREAM " scale"},
     .load_wait = {320, 300, 400, RRZE_WAIT}},
    {.slug = "rtx4090", .l2_load = {5.0e12, 4.5e12, 5.5e12, "Chips and Cheese, \"about 5 TB/s\""}},
    {.slug = "l40s",
     .load = {0.98, 0.92, 0.99, RRZE_STREAM " read, L40"},
     .copy = {0.90, 0.86, 0.96, RRZE_STREAM " scale, L40"},
     .l2_load = {5.2e12, 5.0e12, 5.5e12, RRZE_L2 ", L40"},
     .launch_floor = {940, 850, 1100, RRZE_LAUNCH ", L40"},
     .load_wait = {251, 235, 320, RRZE_WAIT ", L40"}},
    {.slug = "h100-pcie",
     .load = {0.95, 0.92, 0.98, RRZE_STREAM " and gpu-l2-cache read"},
     .copy = {0.87, 0.83, 0.91, "between scale 0.84 and triad 0.90 of " RRZE_STREAM},
     .l2_load = {6.9e12, 5.5e12, 7.0e12, RRZE_L2 "; low end: Chips and Cheese"},
     .launch_floor = {1300, 1150, 1500, "Hazy Research, No Bubbles (2025), H100 in a CUDA graph"},
     .load_wait = {375, 350, 480, RRZE_WAIT "; high end: caps-tum/mt4g"}},
    {.slug = "h100",
     .load = {0.90, 0.88, 0.98, OPENCL " read"},
     .store = {0.91, 0.89, 0.98, OPENCL " write"},
     .copy = {0.86, 0.84, 0.91, "p2pBandwidthLatencyTest, same device"},
     .l2_load = {9.0e12, 6.9e12, 9.8e12, "H100 PCIe's 6.9e12 x SMs x clock; high end: H200"},
     .launch_floor = {1300, 1150, 1500, "Hazy Research, No Bubbles (2025), in a CUDA graph"},
     .load_wait = {354, 330, 450, "markdewing/AI_kernels latency: 700 cycles"}},
    {.slug = "h200", .l2_load = {9.8e12, 9.0e12, 10.1e12, RRZE_L2}},
    {.slug = "gh200",
     .load = {0.90, 0.88, 0.98, OPENCL " read"},
     .store = {0.92, 0.90, 0.98, OPENCL " write"},
     .copy = {0.89, 0.84, 0.93, "an H200's share"},
     .l2_load = {9.8e12, 6.9e12, 10.1e12, RRZE_L2 ", H200"},
     .launch_floor = {1260, 1130, 1500, RRZE_LAUNCH ", H200"},
     .load_wait = {348, 330, 450, "te42kyfo/gpu-benches gpu-latency: 689 cycles"}},
    {.slug = "b200",
     .load = {0.83, 0.80, 0.95, OPENCL " read"},
     .store = {0.81, 0.78, 0.95, OPENCL " write"},
     .copy = {0.76, 0.70, 0.90, "its load share x 0.91 (copy to load on an H200)"},
     .l2_load = {16.8e12, 15.0e12, 21.0e12, "Chips and Cheese, Nvidia's B200 (across partitions)"},
     .launch_floor = {800, 700, 1500, "Mirage persistent kernel, arXiv:2512.22219, in a CUDA graph"},
     .load_wait = {438, 400, 550, "markdewing/AI_kernels latency: 860 cycles"}},
};

/* Middle and ends of the shares above, for a card about which nothing was published. */
static const struct card_figures elsewhere = {
    .load = {0.92, 0.77, 0.98, "other cards read 0.77 to 0.98"},
    .store = {0.92, 0.67, 0.98, "other cards write 0.67 to 0.98"},
    .copy = {0.88, 0.75, 0.95, "other cards copy 0.75 to 0.95"},
    .launch_floor = {1300, 800, 2000, "other cards need 800 to 1340 ns in a CUDA graph"},
    .load_wait = {370, 250, 550, "other cards wait 251 to 438 ns"},
};

static const struct {
    const char *slug, *name;
    struct figure figure;
    const char *unit;
} measured[] = {
#define ON_H200       "measured on an H200 by ubench: 2 GiB, 16 bytes in flight a thread, block 256"
#define ON_HOST       "measured on an H200 by ubench; of its host: an Intel Xeon, 16 cores, model 207"
#define ON_H200_CHASE "measured on an H200 by ubench: pointer chase, "
    {"h200", "dram_load_ceiling", {4.68e12, 4.60e12, 4.73e12, ON_H200 "; cards differ by 1.5 %"}, "B/s"},
    {"h200", "dram_store_ceiling", {4.69e12, 4.643e12, 4.737e12, ON_H200}, "B/s"},
    {"h200", "dram_copy_ceiling", {4.27e12, 4.227e12, 4.313e12, ON_H200 "; read and written bytes"}, "B/s"},
    {"h200", "block_launch_ns", {0.604, 0.592, 0.616, "measured on an H200 by ubench"}, "ns"},
    {"h200",
     "load_wait_ns",
     {399, 375, 405, "measured on an H200 by ubench: occupancy, 4 warps an SM, a line each"},
     "ns"},
    {"h200", "l1_latency_cycles", {32.0, 31.99, 32.01, ON_H200_CHASE "32 KiB"}, "cycle"},
    {"h200",
     "l2_latency_ns",
     {141.5, 136, 150, ON_H200_CHASE "7.5 MiB on SM 0; SMs differ by 9 %, sessions by 2 %"},
     "ns"},
    {"h200", "dram_latency_ns", {335, 328, 350, ON_H200_CHASE "1 GiB; sessions differ by 2 %"}, "ns"},
    {"h200", "shared_latency_cycles", {23.0, 22.99, 23.01, ON_H200_CHASE "shared memory"}, "cycle"},
    {"h200", "block_barrier_cycles", {14.0, 13.99, 14.01, "measured on an H200 by ubench: one warp"}, "cycle"},
    {"h200", "host_wait_ns", {9800, 8500, 11000, ON_HOST}, "ns"},
    {"h200", "host_launches_ns", {860000, 800000, 1000000, ON_HOST}, "ns"},
    {"h200", "graph_wait_ns", {6100, 5800, 6800, ON_HOST}, "ns"},
#define ON_H200_HOST "measured on an H200 by ubench: PCIe 5 x16, an Intel Xeon, 64 MiB"
    {"h200", "copy_in_bandwidth", {55.2e9, 54e9, 56e9, ON_H200_HOST}, "B/s"},
    {"h200", "copy_out_bandwidth", {55.2e9, 54e9, 56e9, ON_H200_HOST}, "B/s"},
    {"h200", "copy_both_bandwidth", {99.9e9, 89e9, 103e9, ON_H200_HOST}, "B/s"},
    {"h200", "launch_floor_ns", {503, 495, 515, "measured on an H200 by ubench: empty kernels in a graph"}, "ns"},
};

/* What a load waits for where it finds its line, alone: SM cycles in L1, ns in the part of
 * L2 beside its SM. DRAM: load_wait above. */
#define AIK "markdewing/AI_kernels latency, whose chain also works out an index"
static const struct latencies {
    const char *slug;
    struct figure l1, l2;
} latencies[] = {
    {"v100", {28.2, 28, 36, RRZE_WAIT ", V100 PCIe"}, {153.7, 145, 161, RRZE_WAIT ", V100 PCIe"}},
    {"a100", {33.4, 33, 39, RRZE_WAIT}, {145.7, 142, 185, RRZE_WAIT}},
    {"a100-40", {36.2, 33, 39, RRZE_WAIT}, {151.1, 142, 185, RRZE_WAIT}},
    {"a40", {33.4, 32, 40, RRZE_WAIT}, {143.9, 135, 160, RRZE_WAIT}},
    {"rtx4090", {34.5, 32, 40, RRZE_WAIT ", L40; high end: " AIK}, {107, 100, 120, "Chips and Cheese, RTX 4090"}},
    {"l40s", {34.5, 32, 40, RRZE_WAIT ", L40"}, {109.9, 105, 120, RRZE_WAIT ", L40"}},
    {"h100-pcie", {34.2, 32, 40, RRZE_WAIT}, {151.3, 139, 160, RRZE_WAIT "; ends: Chips and Cheese"}},
    {"h100", {32.5, 32, 40, RRZE_WAIT ", GH200; high end: " AIK}, {147, 131, 150, AIK}},
    {"gh200", {32.5, 32, 40, RRZE_WAIT "; high end: " AIK}, {141.6, 138, 150, RRZE_WAIT}},
    {"b200", {39, 34, 44, "Chips and Cheese, Nvidia's B200"}, {150, 140, 160, "Chips and Cheese, Nvidia's B200"}},
};

/* In between for cards about which nothing was published. */
static const struct latencies latencies_elsewhere = {
    .l1 = {34, 28, 44, "other cards take 28 to 40 cycles"},
    .l2 = {145, 105, 185, "other cards take 107 to 154 ns"},
};

/* From one half of L2 to the other, where it has two: far hit less near hit. */
static const struct {
    int cc_major;
    struct figure ns;
} crossings[] = {
    {8, {105.7, 95, 115, "Luo et al. 2025, Table 4: 357 - 208 cycles of an A100 at 1410 MHz"}},
    {9, {89, 80, 100, "Luo et al. 2025, Table 4: 414 - 258 cycles of an H800 at 1755 MHz"}},
    {10, {97, 60, 130, "between an A100 and an H800"}},
};

/* SM cycles between two block launches of the whole device: 0.604 ns x 1.98 GHz
 * on an H200. How it scales with the number of SMs is not known, hence the
 * factor of two either way. */
static const double block_launch_cycles = 1.196;

/* The rule divergence: SM cycles of a step that needs the one before, one warp a
 * scheduler, measured on an H200 by ubench: an FMA (4 cycles from sm_70 to sm_90: Jia et
 * al. 2018 and 2019, Luo et al. 2024) with its share of a loop of 32; the add, mask,
 * compare, select and add of a select; a look-up in constant memory at one index a warp.
 * The rule reduce: from one atomic of a warp to the next, all on one word of L2.
 * The rule carveout: a load of a line of which the address needs the load before it, found
 * in L1 or not. */
static const struct {
    const char *name;
    double cycles, lo, hi; /* on an H200; elsewhere +-25 % */
} steps[] = {
    {"fma_step_ns", 4.22, 4.20, 4.30},     {"select_step_ns", 6.84, 6.7, 7.0},  {"constant_step_ns", 34, 33.8, 34.2},
    {"carveout_hit_ns", 46.6, 46.4, 46.8}, {"carveout_miss_ns", 301, 285, 316}, {"red_int_ns", 1.503, 1.46, 1.54},
    {"red_float_ns", 3.492, 3.48, 3.51},
};

static void set_steps(struct ub_constants *out, const struct ub_gpu *gpu)
{
    const double cycle_ns = 1e3 / gpu->clock_boost_mhz;
    const bool is_h200 = gpu->slug && strcmp(gpu->slug, "h200") == 0;
    for (size_t i = 0; gpu->clock_boost_mhz > 0 && i < sizeof steps / sizeof steps[0]; i++) {
        const double cycles = steps[i].cycles;
        const double lo = is_h200 ? steps[i].lo : 0.75 * cycles, hi = is_h200 ? steps[i].hi : 1.25 * cycles;
        ub_constant_set(out, steps[i].name, cycles * cycle_ns, lo * cycle_ns, hi * cycle_ns, "ns",
                        is_h200 ? "measured on an H200 by ubench: %.2f SM cycles"
                                : "assumed from the H200: %.2f SM cycles at boost clock",
                        cycles);
    }
}

static const struct card_figures *published_of(const char *slug)
{
    for (size_t i = 0; slug && i < sizeof published / sizeof published[0]; i++)
        if (strcmp(published[i].slug, slug) == 0)
            return &published[i];
    return &elsewhere;
}

/* `figure`, or `fallback` where it is not known. */
static const struct figure *known(const struct figure *figure, const struct figure *fallback)
{
    return figure->origin ? figure : fallback;
}

/* A card of the table has its data sheet's bandwidth, any other the rate of its pins or what its file says. */
static void set_share(struct ub_constants *out, const char *name, const struct figure *share, const struct ub_gpu *gpu)
{
    const double peak_bps = gpu->dram_bandwidth_bps;
    if (!(peak_bps > 0))
        return;
    ub_constant_set(out, name, share->value * peak_bps, share->lo * peak_bps, share->hi * peak_bps, "B/s",
                    "assumed: %s x %.2f, %s", gpu->slug ? "data sheet" : "peak bandwidth", share->value, share->origin);
}

static void set_figure(struct ub_constants *out, const char *name, const struct figure *figure, const char *unit,
                       const char *prefix)
{
    if (figure->origin)
        ub_constant_set(out, name, figure->value, figure->lo, figure->hi, unit, "%s%s", prefix, figure->origin);
}

/* The way to the host, pinned memory: one way, B/s. By card, then by generation: PCIe 3, 4 and
 * 5, 16 lanes. */
#define NVBANDWIDTH "nvbandwidth "
static const struct link {
    const char *slug;
    int cc_major; /* 0: only of the card */
    struct figure in, out;
} links[] = {
    {"a100", 0, {25.7e9, 22e9, 26.5e9, NVBANDWIDTH "DGX A100"}, {25.8e9, 22e9, 26.5e9, NVBANDWIDTH "DGX A100"}},
    {"h100", 0, {55.4e9, 50e9, 56e9, NVBANDWIDTH "HGX H100"}, {55.2e9, 50e9, 56e9, NVBANDWIDTH "HGX H100"}},
    {"gh200", 0, {335e9, 300e9, 400e9, NVBANDWIDTH "NVLink-C2C"}, {292e9, 250e9, 350e9, NVBANDWIDTH "NVLink-C2C"}},
    {NULL, 7, {12.4e9, 10e9, 13e9, "RRZE cuda-memcpy, V100 PCIe 3"}, {12.4e9, 10e9, 13e9, "its way in, PCIe 3"}},
    {NULL, 8, {25.2e9, 20e9, 26.5e9, "an A10, PCIe 4"}, {25.2e9, 20e9, 26.5e9, "its way in, PCIe 4"}},
    {NULL, 0, {55e9, 45e9, 57e9, "H100 and H200, PCIe 5"}, {55e9, 45e9, 57e9, "H100 and H200, PCIe 5"}},
};

static const struct link *link_of(const struct ub_gpu *gpu)
{
    size_t i = 0;
    while (links[i].slug ? !gpu->slug || strcmp(links[i].slug, gpu->slug) != 0
                         : links[i].cc_major != 0 && links[i].cc_major != gpu->cc_major)
        i++;
    return &links[i];
}

/* What depends on the host more than on the card. */
static const struct {
    const char *name, *unit;
    struct figure figure;
} of_host[] = {
#define XEON "an H200 on an Intel Xeon, PCIe 5, by ubench"
    {"copy_latency_ns", "ns", {8.5e3, 5e3, 30e3, XEON}},
    {"copy_cost_ns", "ns", {2.8e3, 1e3, 5e3, XEON}},
    {"copy_cost_both_ns", "ns", {4.7e3, 2e3, 8e3, XEON}},
    {"kernel_latency_ns", "ns", {12e3, 5e3, 30e3, XEON}},
    {"issue_ns", "ns", {2.7e3, 1.5e3, 6e3, XEON}},
    {"hop_ns", "ns", {6.2e3, 3e3, 12e3, XEON}},
    {"barrier_ns", "ns", {19.5e3, 5e3, 40e3, XEON}},
    {"pageable_latency_ns", "ns", {12e3, 6e3, 40e3, XEON}},
    {"pageable_in_bandwidth", "B/s", {13.7e9, 3e9, 14e9, XEON ", 16 MiB; DGX A100 10.0e9, a Dell host 3.3e9"}},
    {"pageable_out_bandwidth", "B/s", {13.8e9, 8e9, 14e9, XEON ", 16 MiB; DGX A100 10.8e9, a Dell host 8.5e9"}},
};

static void set_link(struct ub_constants *out, const struct ub_gpu *gpu)
{
    const struct link *link = link_of(gpu);
    const double both = link->in.value + link->out.value;
    set_figure(out, "copy_in_bandwidth", &link->in, "B/s", "assumed: ");
    set_figure(out, "copy_out_bandwidth", &link->out, "B/s", "assumed: ");
    ub_constant_set(out, "copy_both_bandwidth", 0.8 * both, 0.7 * both, both, "B/s",
                    "assumed: 0.8 x both ways alone; PCIe 4 0.72 (nvbandwidth), an H200's PCIe 5 0.86");
    for (size_t i = 0; i < sizeof of_host / sizeof of_host[0]; i++)
        set_figure(out, of_host[i].name, &of_host[i].figure, of_host[i].unit, "assumed: ");
}

static void set_clock(struct ub_constants *out, const struct ub_gpu *gpu)
{
    const double boost = gpu->clock_boost_mhz;
    if (!(boost > 0))
        return;
    /* Under a heavy load a card may fall as far as its base clock. */
    const bool has_base = gpu->clock_base_mhz > 0 && gpu->clock_base_mhz <= boost;
    ub_constant_set(out, "clock_mhz", boost, has_base ? gpu->clock_base_mhz : 0.7 * boost, boost, "MHz",
                    "assumed: boost clock; low end: %s", has_base ? "base clock" : "0.7 x boost, base clock not known");
    const double launch_ns = block_launch_cycles / boost * 1e3;
    ub_constant_set(out, "block_launch_ns", launch_ns, launch_ns / 2, launch_ns * 2, "ns",
                    "assumed from the H200: %.3f SM cycles at %.0f MHz", block_launch_cycles, boost);
}

static const struct latencies *latencies_of(const char *slug)
{
    for (size_t i = 0; slug && i < sizeof latencies / sizeof latencies[0]; i++)
        if (strcmp(latencies[i].slug, slug) == 0)
            return &latencies[i];
    return &latencies_elsewhere;
}

static void set_latencies(struct ub_constants *out, const struct ub_gpu *gpu, const struct figure *dram)
{
    static const struct figure shared = {23, 18, 31, "A100 23 (Sun et al. 2023), V100 23.5 (caps-tum/mt4g)"};
    static const struct figure barrier = {18, 12, 24,
                                          "between an H200 (14) and an A100 (23: Burtchell, Burtscher 2024)"};
    static const struct figure barrier_ampere = {23, 22, 24, "A100 PCIe (Burtchell, Burtscher 2024)"};
    const struct latencies *card = latencies_of(gpu->slug);
    set_figure(out, "block_barrier_cycles", gpu->cc_major == 8 ? &barrier_ampere : &barrier, "cycle", "assumed: ");
    set_figure(out, "l1_latency_cycles", &card->l1, "cycle", "assumed: ");
    set_figure(out, "l2_latency_ns", &card->l2, "ns", "assumed: ");
    set_figure(out, "dram_latency_ns", dram, "ns", "assumed: ");
    set_figure(out, "shared_latency_cycles", &shared, "cycle", "assumed: ");
    for (size_t i = 0; ub_gpu_has_l2_halves(gpu) && i < sizeof crossings / sizeof crossings[0]; i++)
        if (crossings[i].cc_major == gpu->cc_major)
            set_figure(out, "l2_crossing_ns", &crossings[i].ns, "ns", "assumed: ");
}

static void set_measured(struct ub_constants *out, const char *slug)
{
    for (size_t i = 0; slug && i < sizeof measured / sizeof measured[0]; i++)
        if (strcmp(measured[i].slug, slug) == 0)
            set_figure(out, measured[i].name, &measured[i].figure, measured[i].unit, "");
}

void ub_gpu_constants(const struct ub_gpu *gpu, struct ub_constants *out)
{
    out->count = 0;
    const struct card_figures *card = published_of(gpu->slug);
    set_share(out, "dram_load_ceiling", known(&card->load, &elsewhere.load), gpu);
    set_share(out, "dram_store_ceiling", known(&card->store, &elsewhere.store), gpu);
    set_share(out, "dram_copy_ceiling", known(&card->copy, &elsewhere.copy), gpu);
    set_figure(out, "l2_load_ceiling", &card->l2_load, "B/s", "assumed: ");
    set_figure(out, "launch_floor_ns", known(&card->launch_floor, &elsewhere.launch_floor), "ns", "assumed: ");
    set_figure(out, "load_wait_ns", known(&card->load_wait, &elsewhere.load_wait), "ns", "assumed: ");
    set_latencies(out, gpu, known(&card->load_wait, &elsewhere.load_wait));
    set_clock(out, gpu);
    set_steps(out, gpu);
    set_link(out, gpu);
    set_measured(out, gpu->slug); /* replaces what was assumed */
}
