/* SPDX-License-Identifier: MIT
 *
 * Numbers of a script have a decimal point whatever the locale of the program. */
#ifndef UB_PLOTS_LOCALE_H
#define UB_PLOTS_LOCALE_H

#include <locale.h>

struct ub_locale {
    locale_t plain, before;
};

/* This thread's locale becomes "C", until it is left. */
void ub_locale_enter(struct ub_locale *locale);
void ub_locale_leave(struct ub_locale *locale);

#endif
