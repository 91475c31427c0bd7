/* SPDX-License-Identifier: MIT
 *
 * The table of verbs: the parser, the dispatch and `ubench help` read it. `operands`
 * also says how many a verb takes (see check_operands() in options.c). */
#include <stddef.h>

#include "harness/cli/options.h"

const struct ub_verb ub_verbs[] = {
    {"run", "RULE...|all", "measure rules (or predict them for a card), print and save the record, draw the chart",
     true, false, ub_cmd_run},
    {"list", "", "the rules", false, false, ub_cmd_list},
    {"describe", "RULE", "one rule: its law, where it breaks, what follows from it, its axes and counters", false,
     false, ub_cmd_describe},
    {"show", "RUN.json", "print a saved run again, in any format", false, false, ub_cmd_show},
    {"plot", "RUN.json...", "draw a chart of saved runs (or of the points that --AXIS chooses), one colour a GPU", true,
     false, ub_cmd_plot},
    {"report", "RUN.json...", "saved runs as one self-contained page (HTML): verdicts, charts, tables, data", false,
     false, ub_cmd_report},
    {"compare", "A.json B.json...", "what changed between runs, or differs between GPUs (model:NAME: the model's)",
     false, false, ub_cmd_compare},
    {"check", "RUN.json...", "recompute the law of a saved run; exit code 1 if it is broken", false, false,
     ub_cmd_check},
    {"devices", "", "the GPUs that are here and the cards of the model table", false, false, ub_cmd_devices},
    {"doctor", "", "what works here, what does not and how to fix it", false, false, ub_cmd_doctor},
    {"metrics", "[KEY...]", "the counters: keys, raw names, old names, passes", false, false, ub_cmd_metrics},
    {"occupancy", "", "blocks and warps that an SM holds of a launch, what limits them, what gains a step", false,
     false, ub_cmd_occupancy},
    {"help", "[TOPIC]", "help on a verb, a rule, or ranges, counters, exit, environment, formats", false, false,
     ub_cmd_help},
    {"__worker", "[KIND]", "the process that touches the GPU; started by run", false, true, ub_cmd_worker},
    {NULL, NULL, NULL, false, false, NULL},
};
