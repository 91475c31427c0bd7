/* SPDX-License-Identifier: MIT
 *
 * The hidden verb `__worker`: the process that touches the GPU (engine/worker.h). */
#include <stdio.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/contract/counters.h"
#include "harness/engine/spawn.h"
#include "harness/engine/worker.h"

enum ub_status ub_cmd_worker(struct ub_options *options, struct ub_error *err)
{
    FILE *lines = fdopen(UB_WORKER_LINES_FD, "w");
    if (!lines) {
        ub_fail(err, UB_USAGE, "__worker is started by ubench itself, not by hand");
        return UB_USAGE;
    }
    /* Started ahead of its job: what takes no GPU is done while another worker times. */
    if (options->operand_count > 0 && strcmp(options->operands[0], "count") == 0) {
        char text[512];
        struct ub_error unused = {0};
        ub_counters.library(text, sizeof text, &unused); /* a failure is said when the counters are asked for */
    }
    enum ub_status status = ub_worker_main(stdin, lines);
    fclose(lines);
    return status;
}
