/* SPDX-License-Identifier: MIT
 *
 * Signals that end the program, held back while a chart is drawn: what was begun is
 * first taken away (the temporary files, gnuplot and its children), then the signal does
 * what it does. No handler and no global: a caller's own handlers stay as they are. */
#ifndef UB_PLOTS_INTERRUPT_H
#define UB_PLOTS_INTERRUPT_H

#include <signal.h>

/* SIGHUP, SIGINT and SIGTERM, without those that this process ignores. */
void ub_interrupt_signals(sigset_t *signals);

/* Holds them back in this thread; `before` gets the mask for ub_interrupt_release(), which
 * lets through what has come meanwhile, and with it ends a program that has no handler. */
void ub_interrupt_hold(sigset_t *before);
void ub_interrupt_release(const sigset_t *before);

#endif
