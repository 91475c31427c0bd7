/* SPDX-License-Identifier: MIT */
#include "plots/interrupt.h"

#include <pthread.h>
#include <stddef.h>

void ub_interrupt_signals(sigset_t *signals)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction action;
        /* An ignored signal that is held back would wait like one that matters (nohup). */
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(signals, ending[i]);
    }
}

void ub_interrupt_hold(sigset_t *before)
{
    sigset_t signals;
    ub_interrupt_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

void ub_interrupt_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}
