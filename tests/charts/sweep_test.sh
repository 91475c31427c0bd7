#!/usr/bin/env bash
# Draws every variant of plot_test.c with the real gnuplot, in every terminal, and
# looks at the pictures: structure, geometry, texts, colours, and that nothing that a
# record holds is ever run.
set -u
. "$(dirname "$0")/../lib.sh"
need gnuplot xmllint python3
test=${UBENCH_BUILD:?}/tests/plot_test
[ -x "$test" ] || { echo "SKIP: $test is not built"; exit 77; }
mkdir charts plain comma

UB_CHART_FOLDER=charts LC_ALL=C.UTF-8 COLUMNS=80 "$test" || fail "a chart was not drawn"
[ -z "$(find . -name '*hacked*' -o -name '*.part*' -o -name '*.script*')" ] || fail "files that should not be: $(ls)"

while IFS=$'\t' read -r name dots texts; do
    IFS=$'\t' read -r -a words <<<"$texts"
    for kind in "" -dark; do
        chart=charts/$name$kind.svg
        xmllint --noout "$chart" || fail "$chart is not XML"
        "$python" "$UBENCH_SOURCE/tests/charts/check_svg.py" "$chart" "charts/$name.gp" "$dots" "${words[@]}" || fail "$chart"
        [ "$(head -c 8 "charts/$name$kind.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "$name$kind.png"
    done
    [ "$(head -c 5 "charts/$name.pdf")" = %PDF- ] || fail "$name.pdf"
    # A terminal's chart: within its width, no blanks at the ends, the title there.
    widest=$(LC_ALL=C.UTF-8 wc -L <"charts/$name.txt")
    [ "$widest" -le 80 ] || fail "$name.txt is $widest wide"
    grep -q ' $' "charts/$name.txt" && fail "$name.txt has blanks at ends of lines"
done <charts/expected.tsv

# The kept script draws the same picture again.
cp charts/stride.svg first.svg
(gnuplot -d charts/stride.gp) 2>&1 | grep . && fail "the kept script complains"
cmp -s first.svg charts/stride.svg || fail "the kept script draws another picture"

# Without UTF-8 a terminal gets ASCII, in its own width.
UB_CHART_FOLDER=plain UB_CHART_ONLY=hostile LC_ALL=C COLUMNS=60 "$test" || fail "hostile.txt in the C locale"
LC_ALL=C grep -q '[^ -~]' plain/hostile.txt && fail "hostile.txt has bytes that are not ASCII"
[ "$(wc -L <plain/hostile.txt)" -le 60 ] || fail "hostile.txt is too wide"

# A locale with a decimal comma changes nothing.
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >/dev/null 2>&1; then
    UB_CHART_FOLDER=comma UB_CHART_ONLY=six-series LOCPATH=$scratch LC_ALL=de_DE.UTF-8 "$test" || fail "locale de_DE"
    for file in six-series.svg six-series.png; do
        cmp "charts/$file" "comma/$file" || fail "$file differs in the locale de_DE"
    done
fi
finish "$(wc -l <charts/expected.tsv) variants drawn and looked at"
