/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cuda/api.h"
#include "harness/cuda/fill.h"
#include "harness/cuda/runtime.h"
#include "harness/engine/axis.h"
#include "tests/fake/fake.h"

enum {
    FAKE_OK = 0,
    FAKE_LAUNCH_FAILURE = 719,
    FAKE_INVALID_CONFIGURATION = 9,
    FAKE_NO_IMAGE = 209,
    FAKE_SMS = 4,
    FAKE_TICK_NS = 32
};

/* The state of the fake process-wide device. Tests only: a real device has such a
 * state too. */
static struct {
    double now_ns, cycles;
    bool capturing, broken;
    double captured_ns;
    size_t allocated, memory;
    unsigned launches;
} fake = {.now_ns = 1e9, .memory = 256u << 20};

struct fake_graph {
    double time_ns;
};

struct fake_event {
    double time_ns;
};

/* ---- faults ------------------------------------------------------------------- */

static bool next_word(const char **rest, char *word, size_t size)
{
    if (!*rest || !**rest)
        return false;
    size_t length = strcspn(*rest, ",");
    snprintf(word, size, "%.*s", (int)length, *rest);
    *rest += length + ((*rest)[length] == ',');
    return true;
}

bool fake_fault(const char *name)
{
    char word[512];
    for (const char *rest = getenv("UBENCH_FAKE"); next_word(&rest, word, sizeof word);)
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

const char *fake_setting(const char *name, char *text, size_t size)
{
    char word[512];
    size_t length = strlen(name);
    for (const char *rest = getenv("UBENCH_FAKE"); next_word(&rest, word, sizeof word);)
        if (strncmp(word, name, length) == 0 && word[length] == '=') {
            snprintf(text, size, "%s", word + length + 1);
            return text;
        }
    return NULL;
}

bool fake_fault_at(const char *name, const struct ub_micro *micro, const struct ub_point *point)
{
    char word[512];
    for (const char *rest = getenv("UBENCH_FAKE"); next_word(&rest, word, sizeof word);) {
        char *axis = strchr(word, ':');
        char *value = axis ? strchr(axis, '=') : NULL;
        if (!value)
            continue;
        *axis++ = 0;
        *value++ = 0;
        int index = ub_axis_index(micro, axis);
        char text[64];
        if (strcmp(word, name) == 0 && index >= 0 &&
            strcmp(ub_axis_text(&micro->axes[index], point->values[index], text, sizeof text), value) == 0)
            return true;
    }
    return false;
}

int fake_launch_fault(const struct ub_micro *micro, const struct ub_point *point)
{
    if (fake_fault_at("crash", micro, point))
        abort();
    if (fake_fault_at("hang", micro, point))
        for (;;)
            pause();
    if (fake_fault_at("sticky", micro, point))
        fake.broken = true;
    if (fake.broken)
        return FAKE_LAUNCH_FAILURE;
    return fake_fault_at("launch", micro, point) ? FAKE_INVALID_CONFIGURATION : FAKE_OK;
}

static void advance(double ns)
{
    fake.now_ns += ns;
    fake.cycles += ns * fake_clock_mhz() * 1e-3;
}

bool fake_stream_launch(double time_ns)
{
    fake.launches++;
    /* Half a per mille of noise, the same in every run. */
    double noisy_ns = time_ns * (1 + 0.0005 * (double)(fake.launches * 2654435761u % 1000) / 1000);
    if (fake.capturing)
        fake.captured_ns += noisy_ns;
    else
        advance(noisy_ns);
    return !fake.capturing;
}

double fake_now_ns(void)
{
    return fake.now_ns;
}

double fake_clock_mhz(void)
{
    return fake_fault("throttle") && fake.launches % 7 == 0 ? 900 : 1500;
}

/* ---- CUDA driver -------------------------------------------------------------- */

static int code(void)
{
    return fake.broken ? FAKE_LAUNCH_FAILURE : FAKE_OK;
}

static int f_init(unsigned flags)
{
    (void)flags;
    return FAKE_OK;
}

static int f_driver_version(int *version)
{
    *version = 13000;
    return FAKE_OK;
}

static int f_device_count(int *count)
{
    char text[32];
    const char *gpus = fake_setting("gpus", text, sizeof text);
    *count = gpus ? atoi(gpus) : 1;
    return FAKE_OK;
}

static int f_device_get(int *device, int ordinal)
{
    *device = ordinal;
    return FAKE_OK;
}

static int f_device_name(char *name, int size, int device)
{
    char text[512];
    (void)device;
    const char *given = fake_setting("name", text, sizeof text);
    snprintf(name, (size_t)size, "%s", given ? given : "Fake GPU");
    return FAKE_OK;
}

static int f_device_attribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } rows[] = {
        {UB_ATTRIBUTE_REGISTERS_PER_BLOCK, 65536},
        {UB_ATTRIBUTE_CLOCK_KHZ, 1500000},
        {UB_ATTRIBUTE_SMS, FAKE_SMS},
        {UB_ATTRIBUTE_ECC, 1},
        {UB_ATTRIBUTE_MEMORY_CLOCK_KHZ, 1000000},
        {UB_ATTRIBUTE_MEMORY_BUS_BITS, 256},
        {UB_ATTRIBUTE_L2_BYTES, 65536},
        {UB_ATTRIBUTE_THREADS_PER_SM, 2048},
        {UB_ATTRIBUTE_COPY_ENGINES, 2},
        {UB_ATTRIBUTE_CC_MAJOR, 9},
        {UB_ATTRIBUTE_CC_MINOR, 0},
        {UB_ATTRIBUTE_SHARED_PER_SM_BYTES, 233472},
        {UB_ATTRIBUTE_REGISTERS_PER_SM, 65536},
        {UB_ATTRIBUTE_SHARED_OPTIN_BYTES, 232448},
        {UB_ATTRIBUTE_BLOCKS_PER_SM, 32},
        {UB_ATTRIBUTE_SHARED_RESERVED_BYTES, 1024},
    };
    (void)device;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute) {
            *value = rows[i].value;
            return FAKE_OK;
        }
    return 1;
}

static size_t memory_size(void)
{
    char text[32];
    const char *given = fake_setting("memory", text, sizeof text);
    return given ? (size_t)atoll(given) << 20 : fake.memory;
}

static int f_device_memory(size_t *bytes, int device)
{
    (void)device;
    *bytes = memory_size() + (512u << 20); /* ub_memory_fits() spares 256 MiB for the driver */
    return FAKE_OK;
}

static int f_device_uuid(unsigned char uuid[16], int device)
{
    memset(uuid, 0x11 * (device + 1), 16);
    return FAKE_OK;
}

static int f_device_pci(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return FAKE_OK;
}

static int f_context_retain(void **context, int device)
{
    (void)device;
    *context = &fake;
    return FAKE_OK;
}

static int f_context_current(void *context)
{
    (void)context;
    return FAKE_OK;
}

static int f_context_release(int device)
{
    (void)device;
    return FAKE_OK;
}

static int f_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = memory_size() + (512u << 20);
    *free_bytes = *total_bytes - fake.allocated - (256u << 20);
    return code();
}

static int f_memory_allocate(ub_device_pointer *pointer, size_t bytes)
{
    if (fake_fault("oom"))
        return UB_CUDA_OUT_OF_MEMORY;
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes) != 0)
        return UB_CUDA_OUT_OF_MEMORY;
    fake.allocated += bytes;
    *pointer = (ub_device_pointer)(uintptr_t)memory;
    return code();
}

static int f_memory_free(ub_device_pointer pointer)
{
    free((void *)(uintptr_t)pointer);
    return code();
}

static int f_host_allocate(void **pointer, size_t bytes)
{
    if (fake_fault("no-pinning"))
        return UB_CUDA_OUT_OF_MEMORY;
    return posix_memalign(pointer, 4096, bytes) != 0 ? UB_CUDA_OUT_OF_MEMORY : code();
}

static int f_host_free(void *pointer)
{
    free(pointer);
    return code();
}

static int f_copy_to_host(void *host, ub_device_pointer device, size_t bytes)
{
    memcpy(host, (const void *)(uintptr_t)device, bytes);
    return code();
}

static int f_copy_to_device(ub_device_pointer device, const void *host, size_t bytes)
{
    memcpy((void *)(uintptr_t)device, host, bytes);
    return code();
}

static int f_copy_device_async(ub_device_pointer to, ub_device_pointer from, size_t bytes, void *stream)
{
    (void)stream;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    fake_stream_launch((double)bytes / 50);
    return code();
}

static int f_set_async(ub_device_pointer pointer, unsigned char value, size_t bytes, void *stream)
{
    (void)stream;
    memset((void *)(uintptr_t)pointer, value, bytes);
    return code();
}

static int f_stream_create(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &fake;
    return code();
}

static int f_stream_any(void *stream)
{
    (void)stream;
    return code();
}

static int f_event_create(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(struct fake_event));
    return *event ? code() : UB_CUDA_OUT_OF_MEMORY;
}

static int f_event_destroy(void *event)
{
    free(event);
    return FAKE_OK;
}

static int f_event_record(void *event, void *stream)
{
    (void)stream;
    advance(1000);
    ((struct fake_event *)event)->time_ns = fake.now_ns;
    return code();
}

static int f_event_elapsed_ms(float *milliseconds, void *start, void *stop)
{
    double ns = ((struct fake_event *)stop)->time_ns - ((struct fake_event *)start)->time_ns;
    *milliseconds = (float)((double)((uint64_t)ns / FAKE_TICK_NS * FAKE_TICK_NS) * 1e-6);
    return code();
}

static int f_capture_begin(void *stream, int mode)
{
    (void)stream;
    (void)mode;
    fake.capturing = true;
    fake.captured_ns = 0;
    return code();
}

static int f_capture_end(void *stream, void **graph)
{
    (void)stream;
    fake.capturing = false;
    struct fake_graph *made = malloc(sizeof *made);
    if (!made)
        return UB_CUDA_OUT_OF_MEMORY;
    made->time_ns = fake.captured_ns;
    *graph = made;
    return code();
}

static int f_graph_instantiate(void **executable, void *graph, unsigned long long flags)
{
    (void)flags;
    struct fake_graph *made = malloc(sizeof *made);
    if (!made)
        return UB_CUDA_OUT_OF_MEMORY;
    *made = *(struct fake_graph *)graph;
    *executable = made;
    return code();
}

static int f_graph_launch(void *executable, void *stream)
{
    (void)stream;
    fake_stream_launch(((struct fake_graph *)executable)->time_ns);
    return code();
}

static int f_graph_free(void *graph)
{
    free(graph);
    return FAKE_OK;
}

static int f_error_name(int number, const char **text)
{
    static const struct {
        int number;
        const char *text;
    } names[] = {{UB_CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {FAKE_LAUNCH_FAILURE, "CUDA_ERROR_LAUNCH_FAILED"}};
    *text = "CUDA_ERROR_FAKE";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number)
            *text = names[i].text;
    return FAKE_OK;
}

bool ub_api_open(struct ub_api *api, struct ub_error *err)
{
    *api = (struct ub_api){.init = f_init,
                           .driver_version = f_driver_version,
                           .device_count = f_device_count,
                           .device_get = f_device_get,
                           .device_name = f_device_name,
                           .device_attribute = f_device_attribute,
                           .device_memory = f_device_memory,
                           .device_uuid = f_device_uuid,
                           .device_pci = f_device_pci,
                           .context_retain = f_context_retain,
                           .context_current = f_context_current,
                           .context_release = f_context_release,
                           .memory_info = f_memory_info,
                           .memory_allocate = f_memory_allocate,
                           .memory_free = f_memory_free,
                           .host_allocate = f_host_allocate,
                           .host_free = f_host_free,
                           .copy_to_host = f_copy_to_host,
                           .copy_to_device = f_copy_to_device,
                           .copy_device_async = f_copy_device_async,
                           .set_async = f_set_async,
                           .stream_create = f_stream_create,
                           .stream_destroy = f_stream_any,
                           .stream_synchronize = f_stream_any,
                           .event_create = f_event_create,
                           .event_destroy = f_event_destroy,
                           .event_record = f_event_record,
                           .event_elapsed_ms = f_event_elapsed_ms,
                           .capture_begin = f_capture_begin,
                           .capture_end = f_capture_end,
                           .graph_instantiate = f_graph_instantiate,
                           .graph_launch = f_graph_launch,
                           .graph_exec_destroy = f_graph_free,
                           .graph_destroy = f_graph_free,
                           .error_name = f_error_name};
    if (fake_fault("no-driver"))
        return ub_fail(err, UB_NO_DEVICE, "no NVIDIA driver: libcuda.so.1 was not found (fake)");
    if (fake_fault("old-driver"))
        return ub_fail(err, UB_NO_DEVICE, "the NVIDIA driver is too old (fake)");
    if (fake_fault("no-gpu"))
        return ub_fail(err, UB_NO_DEVICE, "the NVIDIA driver finds no GPU (fake)");
    return true;
}

/* ---- the harness's own kernels ------------------------------------------------- */

int ub_runtime_version(void)
{
    return 13000;
}

int ub_runtime_fill(void *pointer, uint64_t size_bytes, enum ub_fill fill, uint64_t seed, void *stream)
{
    unsigned char *bytes = pointer;
    (void)stream;
    if (fake_fault("noimage"))
        return FAKE_NO_IMAGE;
    for (uint64_t i = 0; i < size_bytes / 8; i++) {
        const uint64_t word = ub_fill_word(fill, i, seed);
        memcpy(bytes + 8 * i, &word, sizeof word);
    }
    return code();
}

int ub_runtime_stamp(unsigned long long *out, int sms, void *stream)
{
    (void)sms;
    (void)stream;
    advance(500);
    out[1] = (unsigned long long)fake.now_ns;
    out[0] = (unsigned long long)fake.cycles;
    return code();
}

int ub_runtime_globaltimer_tick(unsigned long long *out, void *stream)
{
    (void)stream;
    out[0] = FAKE_TICK_NS;
    return code();
}

int ub_runtime_read(const void *pointer, uint64_t size_bytes, unsigned long long *sink, void *stream)
{
    (void)pointer, (void)sink, (void)stream;
    fake_stream_launch((double)size_bytes / 50);
    return code();
}

int ub_runtime_empty(void *stream)
{
    (void)stream;
    fake_stream_launch(1200);
    return code();
}

int ub_runtime_spin(unsigned long long cycles, int sms, void *stream)
{
    (void)sms;
    (void)stream;
    fake_stream_launch((double)cycles / 1.5);
    return code();
}

/* What an H200 holds, by plain numbers and not by the model: 32 blocks, 64 warps, 228 KiB
 * in pieces of 128 bytes with 1 KiB of each block the driver's, and in each of four
 * partitions 16384 registers, given to warps by 256. */
static int fake_resident(const struct ub_kernel *kernel, int registers)
{
    const uint32_t threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    const int warps = threads > 0 ? (int)(threads + 31) / 32 : 1;
    const int shared = (int)(kernel->dynamic_shared_bytes + 127) / 128 * 128 + 1024;
    const int by_registers = 16384 / ((registers * 32 + 255) / 256 * 256) * 4 / warps;
    int least = 32;
    least = 64 / warps < least ? 64 / warps : least;
    least = 233472 / shared < least ? 233472 / shared : least;
    return by_registers < least ? by_registers : least;
}

int ub_runtime_attributes(const struct ub_kernel *kernel, int *registers, int *local_bytes, int *shared_bytes,
                          int *resident_blocks, int *binary_version, int *ptx_version)
{
    *registers = fake_registers(kernel->function);
    *local_bytes = *shared_bytes = 0;
    *resident_blocks = fake_resident(kernel, *registers);
    *binary_version = 90;
    *ptx_version = fake_fault("jit") ? 75 : 90;
    return code();
}

const char *ub_runtime_error_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{1, "cudaErrorInvalidValue"},
                 {701, "cudaErrorLaunchOutOfResources"},
                 {720, "cudaErrorCooperativeLaunchTooLarge"},
                 {FAKE_LAUNCH_FAILURE, "cudaErrorLaunchFailure"},
                 {FAKE_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration"},
                 {FAKE_NO_IMAGE, "cudaErrorNoKernelImageForDevice"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number)
            return names[i].name;
    return "cudaErrorUnknown";
}
