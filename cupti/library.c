/* SPDX-License-Identifier: MIT */
#include "cupti/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti/error.h"
#include "cupti/privilege.h"

/* Only the major version of the headers is accepted: structs and sonames change
 * with it. The soname has had no minor number since CUDA 12.0. */
enum { CUDA_MAJOR = CUDA_VERSION / 1000 };
#if CUDA_VERSION / 1000 == 12
#define SONAME "libcupti.so.12"
#define WHEEL  "nvidia/cuda_cupti/lib"
#elif CUDA_VERSION / 1000 == 13
#define SONAME "libcupti.so.13"
#define WHEEL  "nvidia/cu13/lib"
#else
#error "ubench knows the CUPTI of CUDA 12.8 to 13; say here how the library of this CUDA version is called"
#endif

#ifndef UB_CUPTI_FOLDER
#define UB_CUPTI_FOLDER ""
#endif

#if defined(__aarch64__)
#define TARGET "targets/sbsa-linux/lib"
#else
#define TARGET "targets/x86_64-linux/lib"
#endif

/* What was tried, for the message when nothing worked. */
struct trail {
    char looked[384];  /* places without the file */
    char problem[768]; /* the first file that was there and could not be used, and why */
};

static void append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? ", " : "", more);
}

static bool note_problem(struct trail *trail, const char *format, ...) UB_PRINTF(2, 3);

/* Keeps the first: later ones are consequences of a longer search. Returns false. */
static bool note_problem(struct trail *trail, const char *format, ...)
{
    if (trail->problem[0])
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(trail->problem, sizeof trail->problem, format, args);
    va_end(args);
    return false;
}

/* API numbers of CUDA 12 are a running count, later ones are version * 10000. */
static void version_text(uint32_t version, char *text, size_t size)
{
    static const struct {
        uint32_t api;
        const char *cuda;
    } counted[] = {{19, "12.0"}, {20, "12.2"}, {21, "12.3"}, {22, "12.4"}, {23, "12.5"},
                   {24, "12.6"}, {26, "12.8"}, {27, "12.9"}, {28, "12.9"}};
    const char *cuda = "older than 12";
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (counted[i].api <= version)
            cuda = counted[i].cuda;
    if (version >= 130000)
        snprintf(text, size, "%u.%u", version / 10000, version / 100 % 100);
    else
        snprintf(text, size, "%s", cuda);
}

static int version_major(uint32_t version)
{
    return version >= 130000 ? (int)(version / 10000) : version >= 19 ? 12 : 11;
}

/* CUPTI opens these two by bare name, and it has no run path: where its folder is
 * not on the loader's path, every call answers NOT_INITIALIZED. Opened beforehand
 * from CUPTI's own folder, the bare names resolve to them. A copy that the loader
 * finds elsewhere serves as well, so absence shows only in the first call. */
static void open_companions(struct ub_cupti *cupti)
{
    static const char *const names[UB_CUPTI_COMPANIONS] = {"libnvperf_host.so", "libnvperf_target.so"};
    char real[PATH_MAX];
    const char *const files[] = {cupti->path, realpath(cupti->path, real) ? real : cupti->path};
    for (size_t n = 0; n < UB_CUPTI_COMPANIONS; n++) {
        for (size_t f = 0; f < sizeof files / sizeof files[0] && !cupti->companions[n]; f++) {
            char companion[PATH_MAX + 32];
            const char *slash = strrchr(files[f], '/');
            snprintf(companion, sizeof companion, "%.*s%s", slash ? (int)(slash - files[f] + 1) : 0, files[f],
                     names[n]);
            if (slash)
                cupti->companions[n] = dlopen(companion, RTLD_NOW | RTLD_GLOBAL);
        }
    }
}

/* Fills the table of functions. */
static bool resolve(struct ub_cupti *cupti, struct trail *trail)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define ROW(name) {#name, offsetof(struct ub_cupti, name)},
        UB_CUPTI_FUNCTIONS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(cupti->handle, functions[i].name);
        if (!symbol)
            return note_problem(trail, "%s has no %s: CUPTI of CUDA 12.8 or later is needed", cupti->path,
                                functions[i].name);
        /* ISO C knows no cast from an object to a function pointer; POSIX makes them equal. */
        memcpy((char *)cupti + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* The first calls fail where a companion or, from CUDA 13.3 on, the driver is missing. */
static bool refused(const struct ub_cupti *cupti, const char *stage, CUptiResult code, struct trail *trail)
{
    char text[1024];
    const struct ub_cupti_failure failure = {.stage = stage, .code = (int)code, .library = cupti->line};
    ub_cupti_failure_text(&failure, text, sizeof text);
    return note_problem(trail, "%s", text);
}

static bool ask_version(struct ub_cupti *cupti, struct trail *trail)
{
    char cuda[32];
    snprintf(cupti->line, sizeof cupti->line, "%s", cupti->path);
    const CUptiResult code = cupti->cuptiGetVersion(&cupti->version);
    if (code != CUPTI_SUCCESS)
        return refused(cupti, "cuptiGetVersion", code, trail);
    version_text(cupti->version, cuda, sizeof cuda);
    snprintf(cupti->line, sizeof cupti->line, "CUPTI %s (API %u), %s", cuda, cupti->version, cupti->path);
    return version_major(cupti->version) == CUDA_MAJOR ||
           note_problem(trail, "%s is of CUDA %s, but this ubench was built for CUPTI of CUDA %d", cupti->path, cuda,
                        CUDA_MAJOR);
}

static bool list_chips(struct ub_cupti *cupti, struct trail *trail)
{
    CUpti_Profiler_Host_GetSupportedChips_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames)};
    const CUptiResult code = cupti->cuptiProfilerHostGetSupportedChips(&params);
    if (code != CUPTI_SUCCESS)
        return refused(cupti, "cuptiProfilerHostGetSupportedChips", code, trail);
    cupti->chip_count = params.numChips;
    cupti->chips = params.ppChipNames;
    return true;
}

static bool check(struct ub_cupti *cupti, struct trail *trail)
{
    if (!resolve(cupti, trail) || !ask_version(cupti, trail))
        return false;
    open_companions(cupti);
    return list_chips(cupti, trail);
}

/* The file behind a handle: after a search by soname nothing else tells it. */
static void note_path(struct ub_cupti *cupti, const char *asked)
{
    struct link_map *map = NULL;
    const bool known = dlinfo(cupti->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && map->l_name[0];
    snprintf(cupti->path, sizeof cupti->path, "%s", known ? map->l_name : asked);
}

static bool try_file(struct ub_cupti *cupti, const char *file, struct trail *trail)
{
    if (strchr(file, '/') && access(file, F_OK) != 0) {
        append(trail->looked, sizeof trail->looked, file);
        return false;
    }
    cupti->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!cupti->handle) {
        const char *reason = dlerror();
        if (strchr(file, '/'))
            return note_problem(trail, "%s", reason ? reason : file);
        append(trail->looked, sizeof trail->looked, "the loader's path");
        return false;
    }
    note_path(cupti, file);
    if (check(cupti, trail))
        return true;
    ub_cupti_unload(cupti);
    return false;
}

static bool try_folder(struct ub_cupti *cupti, const char *root, const char *folder, struct trail *trail)
{
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s%s%s/" SONAME, root, folder[0] ? "/" : "", folder);
    return try_file(cupti, file, trail);
}

static bool try_toolkit(struct ub_cupti *cupti, const char *root, struct trail *trail)
{
    static const char *const folders[] = {"lib64", "extras/CUPTI/lib64", TARGET};
    for (size_t i = 0; root && root[0] && i < sizeof folders / sizeof folders[0]; i++)
        if (try_folder(cupti, root, folders[i], trail))
            return true;
    return false;
}

/* NVIDIA's pip wheels in a Python environment. */
static bool try_wheel(struct ub_cupti *cupti, const char *root, struct trail *trail)
{
    char pattern[PATH_MAX];
    glob_t files;
    bool found = false;
    snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/" WHEEL "/" SONAME, root ? root : "");
    if (!root || !root[0] || glob(pattern, 0, NULL, &files) != 0)
        return false;
    for (size_t f = 0; f < files.gl_pathc && !found; f++)
        found = try_file(cupti, files.gl_pathv[f], trail);
    globfree(&files);
    return found;
}

static bool search(struct ub_cupti *cupti, struct trail *trail)
{
    char user[PATH_MAX] = "";
    const char *home = getenv("HOME");
    if (home)
        snprintf(user, sizeof user, "%s/.local", home);
    const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};
    const char *const pythons[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), user};
    if (UB_CUPTI_FOLDER[0] && try_folder(cupti, UB_CUPTI_FOLDER, "", trail))
        return true;
    if (try_file(cupti, SONAME, trail))
        return true;
    for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++)
        if (try_toolkit(cupti, toolkits[i], trail))
            return true;
    for (size_t i = 0; i < sizeof pythons / sizeof pythons[0]; i++)
        if (try_wheel(cupti, pythons[i], trail))
            return true;
    return false;
}

/* A file that was named must be the one that is used: no silent second choice. */
static bool load_chosen(struct ub_cupti *cupti, const char *file, struct ub_error *err)
{
    struct trail trail = {.looked = ""};
    if (try_file(cupti, file, &trail))
        return true;
    return ub_fail(err, UB_NO_COUNTERS, "UBENCH_CUPTI=%s cannot be used: %s", file,
                   trail.problem[0] ? trail.problem : "there is no such file");
}

bool ub_cupti_load(struct ub_cupti *cupti, struct ub_error *err)
{
    const char *chosen = getenv("UBENCH_CUPTI");
    if (chosen && chosen[0])
        return load_chosen(cupti, chosen, err);
    struct trail trail = {.looked = ""};
    if (search(cupti, &trail))
        return true;
    if (trail.problem[0])
        return ub_fail(err, UB_NO_COUNTERS, "%s", trail.problem);
    return ub_fail(err, UB_NO_COUNTERS,
                   SONAME
                   " was not found, so there are no hardware counters: install CUPTI (package cuda-cupti, or pip "
                   "install nvidia-cuda-cupti) or set UBENCH_CUPTI=/path/to/" SONAME "; looked in %s",
                   trail.looked);
}

void ub_cupti_unload(struct ub_cupti *cupti)
{
    if (cupti->handle)
        dlclose(cupti->handle);
    for (size_t n = 0; n < UB_CUPTI_COMPANIONS; n++)
        if (cupti->companions[n])
            dlclose(cupti->companions[n]);
    *cupti = (struct ub_cupti){0};
}

/* CUPTI opens libnvperf_host.so with RTLD_DEEPBIND; the run time of these
 * sanitizers ends a process that does so. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

const char *ub_cupti_switched_off(void)
{
    const char *value = getenv("UBENCH_COUNTERS");
    if (value && strcmp(value, "0") == 0)
        return "counters are off: UBENCH_COUNTERS=0 is set";
    return SANITIZED ? "counters are off: this ubench is built with a sanitizer, under which CUPTI cannot be loaded"
                     : NULL;
}

const char *ub_cupti_occupied(void)
{
    static const struct {
        const char *variable, *reason;
    } tools[] = {
#define ROW(variable, tool)                                                                                            \
    {variable, "counters are off: " tool " watches this process (" variable                                            \
               " is set), and CUPTI serves one tool a process; run ubench without it to read counters"}
        ROW("NV_SANITIZER_INJECTION_PORT_BASE", "compute-sanitizer"),
        ROW("NV_NSIGHT_INJECTION_PORT_BASE", "Nsight Compute"),
        ROW("NSYS_PROFILING_SESSION_ID", "Nsight Systems"),
        ROW("CUDA_INJECTION64_PATH", "an injected tool"),
#undef ROW
    };
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (getenv(tools[i].variable))
            return tools[i].reason;
    return NULL;
}

bool ub_cupti_fail(const struct ub_cupti *cupti, const char *stage, CUptiResult code, const char *driver,
                   const char *chip, struct ub_error *err)
{
    struct ub_cupti_privilege privilege;
    char text[sizeof err->text];
    ub_cupti_privilege_read(&privilege);
    const struct ub_cupti_failure failure = {.stage = stage,
                                             .code = (int)code,
                                             .library = cupti->line,
                                             .driver = driver,
                                             .chip = chip,
                                             .privilege = &privilege};
    ub_cupti_failure_text(&failure, text, sizeof text);
    return ub_fail(err, UB_NO_COUNTERS, "%s", text);
}
