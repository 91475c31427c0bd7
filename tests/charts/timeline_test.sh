#!/usr/bin/env bash
# ubench plot --timeline with the real gnuplot: of a prediction, in every terminal, and of a
# record with hostile words; what it refuses.
set -u
for program in gnuplot python3 xmllint; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
ubench=${UBENCH:?}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
faults=0
fault() { echo "FAULT: $*"; faults=$((faults + 1)); }
# expect STATUS WORDS ARGUMENT...: exit status, and words on standard error
expect() {
    local status=$1 words=$2
    shift 2
    "$ubench" "$@" >out 2>err
    local got=$?
    [ $got -eq "$status" ] || fault "ubench $*: exit $got, not $status: $(cat err)"
    [ -z "$words" ] || grep -qF -- "$words" err || fault "ubench $*: '$words' is not in: $(cat err)"
}

"$ubench" run streams --streams 1,3 --segments 6 --size 48Mi --device model:h200 -f json -q -o run.json >/dev/null ||
    { echo "no record to draw"; exit 1; }

expect 0 "wrote run.svg" plot run.json --timeline
xmllint --noout run.svg || fault "run.svg is not XML"
grep -q 'predicted, not measured' run.svg || fault "run.svg does not say that it is predicted"
grep -q '3 streams' run.svg || fault "run.svg does not show the point with most overlap"
for stream in 0 1 2; do grep -q "stream $stream<" run.svg || fault "run.svg has no stream $stream"; done
# 18 operations: 6 of each stage, in the stage's colour.
for colour in "  0, 114, 178" "138,  97,   0" "  0, 128,  93"; do
    bars=$(grep -c "<polygon fill = 'rgb($colour)'" run.svg)
    [ "$bars" -eq 6 ] || fault "run.svg has $bars bars in rgb($colour), not 6"
done
expect 0 "" plot run.json --timeline --streams 1 -o one.svg -q
grep -q '· 1 stream ·' one.svg || fault "--streams 1 shows another point"
expect 0 "" plot run.json --timeline -o dark.png --dark -q
[ "$(head -c 8 dark.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fault "dark.png"
expect 0 "" plot run.json --timeline -o run.pdf -q
[ "$(head -c 5 run.pdf)" = %PDF- ] || fault "run.pdf"
expect 0 "" plot run.json --timeline -o kept.svg --keep-script -q
cp kept.svg first.svg
(gnuplot -d kept.gp) 2>&1 | grep . && fault "the kept script complains"
cmp -s first.svg kept.svg || fault "the kept script draws another picture"
expect 0 "" plot run.json --timeline -o dry.svg --dry-run
grep -q "would draw dry.svg" out || fault "--dry-run says nothing"
[ -e dry.svg ] && fault "--dry-run drew"
COLUMNS=64 LC_ALL=C expect 0 "" plot run.json --timeline -o -
grep -q 'i copy in, k kernel, o copy out' out || fault "the timeline in the terminal: $(cat out)"
grep -q '^ *stream 2 *\.*i*[.k]*o' out || fault "the timeline in the terminal has no row of stream 2: $(cat out)"
[ "$(wc -L <out)" -le 64 ] || fault "the timeline in the terminal is wider than COLUMNS"

# Words of a record are never run.
sed "s/\"copy in\"/\"'\`touch a\`\\\\\\\\\"/; s/NVIDIA H200/'; system('touch hacked'); '/" run.json >hostile.json
for term in svg png pdf dumb; do expect 0 "" plot hostile.json --timeline -o hostile.$term --term $term -q; done
[ -e hacked ] || [ -e a ] && fault "a word of the record was run"

expect 2 "--x belongs to charts of sweeps" plot run.json --timeline --x streams -o no.svg
expect 2 "one point of one record, not of 2" plot run.json run.json --timeline -o no.svg
expect 65 "nothing to draw" plot run.json --timeline --streams 2 -o no.svg
"$ubench" run null --device model:h200 -f json -q -o null.json >/dev/null
expect 65 "no point of this record has a timeline" plot null.json --timeline -o no.svg
[ -e no.svg ] && fault "a chart was left that could not be drawn"

# What was changed by hand is found.
expect 0 "" check run.json
python3 - <<'END' || fault "the record has no timeline to change"
import json
record = json.load(open("run.json"))
point = next(p for p in record["ubench"]["points"] if p.get("timeline"))
point["timeline"][4]["end_ns"] *= 1.01
json.dump(record, open("changed.json", "w"))
END
"$ubench" check changed.json >out 2>&1 && fault "check accepts a changed timeline"
grep -q "its timeline" out || fault "check does not name the timeline: $(cat out)"
[ $faults -eq 0 ] || { echo "$faults faults"; exit 1; }
echo "timelines drawn and looked at"
