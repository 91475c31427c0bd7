/* SPDX-License-Identifier: MIT */
#include "plots/locale.h"

void ub_locale_enter(struct ub_locale *locale)
{
    locale->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale->before = uselocale(locale->plain ? locale->plain : (locale_t)0);
}

void ub_locale_leave(struct ub_locale *locale)
{
    uselocale(locale->before);
    if (locale->plain)
        freelocale(locale->plain);
}
