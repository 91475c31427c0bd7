/* SPDX-License-Identifier: MIT
 *
 * The plan: all points of a run, in order. Pure; needs no GPU. */
#ifndef UB_ENGINE_PLAN_H
#define UB_ENGINE_PLAN_H

#include "harness/contract/micro.h"
#include "harness/engine/axis.h"

struct ub_planned {
    const struct ub_micro *micro;
    const struct ub_code *code;
    const char *sweep; /* name; "command" for the axes of the command line, "ceiling" for constants */
    struct ub_point point;
    const char *skip;                   /* why the point cannot run on this GPU, or NULL */
    const struct ub_provides *provides; /* of a ceiling point */
};

struct ub_plan {
    size_t count;
    struct ub_planned *points;
};

/* One --AXIS RANGE of the command line. */
struct ub_axis_option {
    const char *name, *spec;
    bool used; /* set by ub_plan_add(): some rule had the axis */
};

enum { UB_PLAN_LIMIT = 10000 };

/* Whether the plan itself gives this name: "command", "ceiling". */
bool ub_plan_names(const char *sweep);

/* Adds the points of one rule: the product of the axis options that it has (sweep
 * "command") or, where none applies, its named sweeps of `suite` (UB_SUITE_*). The
 * rule's first axis varies fastest. Points that the plan has in the same sweep already are
 * not added again; a point that several sweeps have stands in each, so that none lacks its
 * baseline. With `ceilings` the points of micro->provides come first, once. Fails with UB_USAGE: a bad range, more than
 * UB_PLAN_LIMIT points without `force` (the message has the counts); the plan is
 * then as it was. */
bool ub_plan_add(struct ub_plan *plan, const struct ub_entry *entry, const struct ub_gpu *gpu, unsigned suite,
                 struct ub_axis_option *options, size_t option_count, bool ceilings, bool force, struct ub_error *err);
void ub_plan_free(struct ub_plan *plan);

/* Parses "op=load bytes=16" over the initial values of the rule into one point. */
bool ub_point_parse(const struct ub_micro *micro, const char *axes, struct ub_point *out, struct ub_error *err);

/* Bytes of all buffers of a point. */
double ub_footprint_bytes(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_point *point);

/* Parses the text of a sweep ("stride=1..32 op=load,store") into the values of every
 * axis; an axis not named has its initial value alone. Free with ub_ranges_free(). */
bool ub_ranges_parse(const struct ub_micro *micro, const char *axes, struct ub_values ranges[UB_MAX_AXES],
                     struct ub_error *err);
void ub_ranges_free(struct ub_values ranges[UB_MAX_AXES]);
/* Points of the product of the ranges; UINT64_MAX: that many or more. */
uint64_t ub_ranges_points(const struct ub_micro *micro, const struct ub_values ranges[UB_MAX_AXES]);

/* The rule's named entry, or NULL with a suggestion in err. */
const struct ub_entry *ub_registry_find(const char *name, struct ub_error *err);
/* Refuses a rule with a missing part; the message names rule and part. Checks all of ub_entries. */
bool ub_registry_check(struct ub_error *err);
/* The same for a list of rules; also refuses two of one name, and two that provide one constant. */
bool ub_entries_check(size_t count, const struct ub_entry *entries, struct ub_error *err);
/* The same for one rule. */
bool ub_entry_check(const struct ub_entry *entry, struct ub_error *err);

#endif
