/* SPDX-License-Identifier: MIT */
#include "harness/cli/target.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "harness/engine/run.h"

static const char default_model[] = "h200";

static void info_from_gpu(const struct ub_gpu *gpu, struct ub_device_info *info)
{
    ub_device_info_init(info);
    ub_set_string(&info->name, gpu->name);
    ub_set_string(&info->chip, gpu->chip);
    ub_set_string(&info->slug, gpu->slug);
    info->cc_major = gpu->cc_major;
    info->cc_minor = gpu->cc_minor;
    info->sms = gpu->sms;
    info->l2_bytes = (double)gpu->l2_bytes;
    info->memory_bytes = (double)gpu->memory_bytes;
    info->clock_max_mhz = gpu->clock_boost_mhz;
    info->shared_per_sm_bytes = (double)gpu->shared_per_sm_bytes;
    info->registers_per_sm = gpu->registers_per_sm;
    info->warps_per_sm = gpu->warps_per_sm;
    info->copy_engines = gpu->copy_engines;
}

static struct ub_target *add(struct ub_targets *targets)
{
    struct ub_target *target = &targets->items[targets->count++];
    *target = (struct ub_target){0};
    return target;
}

static bool is_file_name(const char *name)
{
    return strchr(name, '/') || strchr(name, '.');
}

static bool resolve_model(const char *name, struct ub_targets *targets, struct ub_error *err)
{
    struct ub_target *target = add(targets);
    const struct ub_gpu *row = is_file_name(name) ? NULL : ub_gpu_find(name);
    if (row) {
        target->gpu = *row;
    } else if (is_file_name(name)) {
        if (!ub_gpu_file_open(name, &target->file, err))
            return false;
        target->gpu = target->file.gpu;
    } else {
        const char *slugs[64];
        size_t count = 0;
        char list[700] = "";
        for (; count < ub_gpu_count() && count < 64; count++) {
            slugs[count] = ub_gpu_at(count)->slug;
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", slugs[count]);
        }
        const char *near = ub_suggest(name, count, slugs);
        return ub_fail(err, UB_USAGE,
                       "--device model:%s: there is no such card in the table%s%s%s\n  it has %s\n  one's own card: "
                       "model:FILE.json",
                       name, near ? "; did you mean model:" : "", near ? near : "", near ? "?" : "", list);
    }
    info_from_gpu(&target->gpu, &target->device);
    return true;
}

static bool resolve_ordinal(int ordinal, struct ub_targets *targets, struct ub_error *err)
{
    if (targets->count == UB_MAX_TARGETS)
        return ub_fail(err, UB_USAGE, "more than %d GPUs", UB_MAX_TARGETS);
    struct ub_target *target = add(targets);
    target->measured = true;
    target->ordinal = ordinal;
    struct ub_probe probe;
    if (!ub_run_probe(ordinal, false, &probe, err)) {
        targets->count--;
        return false;
    }
    target->device = probe.device;
    target->other_processes = probe.other_processes;
    const struct ub_gpu *row = ub_gpu_find_by_device_name(target->device.name ? target->device.name : "");
    ub_set_string(&target->device.slug, row ? row->slug : NULL);
    struct ub_record about = {.device = target->device};
    ub_gpu_of_record(&about, &target->gpu);
    if (!target->device.chip)
        ub_set_string(&target->device.chip, target->gpu.chip);
    return true;
}

static bool resolve_all(struct ub_targets *targets, struct ub_error *err)
{
    for (int ordinal = 0; resolve_ordinal(ordinal, targets, err); ordinal++) {
    }
    if (targets->count > 0)
        err->text[0] = 0; /* the first that is not there ends the list */
    return targets->count > 0;
}

static bool resolve_uuid(const char *uuid, struct ub_targets *targets, struct ub_error *err)
{
    if (!resolve_all(targets, err))
        return false;
    size_t length = strlen(uuid);
    for (size_t i = 0; i < targets->count; i++) {
        const char *have = targets->items[i].device.uuid;
        if (!have || strncasecmp(have, uuid, length) != 0)
            continue;
        struct ub_target found = targets->items[i];
        targets->items[i].device = (struct ub_device_info){0};
        ub_targets_free(targets);
        targets->items[0] = found;
        targets->count = 1;
        return true;
    }
    return ub_fail(err, UB_NO_DEVICE, "--device %s: no GPU has this UUID; ubench devices lists them", uuid);
}

static bool is_number(const char *text)
{
    const char *c = text;
    while (isdigit((unsigned char)*c))
        c++;
    return c != text && *c == 0 && c - text < 7;
}

static bool resolve_default(struct ub_targets *targets, struct ub_error *err)
{
    struct ub_error why = {0};
    if (resolve_ordinal(0, targets, &why))
        return true;
    if (why.status != UB_NO_DEVICE)
        return ub_fail(err, why.status, "%s", why.text); /* a fault of the system is no missing GPU */
    snprintf(targets->note, sizeof targets->note,
             "nothing is measured: %s\nubench predicts for an NVIDIA H200 instead (another card: --device model:NAME)",
             why.text);
    return resolve_model(default_model, targets, err);
}

bool ub_targets_resolve(const char *device, struct ub_targets *targets, struct ub_error *err)
{
    *targets = (struct ub_targets){0};
    if (!device)
        return resolve_default(targets, err);
    if (strncmp(device, "model:", 6) == 0)
        return resolve_model(device + 6, targets, err);
    if (strcmp(device, "all") == 0)
        return resolve_all(targets, err);
    if (is_number(device))
        return resolve_ordinal(atoi(device), targets, err);
    if (strncasecmp(device, "GPU-", 4) == 0)
        return resolve_uuid(device, targets, err);
    if (ub_gpu_find(device))
        return ub_fail(err, UB_USAGE, "--device %s: a card of the table is written model:%s", device, device);
    return ub_fail(err, UB_USAGE,
                   "--device %s: write a number (0), a UUID (GPU-...), all, model:NAME (model:h200) or model:FILE",
                   device);
}

void ub_targets_free(struct ub_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        struct ub_record owner = {.device = targets->items[i].device};
        ub_record_free(&owner);
        ub_gpu_file_close(&targets->items[i].file);
    }
    targets->count = 0;
}
