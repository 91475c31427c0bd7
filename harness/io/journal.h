/* SPDX-License-Identifier: MIT
 *
 * The journal: one JSON object a line, typed. Workers speak it on a pipe to the
 * parent; the parent appends it to NAME.part.jsonl, from which --resume reads.
 * A line is either complete or ignored (a crash may cut the last one). */
#ifndef UB_IO_JOURNAL_H
#define UB_IO_JOURNAL_H

#include <stdio.h>

#include "harness/contract/record.h"

enum ub_line_type {
    UB_LINE_HEADER,   /* record->run, device, seed: first line of a journal file */
    UB_LINE_DEVICE,   /* device */
    UB_LINE_CONSTANT, /* constant */
    UB_LINE_START,    /* point: the worker begins with it (phase says with what) */
    UB_LINE_STATIC,   /* point, static_ */
    UB_LINE_VERIFY,   /* point, ok, text */
    UB_LINE_SAMPLE,   /* point, sample, batch */
    UB_LINE_SPAN,     /* point, span: one operation of its timeline */
    UB_LINE_COUNTER,  /* point, key, has_value, value, raw, passes, text (reason) */
    UB_LINE_POINT,    /* point, status, text (reason): this phase of the point has ended */
    UB_LINE_WARNING,  /* point or -1, key (code), text */
    UB_LINE_ERROR,    /* status_code (enum ub_status), text: the worker gives up */
    UB_LINE_END       /* the worker has done all that it was asked */
};

/* One line. Only the fields named above are written and read; strings that a
 * parsed line holds are owned by it (ub_line_free), those of a line to be
 * written are borrowed. */
struct ub_line {
    enum ub_line_type type;
    long point; /* index into the plan; -1: none */
    char *key, *text, *raw, *phase;
    bool ok, has_value;
    uint64_t value;
    int passes, batch, status_code;
    enum ub_point_status status;
    struct ub_sample sample;
    struct ub_span span;
    struct ub_static static_;
    struct ub_constant constant;
    struct ub_device_info device; /* owned by a parsed line */
    struct ub_run_info run;       /* header; owned by a parsed line */
};

/* Writes one line with its newline; does not flush. False: the stream failed. */
bool ub_line_write(FILE *stream, const struct ub_line *line, struct ub_error *err);
/* The same without UUID, PCI address and paths. `uuid`: that of the card, NULL if not known. */
bool ub_line_write_redacted(FILE *stream, const struct ub_line *line, const char *uuid, struct ub_error *err);
/* Parses one line (without newline). False: not a journal line. */
bool ub_line_parse(const char *text, size_t length, struct ub_line *line, struct ub_error *err);
void ub_line_free(struct ub_line *line);

/* What a worker is asked to do; the parent writes it as one JSON text to the
 * worker's standard input. */
enum ub_job_kind {
    UB_JOB_PROBE,
    UB_JOB_TIME,
    UB_JOB_COUNT,
    UB_JOB_LAUNCH /* each point once, for another tool to look at */
};

struct ub_job {
    enum ub_job_kind kind;
    char *rule;
    int device; /* driver ordinal */
    uint64_t seed;
    int rounds;
    double min_sample_ns, point_timeout_s;
    bool zeros;       /* --data zeros */
    bool cold;        /* --cold */
    size_t key_count; /* counters wanted */
    char **keys;
    size_t point_count;
    long *indices; /* index into the plan of each point */
    struct ub_point *points;
    size_t axis_count; /* values written of each point */
};

bool ub_job_write(FILE *stream, const struct ub_job *job, struct ub_error *err);
bool ub_job_read(FILE *stream, struct ub_job *job, struct ub_error *err);
void ub_job_free(struct ub_job *job);

#endif
