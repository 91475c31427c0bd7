#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench show`: a saved run in every format is what `run` would have printed, and
# files that are no runs are refused by name.
set -u
. "$(dirname "$0")/../lib.sh"
record=(run coalescing --stride 1..8 --bytes 4 --op load --device model:h200)

# refuse STATUS TEXT FILE
refuse() {
    local wanted=$1 text=$2 status
    shift 2
    "$UBENCH" show "$@" >out 2>err
    status=$?
    [ "$status" -eq "$wanted" ] && grep -q -F -e "$text" err || fail "show $*: $status, $(head -c 500 err)"
    [ ! -s out ] || fail "show $*: wrote to stdout"
}

"$UBENCH" "${record[@]}" -f json -o run.json 2>err || fail "run: $(cat err)"
"$UBENCH" show run.json -f json >again.json || fail "show -f json: $?"
cmp -s run.json again.json || fail "show -f json differs from the file"
# What a run of several rules has of one is what the run of that one gives, but for the run's
# own name, time and command.
"$UBENCH" run null coalescing --suite quick --device model:h200 -f json -o two.json -q || fail "run of two rules: $?"
"$UBENCH" run coalescing --suite quick --device model:h200 -f json -o one.json -q || fail "run of one rule: $?"
"$UBENCH" show two.json --rule coalescing -f json -o part.json || fail "show --rule: $?"
"$UBENCH" check part.json >out || fail "a part of a record: $(cat out)"
points() {
    python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["ubench"]["points"]))' "$1"
}
[ "$(points part.json)" = "$(points one.json)" ] || fail "show --rule has other points than the rule's own run"
# A part knows what the laws of its rule need of the others, and no more.
python3 - part.json <<'END' || fail "constants of a part"
import json, sys
part = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
assert all(" null " not in c["origin"] + " " for c in part["constants"]), part["constants"]
END
refuse 2 "give what is written another name" two.json --rule null -o two.json --force
refuse 2 "the record has no points of a rule nul" two.json --rule nul

"$UBENCH" show - -f json <run.json | cmp -s run.json - || fail "show - differs from the file"
for format in csv md gbench openmetrics; do
    "$UBENCH" show run.json -f $format >$format || fail "show -f $format: $?"
    [ -s $format ] || fail "show -f $format: empty"
done
head -1 csv | grep -q "^rule,sweep,stride," || fail "csv: $(head -1 csv)"
python3 -m json.tool gbench >out || fail "gbench is no JSON"
tail -1 openmetrics | grep -q "^# EOF" || fail "openmetrics: $(tail -1 openmetrics)"
"$UBENCH" show run.json >human || fail "show: $?"
grep -q "PREDICTED" human || fail "show does not say that the run is predicted"

# A narrow terminal keeps the axis and the time, and every line ends where it does.
if script -qec true /dev/null >/dev/null 2>&1; then
    for width in 20 40 60; do
        LC_ALL=C.UTF-8 script -qec "stty cols $width; $UBENCH show run.json --color never" /dev/null </dev/null | tr -d '\r' >narrow
        grep -q " us" narrow || fail "$width columns: no time: $(cat narrow)"
        # A word that is wider than the terminal stays whole: the time of the run.
        widest=$(grep -v 'T.*:.*Z$' narrow | LC_ALL=C.UTF-8 wc -L)
        [ "$widest" -le $width ] || fail "$width columns: a line has $widest"
    done
fi

# Values that nothing measures stay short.
sed -E 's/("value": )[0-9.e+-]+/\11e308/' run.json >absurd.json
"$UBENCH" show absurd.json >absurd || fail "show absurd.json: $?"
grep -qE '[0-9]{17}|inf|nan' absurd && fail "absurd values: $(cat absurd)"

# Written to a file: the same bytes; the ending chooses the format.
"$UBENCH" show run.json -o out.csv || fail "show -o: $?"
cmp -s csv out.csv || fail "show -o out.csv differs from show -f csv"
"$UBENCH" show run.json -f md -o out.txt && cmp -s md out.txt || fail "show -f md -o differs"
"$UBENCH" show run.json -f csv --dry-run -o not.csv | grep -q "would write 8 points as csv to not.csv" || fail "--dry-run"
[ ! -e not.csv ] || fail "--dry-run wrote"
refuse 74 "out.csv exists; --force overwrites it" run.json -o out.csv
refuse 74 "/dev/full" run.json -f csv -o /dev/full
refuse 74 "nowhere" run.json -o nowhere/a.csv

# --redact: no paths
"$UBENCH" "${record[@]}" -f json -o "$scratch/deep.json" 2>err
"$UBENCH" show deep.json -f json --redact | grep -q -F "$scratch" && fail "--redact leaves a path"

# files that are none
head -c 500 run.json >half.json
: >empty.json
echo '{"benchmarks": [], "context": {}}' >google.json
sed 's/"schema": 1/"schema": 99/' run.json >future.json
head -c 1000000 /dev/zero | tr '\0' '[' >deep_nesting.json
refuse 65 "half.json" half.json
refuse 65 "empty.json" empty.json
refuse 65 "Google Benchmark" google.json
refuse 65 "schema" future.json
refuse 65 "deep_nesting.json" deep_nesting.json
refuse 65 "missing.json" missing.json
refuse 65 "." .
if [ "$(id -u)" -ne 0 ]; then
    cp run.json secret.json && chmod 000 secret.json
    refuse 65 "secret.json" secret.json
fi
refuse 2 "show what?"

finish
