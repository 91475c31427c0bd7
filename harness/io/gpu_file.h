/* SPDX-License-Identifier: MIT
 *
 * One's own card as a file (`--device model:FILE`): a JSON object whose keys are
 * the fields of struct ub_gpu, and "base", the slug of a row of the table that
 * gives what the file does not say. Without "base" the generation of its compute
 * capability does. docs/model-file.md describes the format. */
#ifndef UB_IO_GPU_FILE_H
#define UB_IO_GPU_FILE_H

#include "harness/contract/error.h"
#include "harness/model/gpu.h"

enum { UB_GPU_FILE_STRINGS = 8 };

struct ub_gpu_file {
    struct ub_gpu gpu; /* its strings are those below, or static */
    size_t string_count;
    char *strings[UB_GPU_FILE_STRINGS]; /* owned */
};

/* Reads `path` into `file`, which must be empty. UB_USAGE: it cannot be opened or
 * read. UB_BAD_DATA: not JSON, an unknown or missing key, a wrong type, a value
 * that no card can have, two values that contradict each other, or the name or
 * slug of a card of the table (a record would then be read as that card's). The
 * text names file and key and says what is allowed. `file` is empty after a failure. */
bool ub_gpu_file_open(const char *path, struct ub_gpu_file *file, struct ub_error *err);
void ub_gpu_file_close(struct ub_gpu_file *file);

#endif
