#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench run -o FOLDER/`: each rule is a run of its own, refused before anything is
# measured, and --resume does what an earlier run left.
set -u
. "$(dirname "$0")/../lib.sh"

# expect STATUS TEXT ARGUMENT...: a run; TEXT is on stdout or stderr
expect() {
    local wanted=$1 text=$2 status
    shift 2
    "$fake" run "$@" --rounds 6 >out 2>err
    status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -F -e "$text" out err; then
        fail "run $*: status $status (wanted $wanted), looked for \"$text\" in: $(head -c 600 err)"
    fi
}

two=(coalescing bank_conflict --size 1Mi --stride 1,2)

# ---- a record and a chart a rule; an axis goes to the rules that have it
expect 0 "record in two/bank_conflict.json" "${two[@]}" -o two/
"$fake" check two/coalescing.json two/bank_conflict.json >out 2>&1 || fail "check: $(cat out)"
[ "$(ls two/*.json | wc -l)" = 2 ] || fail "not one record a rule: $(ls two)"
command -v gnuplot >/dev/null && { [ -s two/coalescing.svg ] || fail "no chart: $(ls two)"; }
expect 0 "" coalescing coalescing -f csv --size 1Mi --stride 1 -o two # a folder that is there needs no slash
[ -s two/coalescing.csv ] || fail "no CSV: $(ls two)"
UBENCH_FAKE=gpus=2 expect 0 "" coalescing --size 1Mi --stride 1 --device all -o both/ -q
[ -s both/coalescing-0.json ] && [ -s both/coalescing-1.json ] || fail "one record a GPU: $(ls both)"

# ---- refused before anything is measured
expect 74 "two/coalescing.json exists" null "${two[@]}" -o two/
[ -e two/null.json ] && fail "measured although another record was refused"
expect 2 "unknown rule 'nosuch'" coalescing nosuch -o new/
[ -e new ] && fail "a folder for a run that was refused"
expect 2 "none of the 2 rules has an axis --ways" "${two[@]}" --ways 2 -o new/
expect 2 "each rule's chart goes into that folder" "${two[@]}" -o new/ --plot x.svg
expect 74 "cannot make the folder" "${two[@]}" -o no/such/
touch file
expect 74 "cannot make the folder file/" "${two[@]}" -o file/
expect 2 "run what?" -o new/
expect 0 "2 points on" "${two[@]}" -o dry/ --dry-run
[ -e dry ] && fail "a dry run makes a folder"
expect 2 "--stride" coalescing --stride 0.5 -o new/
[ -e new ] && fail "the folder of a refused run is left"

# ---- one rule that goes wrong costs the others nothing
UBENCH_FAKE=wrong:stride=2 expect 6 "" "${two[@]}" -o wrong/ -q
[ -s wrong/coalescing.json ] && [ -s wrong/bank_conflict.json ] || fail "a rule is missing: $(ls wrong)"

# ---- what was cut off goes on, what is complete stays
expect 0 "" "${two[@]}" -o cut/ -q
rm cut/bank_conflict.json
printf old >cut/bank_conflict.svg
before=$(cksum <cut/coalescing.json)
expect 0 "cut/coalescing.json is complete" "${two[@]}" -o cut/ --resume
[ "$before" = "$(cksum <cut/coalescing.json)" ] || fail "a complete record was measured again"
[ -s cut/bank_conflict.json ] || fail "what was not begun was not measured"
command -v gnuplot >/dev/null && grep -qx old cut/bank_conflict.svg && fail "the chart is not of the record"
expect 2 "axes, rules or options are not as in that run" coalescing --size 1Mi --stride 1..8 -o cut/ --resume
: >cut/null.json
expect 2 "cut/null.json: it is no record" null -o cut/ --resume
UBENCH_FAKE=crash:stride=2 expect 5 "with --resume -o lost/ measures it again" "${two[@]}" -o lost/ -f json
rm lost/*.part.jsonl
expect 2 "lost/coalescing.json lacks points, but there is no" "${two[@]}" -o lost/ -f json --resume
UBENCH_FAKE=hang:stride=2 expect 5 "bank_conflict: not begun within the time limit" "${two[@]}" -o late/ --time-limit 1 --timeout 30 -q
expect 0 "" "${two[@]}" -o late/ --resume -q
"$fake" show late/coalescing.json -f json | grep -q '"complete": true' || fail "the resumed run is not complete"

finish
