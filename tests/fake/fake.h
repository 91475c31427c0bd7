/* SPDX-License-Identifier: MIT
 *
 * A fake GPU for the tests: memory is malloc'd, kernels run on the host, time is a
 * number that launches advance. With it the whole measured path of ubench runs
 * without a GPU: workers, journal, graphs, events, verification, counters.
 *
 * $UBENCH_FAKE, a comma-separated list, says what goes wrong:
 *   no-driver old-driver no-gpu          ub_api_open() fails so
 *   gpus=2  memory=64Mi  name=TEXT       what the device is
 *   oom                                  every allocation fails
 *   no-pinning                           the host cannot pin memory
 *   noimage                              no kernel runs on this card
 *   hang:AXIS=V  crash:AXIS=V            the launch never returns, the process dies
 *   launch:AXIS=V  sticky:AXIS=V         the launch fails; all that follows fails too
 *   timeline:AXIS=V                      the launch with timestamps fails
 *   wrong:AXIS=V                         the kernel writes a wrong value
 *   throttle                             the clock drops now and then
 *   counters=CODE                        counters are refused with that CUPTI code
 *   miscount:AXIS=V                      the sector counter is one too high
 *   resident:AXIS=V                      the driver says that other blocks fit (occupancy)
 *   jit                                  code was compiled at load time */
#ifndef UB_TESTS_FAKE_H
#define UB_TESTS_FAKE_H

#include "harness/contract/micro.h"

/* Whether $UBENCH_FAKE has the word `name`, or `name:AXIS=V` with V the value that
 * this point of the rule has. */
bool fake_fault(const char *name);
bool fake_fault_at(const char *name, const struct ub_micro *micro, const struct ub_point *point);
/* Text after "name=", or NULL; `text` holds it. */
const char *fake_setting(const char *name, char *text, size_t size);

/* A launch that lasts `time_ns`: true if it is to be executed now, false if the
 * stream is being captured (the graph remembers the time only). */
bool fake_stream_launch(double time_ns);

/* Applies the faults of a launch of this point; 0 or a cudaError_t. */
int fake_launch_fault(const struct ub_micro *micro, const struct ub_point *point);

/* Enqueues a launch of the rule that lasts as long as its law says. Returns a cudaError_t;
 * *execute: whether its work is to be done now. What every fake kernel begins with. */
int fake_begin(const struct ub_micro *micro, const struct ub_launch *launch, bool *execute);

/* A reference (ub_code) that finds what the launch found: where the checked launch worked on the
 * host's own reading of the elements, verification by the rule is the proof. */
int fake_agree(const struct ub_launch *launch);

/* So many blocks of so many threads, in one dimension. */
void fake_shape(struct ub_kernel *kernel, uint32_t blocks, uint32_t threads);

/* What the law of the last launched rule predicts for the last launched point. */
void fake_last_launch(const struct ub_micro **micro, struct ub_point *point, struct ub_law *law);

double fake_now_ns(void);
double fake_clock_mhz(void);

/* Registers of a thread of this fake kernel. */
int fake_registers(const void *function);

#endif
