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
echo "$count commands, $failures failed"
[ "$failures" = 0 ]
