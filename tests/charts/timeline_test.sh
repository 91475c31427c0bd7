#!/usr/bin/env bash
# ubench plot --timeline with the real gnuplot: of a prediction, in every terminal, and of a
# record with hostile words; what it refuses.
set -u
. "$(dirname "$0")/../lib.sh"
need gnuplot python3 xmllint
# expect STATUS WORDS ARGUMENT...: exit status, and words on standard error
expect() {
    local status=$1 words=$2
    shift 2
    "$UBENCH" "$@" >out 2>err
    local got=$?
    [ $got -eq "$status" ] || fail "ubench $*: exit $got, not $status: $(cat err)"
    [ -z "$words" ] || grep -qF -- "$words" err || fail "ubench $*: '$words' is not in: $(cat err)"
}

"$UBENCH" run streams --streams 1,3 --segments 6 --size 48Mi --device model:h200 -f json -q -o run.json >/dev/null ||
    { echo "no record to draw"; exit 1; }

expect 0 "wrote run.svg" plot run.json --timeline
xmllint --noout run.svg || fail "run.svg is not XML"
grep -q 'predicted, not measured' run.svg || fail "run.svg does not say that it is predicted"
grep -q '3 streams' run.svg || fail "run.svg does not show the point with most overlap"
for stream in 0 1 2; do grep -q "stream $stream<" run.svg || fail "run.svg has no stream $stream"; done
# 18 operations: 6 of each stage, in the stage's colour.
for colour in "  0, 114, 178" "138,  97,   0" "  0, 128,  93"; do
    bars=$(grep -c "<polygon fill = 'rgb($colour)'" run.svg)
    [ "$bars" -eq 6 ] || fail "run.svg has $bars bars in rgb($colour), not 6"
done
expect 0 "" plot run.json --timeline --streams 1 -o one.svg -q
grep -q '· 1 stream ·' one.svg || fail "--streams 1 shows another point"
expect 0 "" plot run.json --timeline -o dark.png --dark -q
[ "$(head -c 8 dark.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "dark.png"
expect 0 "" plot run.json --timeline -o run.pdf -q
[ "$(head -c 5 run.pdf)" = %PDF- ] || fail "run.pdf"
expect 0 "" plot run.json --timeline -o kept.svg --keep-script -q
cp kept.svg first.svg
(gnuplot -d kept.gp) 2>&1 | grep . && fail "the kept script complains"
cmp -s first.svg kept.svg || fail "the kept script draws another picture"
expect 0 "" plot run.json --timeline -o dry.svg --dry-run
grep -q "would draw dry.svg" out || fail "--dry-run says nothing"
[ -e dry.svg ] && fail "--dry-run drew"
COLUMNS=64 LC_ALL=C expect 0 "" plot run.json --timeline -o -
grep -q 'i copy in, k kernel, o copy out' out || fail "the timeline in the terminal: $(cat out)"
grep -q '^ *stream 2 *\.*i*[.k]*o' out || fail "the timeline in the terminal has no row of stream 2: $(cat out)"
[ "$(wc -L <out)" -le 64 ] || fail "the timeline in the terminal is wider than COLUMNS"

# Words of a record are never run.
sed "s/\"copy in\"/\"'\`touch a\`\\\\\\\\\"/; s/NVIDIA H200/'; system('touch hacked'); '/" run.json >hostile.json
for term in svg png pdf dumb; do expect 0 "" plot hostile.json --timeline -o hostile.$term --term $term -q; done
[ -e hacked ] || [ -e a ] && fail "a word of the record was run"

expect 2 "--x belongs to charts of sweeps" plot run.json --timeline --x streams -o no.svg
expect 2 "one point of one record, not of 2" plot run.json run.json --timeline -o no.svg
expect 65 "nothing to draw" plot run.json --timeline --streams 2 -o no.svg
"$UBENCH" run null --device model:h200 -f json -q -o null.json >/dev/null
expect 65 "no point of this record has a timeline" plot null.json --timeline -o no.svg
[ -e no.svg ] && fail "a chart was left that could not be drawn"

# What was changed by hand is found.
expect 0 "" check run.json
python3 - <<'END' || fail "the record has no timeline to change"
import json
record = json.load(open("run.json"))
point = next(p for p in record["ubench"]["points"] if p.get("timeline"))
point["timeline"][4]["end_ns"] *= 1.01
json.dump(record, open("changed.json", "w"))
END
"$UBENCH" check changed.json >out 2>&1 && fail "check accepts a changed timeline"
grep -q "its timeline" out || fail "check does not name the timeline: $(cat out)"
finish "timelines drawn and looked at"
