/* SPDX-License-Identifier: MIT
 *
 * The counters are checked before they are believed: a kernel whose requests,
 * sectors, lines and bytes are worked out by hand, launched as ranges of several
 * chunks of one session. Needs a GPU and the right to read its counters;
 * otherwise the test is skipped and says why. The kernel is PTX and every driver
 * call is looked up here, so that the test needs neither nvcc nor the harness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "harness/contract/counters.h"

enum { BLOCKS = 512, THREADS = 256, WARPS = BLOCKS * THREADS / 32, RANGES = 5, CHUNK = 3 };

static const uint32_t strides[RANGES] = {1, 2, 4, 8, 16};

/* out[i] = in[i * stride], four bytes a thread, no bound to check. */
static const char ptx[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                          ".visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 stride)\n{\n"
                          ".reg .b32 %r<7>;\n.reg .b64 %d<7>;\n"
                          "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nld.param.u32 %r1, [stride];\n"
                          "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
                          "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                          "cvta.to.global.u64 %d1, %d1;\ncvta.to.global.u64 %d2, %d2;\n"
                          "mul.wide.u32 %d3, %r5, 4;\nadd.u64 %d4, %d2, %d3;\n"
                          "mul.lo.u32 %r5, %r5, %r1;\nmul.wide.u32 %d3, %r5, 4;\nadd.u64 %d5, %d1, %d3;\n"
                          "ld.global.u32 %r6, [%d5];\nst.global.u32 [%d4], %r6;\nret;\n}\n";

/* ---- the driver ------------------------------------------------------------ */

struct driver {
    int (*init)(unsigned flags);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_current)(void *context);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*module_unload)(void *module);
    int (*allocate)(uint64_t *pointer, size_t bytes);
    int (*release)(uint64_t pointer);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **parameters, void **extra);
    int (*synchronize)(void);
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"cuInit", offsetof(struct driver, init)},
    {"cuDevicePrimaryCtxRetain", offsetof(struct driver, context_retain)},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(struct driver, context_release)},
    {"cuCtxSetCurrent", offsetof(struct driver, context_current)},
    {"cuModuleLoadData", offsetof(struct driver, module_load)},
    {"cuModuleGetFunction", offsetof(struct driver, module_function)},
    {"cuModuleUnload", offsetof(struct driver, module_unload)},
    {"cuMemAlloc_v2", offsetof(struct driver, allocate)},
    {"cuMemFree_v2", offsetof(struct driver, release)},
    {"cuLaunchKernel", offsetof(struct driver, launch)},
    {"cuCtxSynchronize", offsetof(struct driver, synchronize)},
};

struct gpu {
    struct driver driver;
    void *context, *module, *kernel;
    uint64_t in, out;
    size_t chunk_start; /* first range of the chunk that is collected */
    int launches;
    bool broken; /* the next launch reports a failure */
};

static bool open_driver(struct driver *driver)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; handle && i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(handle, functions[i].name);
        if (!symbol)
            return false;
        memcpy((char *)driver + functions[i].offset, &symbol, sizeof symbol);
    }
    return handle && driver->init(0) == 0;
}

/* The context of device 0 with the kernel loaded, or NULL where there is no GPU. */
static struct gpu *open_gpu(void)
{
    static const size_t in_bytes = (size_t)BLOCKS * THREADS * 16 * 4;
    struct gpu *gpu = calloc(1, sizeof *gpu);
    assert_non_null(gpu);
    if (!open_driver(&gpu->driver) || gpu->driver.context_retain(&gpu->context, 0) != 0) {
        free(gpu);
        return NULL;
    }
    assert_int_equal(gpu->driver.context_current(gpu->context), 0);
    assert_int_equal(gpu->driver.module_load(&gpu->module, ptx), 0);
    assert_int_equal(gpu->driver.module_function(&gpu->kernel, gpu->module, "copy"), 0);
    assert_int_equal(gpu->driver.allocate(&gpu->in, in_bytes), 0);
    assert_int_equal(gpu->driver.allocate(&gpu->out, in_bytes), 0);
    return gpu;
}

static void close_gpu(struct gpu *gpu)
{
    gpu->driver.release(gpu->in);
    gpu->driver.release(gpu->out);
    gpu->driver.module_unload(gpu->module);
    gpu->driver.context_release(0);
    free(gpu);
}

static bool run_range(void *user, size_t range, struct ub_error *err)
{
    struct gpu *gpu = user;
    uint32_t stride = strides[gpu->chunk_start + range];
    void *parameters[] = {&gpu->in, &gpu->out, &stride};
    gpu->launches++;
    if (gpu->broken)
        return ub_fail(err, UB_WRONG_ANSWER, "the launch failed on purpose");
    return (gpu->driver.launch(gpu->kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL) == 0 &&
            gpu->driver.synchronize() == 0) ||
           ub_fail(err, UB_INTERNAL, "the launch of stride %u failed", stride);
}

/* ---- what the kernel must count -------------------------------------------- */

static uint64_t warps(uint32_t stride)
{
    (void)stride;
    return WARPS;
}

/* 32 lanes of 4 bytes, `stride` elements apart: 4 x stride sectors until each lane has its own. */
static uint64_t load_sectors(uint32_t stride)
{
    return (uint64_t)WARPS * (stride < 8 ? 4 * stride : 32);
}

static uint64_t store_sectors(uint32_t stride)
{
    (void)stride;
    return (uint64_t)WARPS * 4;
}

static uint64_t bytes(uint32_t stride)
{
    (void)stride;
    return (uint64_t)WARPS * 128;
}

/* A warp loads from `stride` lines of 128 bytes and stores to one. */
static uint64_t lines(uint32_t stride)
{
    return (uint64_t)WARPS * (stride + 1);
}

static uint64_t blocks(uint32_t stride)
{
    (void)stride;
    return BLOCKS;
}

static uint64_t threads(uint32_t stride)
{
    (void)stride;
    return (uint64_t)BLOCKS * THREADS;
}

static uint64_t nothing(uint32_t stride)
{
    (void)stride;
    return 0;
}

static const struct {
    const char *key;
    uint64_t (*expected)(uint32_t stride);
} exact[] = {
    {"global_load_requests", warps},
    {"global_store_requests", warps},
    {"global_load_sectors", load_sectors},
    {"global_store_sectors", store_sectors},
    {"global_load_bytes", bytes},
    {"global_store_bytes", bytes},
    {"global_lines", lines},
    {"shared_load_requests", nothing},
    {"local_loads", nothing},
    {"ffma", nothing},
    {"smsp__sass_inst_executed_op_global_ld.sum", warps}, /* the same metric by its raw name */
    {"foo__bar.sum", NULL},                               /* no such metric */
    {"sm__warps_active.avg", NULL},                       /* not an integer */
};
enum { EXACT = sizeof exact / sizeof exact[0] };

/* Counted by hardware rather than by instrumented code: more passes. */
static const struct {
    const char *key;
    uint64_t (*expected)(uint32_t stride);
} mixed[] = {
    {"global_load_sectors", load_sectors}, {"blocks_launched", blocks},       {"warps_launched", warps},
    {"threads_launched", threads},         {"l1_load_sectors", load_sectors},
};
enum { MIXED = sizeof mixed / sizeof mixed[0] };

static struct ub_counter_session *open_session(struct gpu *gpu, size_t count, const char *const *keys)
{
    const struct ub_counter_setup setup = {
        .device = 0, .context = gpu->context, .key_count = count, .keys = keys, .range_count = CHUNK};
    struct ub_counter_session *session = NULL;
    struct ub_error err = {.text = ""};
    if (!ub_counters.open(&session, &setup, &err))
        fail_msg("open: %s", err.text);
    return session;
}

/* Collects all ranges in chunks; values[range * count + key]. */
static void collect_all(struct gpu *gpu, struct ub_counter_session *session, size_t count,
                        struct ub_counter_value *values)
{
    struct ub_error err = {.text = ""};
    for (gpu->chunk_start = 0; gpu->chunk_start < RANGES; gpu->chunk_start += CHUNK) {
        const size_t left = RANGES - gpu->chunk_start;
        if (!ub_counters.collect(session, left < CHUNK ? left : CHUNK, run_range, gpu,
                                 values + gpu->chunk_start * count, &err))
            fail_msg("collect: %s", err.text);
    }
    gpu->chunk_start = 0;
}

static void expect(const char *key, uint32_t stride, const struct ub_counter_value *value,
                   uint64_t (*expected)(uint32_t))
{
    if (!expected) {
        assert_false(value->known);
        assert_string_not_equal(value->reason, "");
    } else if (!value->known) {
        fail_msg("%s at stride %u: %s", key, stride, value->reason);
    } else if (value->value != expected(stride)) {
        fail_msg("%s at stride %u: %llu, expected %llu", key, stride, (unsigned long long)value->value,
                 (unsigned long long)expected(stride));
    }
}

/* ---- tests ------------------------------------------------------------------ */

static int set_up(void **state)
{
    *state = open_gpu();
    return 0;
}

static int tear_down(void **state)
{
    if (*state)
        close_gpu(*state);
    return 0;
}

/* The GPU, or a skipped test with the reason. */
static struct gpu *usable(void **state)
{
    struct gpu *gpu = *state;
    struct ub_error err = {.text = "there is no GPU"};
    char chip[32] = "";
    if (gpu && ub_counters.probe(0, gpu->context, chip, sizeof chip, &err)) {
        assert_string_not_equal(chip, "");
        return gpu;
    }
    print_message("[  SKIP  ] %s\n", err.text);
    skip();
    return NULL;
}

static void exact_counters(void **state)
{
    struct gpu *gpu = usable(state);
    const char *keys[EXACT];
    static struct ub_counter_value values[RANGES * EXACT];
    for (size_t k = 0; k < EXACT; k++)
        keys[k] = exact[k].key;
    struct ub_counter_session *session = open_session(gpu, EXACT, keys);
    assert_int_equal(ub_counters.session_passes(session), 1);
    assert_string_equal(ub_counters.session_raw(session, 0), "smsp__sass_inst_executed_op_global_ld.sum");
    assert_null(ub_counters.session_raw(session, EXACT - 1));
    gpu->launches = 0;
    collect_all(gpu, session, EXACT, values);
    assert_int_equal(gpu->launches, RANGES);
    for (size_t r = 0; r < RANGES; r++)
        for (size_t k = 0; k < EXACT; k++)
            expect(exact[k].key, strides[r], &values[r * EXACT + k], exact[k].expected);
    ub_counters.close(session);
}

static void several_passes(void **state)
{
    struct gpu *gpu = usable(state);
    const char *keys[MIXED];
    static struct ub_counter_value values[RANGES * MIXED];
    for (size_t k = 0; k < MIXED; k++)
        keys[k] = mixed[k].key;
    struct ub_counter_session *session = open_session(gpu, MIXED, keys);
    const int passes = ub_counters.session_passes(session);
    assert_true(passes >= 2);
    gpu->launches = 0;
    collect_all(gpu, session, MIXED, values);
    assert_int_equal(gpu->launches, RANGES * passes);
    for (size_t r = 0; r < RANGES; r++)
        for (size_t k = 0; k < MIXED; k++)
            expect(mixed[k].key, strides[r], &values[r * MIXED + k], mixed[k].expected);
    ub_counters.close(session);
}

/* A launch that fails ends the chunk with the launch's own message; the session
 * takes another chunk afterwards. */
static void failed_launch(void **state)
{
    struct gpu *gpu = usable(state);
    const char *keys[] = {"global_load_sectors"};
    struct ub_counter_value values[RANGES];
    struct ub_error err = {.text = ""};
    struct ub_counter_session *session = open_session(gpu, 1, keys);
    gpu->broken = true;
    assert_false(ub_counters.collect(session, CHUNK, run_range, gpu, values, &err));
    assert_int_equal(err.status, UB_WRONG_ANSWER);
    assert_string_equal(err.text, "the launch failed on purpose");
    gpu->broken = false;
    collect_all(gpu, session, 1, values);
    for (size_t r = 0; r < RANGES; r++)
        expect(keys[0], strides[r], &values[r], load_sectors);
    assert_false(ub_counters.collect(session, CHUNK + 1, run_range, gpu, values, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    ub_counters.close(session);
}

/* Nothing that can be counted is no failure: each value says why. */
static void nothing_to_count(void **state)
{
    struct gpu *gpu = usable(state);
    const char *keys[] = {"foo__bar.sum"};
    struct ub_counter_value values[CHUNK];
    struct ub_error err = {.text = ""};
    struct ub_counter_session *session = open_session(gpu, 1, keys);
    assert_int_equal(ub_counters.session_passes(session), 0);
    gpu->launches = 0;
    assert_true(ub_counters.collect(session, CHUNK, run_range, gpu, values, &err));
    assert_int_equal(gpu->launches, 0);
    expect(keys[0], 1, &values[CHUNK - 1], NULL);
    ub_counters.close(session);
}

/* Wrong questions get an answer, with and without a GPU: nothing here may crash. */
static void wrong_questions(void **state)
{
    struct gpu *gpu = *state;
    struct ub_counter_session *session = NULL;
    struct ub_error err = {.text = ""};
    char chip[32] = "x";
    const char *keys[] = {"global_load_sectors"};
    const struct ub_counter_setup setup = {
        .device = 0, .context = NULL, .key_count = 1, .keys = keys, .range_count = 1};
    assert_false(ub_counters.probe(77, gpu ? gpu->context : NULL, chip, sizeof chip, &err));
    assert_string_not_equal(err.text, "");
    assert_string_equal(chip, "");
    assert_false(ub_counters.probe(0, NULL, chip, sizeof chip, &err));
    assert_string_not_equal(err.text, "");
    assert_false(ub_counters.open(&session, &setup, &err));
    assert_string_not_equal(err.text, "");
    assert_null(session);
    ub_counters.close(NULL);
}

/* A word that is neither a key nor a raw name is a mistake of the user, and named. */
static void wrong_key(void **state)
{
    struct gpu *gpu = usable(state);
    const char *keys[] = {"global_lode_sectors"};
    const struct ub_counter_setup setup = {
        .device = 0, .context = gpu->context, .key_count = 1, .keys = keys, .range_count = 1};
    struct ub_counter_session *session = NULL;
    struct ub_error err = {.text = ""};
    assert_false(ub_counters.open(&session, &setup, &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_non_null(strstr(err.text, "global_lode_sectors"));
}

/* CUPTI serves one tool a process: where another was injected, nothing is loaded. */
static void injected_tool(void **state)
{
    struct gpu *gpu = *state;
    struct ub_error err = {.text = ""};
    char chip[32];
    assert_int_equal(setenv("CUDA_INJECTION64_PATH", "/nowhere/libtool.so", 1), 0);
    assert_false(ub_counters.probe(0, gpu ? gpu->context : NULL, chip, sizeof chip, &err));
    assert_int_equal(unsetenv("CUDA_INJECTION64_PATH"), 0);
    assert_int_equal(err.status, UB_NO_COUNTERS);
    if (strcmp(ub_counters.name, "none") != 0)
        assert_non_null(strstr(err.text, "CUDA_INJECTION64_PATH"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_questions), cmocka_unit_test(injected_tool), cmocka_unit_test(exact_counters),
        cmocka_unit_test(several_passes),  cmocka_unit_test(failed_launch), cmocka_unit_test(nothing_to_count),
        cmocka_unit_test(wrong_key),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
