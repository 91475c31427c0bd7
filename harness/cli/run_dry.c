/* SPDX-License-Identifier: MIT */
#include "harness/cli/run_job.h"

#include <math.h>
#include <stdio.h>

#include "harness/io/formats.h"

void ub_run_job_dry(struct ub_run_job *job)
{
    struct ub_record record = {0};
    ub_run_predict(&job->request, &record);
    double total_ns = 0;
    double largest = 0;
    for (size_t i = 0; i < record.point_count; i++) {
        const struct ub_record_point *point = &record.points[i];
        char label[512];
        char bytes[32] = "-";
        char time[32] = "-";
        ub_point_label(point, label, sizeof label);
        if (!isnan(point->footprint_bytes))
            ub_format_bytes(point->footprint_bytes, bytes, sizeof bytes);
        if (!isnan(point->predicted_ns))
            ub_format_time(point->predicted_ns, time, sizeof time);
        printf("%s  sweep=%s  memory=%s  time=%s%s%s\n", label, point->sweep, bytes, time,
               point->reason ? "  skipped: " : "", point->reason ? point->reason : "");
        if (!isnan(point->predicted_ns))
            total_ns += job->request.rounds * 1.2 * fmax(point->predicted_ns, job->request.min_sample_ns);
        if (!point->reason)
            largest = fmax(largest, point->footprint_bytes);
    }
    char bytes[32];
    char time[32];
    ub_format_bytes(largest, bytes, sizeof bytes);
    ub_format_time(total_ns, time, sizeof time);
    printf("%zu point%s on %s; at most %s of GPU memory; about %s of timing in %d rounds, then counters %s\n",
           record.point_count, record.point_count == 1 ? "" : "s",
           job->target->device.name ? job->target->device.name : "?", bytes, time, job->request.rounds,
           job->options->counters ? job->options->counters : "auto");
    ub_record_free(&record);
}

bool ub_run_job_launch(struct ub_run_job *job, struct ub_error *err)
{
    size_t launched = 0;
    if (!job->target->measured)
        return ub_fail(err, UB_NO_DEVICE, "--profile launches kernels: it needs a GPU");
    /* Tools that hold a process back while they replay it would look like a hang. */
    job->request.point_timeout_s = 1e6;
    job->request.progress = NULL;
    bool ok = ub_run_launch(&job->request, &job->record, &launched, err);
    for (size_t i = 0; i < job->record.point_count; i++)
        if (job->record.points[i].reason)
            fprintf(stderr, "ubench: point %zu: %s\n", i, job->record.points[i].reason);
    printf("%zu of %zu points launched once\n", launched, job->plan.count);
    return ok;
}
