/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/text.h"

struct unit {
    double size;
    const char *name;
};

/* `value` in the largest unit that leaves at least 1 after rounding to `digits`
 * digits; the last unit is the smallest. `trim`: no zeros at the end. */
static void format(double value, const struct unit *units, size_t count, int digits, bool trim, char *text, size_t size)
{
    if (!isfinite(value)) {
        snprintf(text, size, "-");
        return;
    }
    double nearly_one = 1 - 0.5 * pow(10, -digits);
    size_t i = 0;
    while (i + 1 < count && fabs(value) < units[i].size * nearly_one)
        i++;
    double scaled = value / units[i].size;
    int before = 1;
    for (double limit = 10; before < digits && fabs(scaled) >= limit * nearly_one; limit *= 10)
        before++;
    char number[64];
    /* Beyond 15 digits a plain number is only noise. */
    bool extreme = (scaled != 0 && fabs(scaled) < 0.01) || fabs(scaled) >= 1e15;
    if (extreme || (trim && fabs(scaled) < 1e4))
        ub_number(number, sizeof number, digits, scaled);
    else
        ub_fixed(number, sizeof number, digits - before, scaled);
    snprintf(text, size, "%s %s", number, units[i].name);
}

#define FORMAT(value, units, digits, trim, text, size)                                                                 \
    format(value, units, sizeof(units) / sizeof((units)[0]), digits, trim, text, size)

void ub_format_time(double time_ns, char *text, size_t size)
{
    static const struct unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    FORMAT(time_ns, units, 4, false, text, size);
}

void ub_format_bytes(double bytes, char *text, size_t size)
{
    static const struct unit units[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
    FORMAT(bytes, units, 4, true, text, size);
}

void ub_format_rate(double bytes_per_second, char *text, size_t size)
{
    static const struct unit units[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}};
    FORMAT(bytes_per_second, units, 3, false, text, size);
}
