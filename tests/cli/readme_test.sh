#!/usr/bin/env bash
# Every command that the README shows runs as it stands there. `./bootstrap test` is
# what runs this test, so it is only checked to be known.
set -u
: "${UBENCH:?}" "${UBENCH_SOURCE:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/clone"
ln -s "$UBENCH" "$work/bin/ubench"
ln -s "$UBENCH_SOURCE/reports" "$work/clone/reports"
export PATH=$work/bin:$PATH
cd "$work/clone" || exit 1
failures=0
count=0
while IFS= read -r line; do
    [ -n "$line" ] || continue
    count=$((count + 1))
    case "$line" in
    "./bootstrap test") command=("$UBENCH_SOURCE/bootstrap" --help) ;;
    ./bootstrap*) read -ra command <<<"$UBENCH_SOURCE${line#.}" ;;
    *) read -ra command <<<"$line" ;;
    esac
    if ! "${command[@]}" >"$work/out" 2>&1; then
        echo "FAIL: $line"
        tail -n 20 "$work/out"
        failures=$((failures + 1))
    fi
done < <(awk '/^```sh$/ {on = 1; next} /^```/ {on = 0} on' "$UBENCH_SOURCE/README.md")
[ "$count" -ge 15 ] || { echo "FAIL: only $count commands found in the README"; exit 1; }

# The example row is one that the record on show has, heading included.
LC_ALL=C.UTF-8 ubench show reports/h200/coalescing.json >"$work/shown" || failures=$((failures + 1))
squeeze() { tr -s ' ' | sed 's/^ //; s/ $//'; }
squeeze <"$work/shown" >"$work/rows"
rows=0
while IFS= read -r row; do
    rows=$((rows + 1))
    grep -q -x -F -e "$row" "$work/rows" && continue
    echo "FAIL: ubench show reports/h200/coalescing.json does not print this row of README.md:"
    echo "  $row"
    echo "put there, with its heading, what it prints:"
    grep -F -m 1 -e "$(cut -d ' ' -f 1-3 <<<"$row") " "$work/rows" | sed 's/^/  /'
    failures=$((failures + 1))
done < <(awk '/^```text$/ {on = 1; next} /^```/ {on = 0} on' "$UBENCH_SOURCE/README.md" | squeeze)
[ "$rows" -ge 2 ] || { echo "FAIL: the README shows no row with its heading"; exit 1; }
echo "$count commands, $failures failed"
[ "$failures" = 0 ]
