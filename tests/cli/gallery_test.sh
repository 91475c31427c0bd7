#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What reports/ shows is made from the records that it holds, and from all of them.
set -u
: "${UBENCH:?}" "${UBENCH_SOURCE:?}"
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
cd "$UBENCH_SOURCE/reports" || exit 1
faults=0
fault() { echo "FAULT: $*: cmake --build build --target gallery makes it anew"; faults=$((faults + 1)); }
for readme in */README.md; do
    gpu=${readme%/README.md}
    "$UBENCH" check "$gpu/report.html" >/dev/null || fault "$gpu/report.html does not pass ubench check"
    "$python" ../tests/report/check_page.py "$gpu/report.html" || fault "$gpu/report.html"
    for record in "$gpu"/*.json; do
        run=$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' "$record" | head -n 1)
        grep -q "\"id\": \"$run\"" "$gpu/report.html" || fault "$gpu/report.html lacks $record"
    done
    grep -q "No chart" "$gpu/report.html" && fault "$gpu/report.html lacks a chart"
    for chart in $(sed -n 's:^| `\([^`]*\.svg\)` | `ubench plot .*:\1:p' "$readme"); do
        [ -s "$gpu/$chart" ] || fault "$gpu/$chart is missing"
        # words of a timeline stand in bars: tests/charts/timeline_test.sh looks at those
        case $chart in *timeline*) ;; *) "$python" ../tests/charts/check_svg.py "$gpu/$chart" || fault "$gpu/$chart" ;; esac
        grep -q "]($gpu/$chart)" README.md || fault "README.md lacks $gpu/$chart"
        grep -q ">$chart<" "$gpu/contact_sheet.svg" || fault "$gpu/contact_sheet.svg lacks $chart"
    done
done
[ $faults -eq 0 ] || exit 1
