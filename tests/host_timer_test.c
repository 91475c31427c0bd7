/* SPDX-License-Identifier: MIT
 *
 * The host timer: a sample lasts as long as it is told to, however short a launch is, and each
 * launch is waited for before the next. The clock is this test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "harness/cuda/timer.h"

/* Stands in for that of the C library in this program. */
static struct {
    int64_t now_ns, launch_ns, first_ns;
    int launches, waits, fails_at;
    bool waited;
} host;

int clock_gettime(clockid_t clock, struct timespec *out)
{
    (void)clock;
    out->tv_sec = host.now_ns / 1000000000;
    out->tv_nsec = host.now_ns % 1000000000;
    return 0;
}

static bool enqueue(void *user, uint64_t iterations, struct ub_error *err)
{
    (void)user;
    assert_int_equal(iterations, 1);
    assert_true(host.waited);
    host.waited = false;
    host.launches++;
    if (host.launches == host.fails_at)
        return ub_fail(err, UB_INCOMPLETE, "launch %d fails", host.launches);
    host.now_ns += host.launches == 1 ? host.first_ns : host.launch_ns;
    return true;
}

static int synchronize(void *stream)
{
    (void)stream;
    host.waited = true;
    host.waits++;
    return 0;
}

static struct ub_device device = {.api = {.stream_synchronize = synchronize}};

static void start(int64_t launch_ns, int64_t first_ns)
{
    host.now_ns = 5000000000;
    host.launch_ns = launch_ns;
    host.first_ns = first_ns;
    host.launches = host.waits = host.fails_at = 0;
    host.waited = true;
}

static void a_sample_lasts_long_enough(void **state)
{
    (void)state;
    static const struct {
        int64_t launch_ns;
        int batch;
    } rows[] = {{5000, 400}, {6000, 334}, {1999999, 2}, {2000000, 1}, {30000000, 1}, {100, 4096}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_timer_kit kit = {.device = &device};
        struct ub_timed timed = {.timer = UB_TIMER_HOST, .enqueue = enqueue};
        struct ub_sample sample;
        struct ub_error err = {0};
        start(rows[i].launch_ns, 70000000); /* the first loads the module */
        assert_true(ub_timed_open(&kit, &timed, 2e6, &err));
        assert_int_equal(timed.batch, rows[i].batch);
        const int before = host.launches;
        assert_true(ub_timed_sample(&kit, &timed, &sample, &err));
        assert_int_equal(host.launches - before, rows[i].batch + 1); /* one to warm up */
        assert_int_equal(host.waits, host.launches);
        assert_true(sample.time_ns > 0.999 * (double)rows[i].launch_ns &&
                    sample.time_ns < 1.001 * (double)rows[i].launch_ns);
        ub_timed_close(&kit, &timed);
    }
}

static void a_launch_that_fails_is_told(void **state)
{
    (void)state;
    struct ub_timer_kit kit = {.device = &device};
    struct ub_timed timed = {.timer = UB_TIMER_HOST, .enqueue = enqueue};
    struct ub_sample sample;
    struct ub_error err = {0};
    start(5000, 5000);
    assert_true(ub_timed_open(&kit, &timed, 2e6, &err));
    host.fails_at = host.launches + 100;
    assert_false(ub_timed_sample(&kit, &timed, &sample, &err));
    assert_string_equal(err.text, "launch 105 fails");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_lasts_long_enough),
        cmocka_unit_test(a_launch_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
