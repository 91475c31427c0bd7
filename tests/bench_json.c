/* SPDX-License-Identifier: MIT
 *
 * How long a large record takes to write and to read, and how much memory:
 * `bench_json [POINTS [SAMPLES]]`, 10,000 points of 30 samples by default. A
 * program to run by hand: its figures depend on the machine, so no test uses it. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "harness/io/json.h"
#include "tests/io_fixture.h"

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void report(const char *what, double begin)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-10s %6.3f s, at most %ld MB so far\n", what, now_s() - begin, usage.ru_maxrss / 1024);
}

/* As many counters as the rule has, so that a point is as large as a real one. */
static void widen(struct ub_record *record)
{
    static const char *const more[] = {"global_load_bytes",  "global_store_requests", "global_store_sectors",
                                       "global_store_bytes", "global_lines",          "dram_read_bytes",
                                       "dram_write_bytes"};
    for (size_t i = 0; i < record->point_count; i++)
        for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
            fixture_counter(&record->points[i], more[k], "byte", true, 123456789 + i);
}

static bool run(size_t points, size_t samples, FILE *file, struct ub_error *err)
{
    struct ub_record record, back = {0};
    const struct ub_json_options options = {0};
    fixture_record(&record, UB_MEASURED, points, samples);
    widen(&record);
    double begin = now_s();
    bool good = ub_json_write(file, &record, &options, err);
    report("written", begin);
    ub_record_free(&record);
    printf("%-10s %6.1f MB\n", "size", (double)ftell(file) / 1e6);
    rewind(file);
    begin = now_s();
    good = good && ub_json_read(file, "record", &back, err);
    report("read", begin);
    good = good && back.point_count == points;
    ub_record_free(&back);
    return good;
}

int main(int argc, char **argv)
{
    struct ub_error err = {.text = ""};
    size_t points = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    size_t samples = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
    FILE *file = tmpfile();
    if (!file || !run(points, samples, file, &err)) {
        fprintf(stderr, "bench_json: failed. %s\n", err.text);
        return 1;
    }
    return fclose(file);
}
