#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench check`: accepts what ubench wrote, names the point of whatever was changed
# afterwards, and never takes a prediction for a proof.
set -u
. "$(dirname "$0")/../lib.sh"

# expect STATUS TEXT PROGRAM ARGUMENT...: the status, and that TEXT is on stdout or stderr
expect() {
    local wanted=$1 text=$2 status
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -F -e "$text" "$scratch/out" "$scratch/err"; then
        fail "$*: status $status (wanted $wanted), looked for \"$text\" in:"
        cat "$scratch/out" "$scratch/err"
    fi
}

# change FROM TO EXPRESSION: python with `record` (all of it) and `point` (stride 8)
change() {
    python3 - "$1" "$2" "$3" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    record = json.load(file)
points = record["ubench"]["points"]
point = [p for p in points if p["axes"]["stride"] == 8][0]
time = point["time_ns"]

def warn(code):
    record["ubench"]["warnings"].append({"code": code, "point": points.index(point), "text": "made up"})

exec(sys.argv[3])
with open(sys.argv[2], "w") as file:
    json.dump(record, file)
END
}

label="coalescing stride=8"
predicted="$scratch/predicted.json"
"$UBENCH" run coalescing --stride 1..32 --bytes 4 --op load --device model:h200 -f json >"$predicted" ||
    fail "no prediction to check"

expect 0 "predicted; nothing was measured, so no law is proved; 0 problems" "$UBENCH" check "$predicted"
expect 2 "RUN.json" "$UBENCH" check
expect 1 "0 exact counters tested" "$UBENCH" check --counters require "$predicted"
expect 0 "0 problems" "$UBENCH" check --counters auto "$predicted"
expect 2 "check --counters global_lines: write require, auto or off" "$UBENCH" check --counters global_lines "$predicted"
expect 65 "$scratch/none.json" "$UBENCH" check "$scratch/none.json"
head -c 1000 "$predicted" >"$scratch/half.json"
expect 65 "half.json" "$UBENCH" check "$scratch/half.json"
if [ -e /dev/full ]; then
    "$UBENCH" check "$predicted" >/dev/full 2>"$scratch/err"
    [ $? -eq 74 ] || fail "a full disk was not noticed"
fi

if ! command -v python3 >/dev/null 2>&1; then
    [ "$failures" -eq 0 ] || exit 1
    echo "SKIP: python3 is needed to change a record"
    exit 77
fi

# what is changed | what check says of it
changes='point["counters"]["global_load_sectors"]["predicted"] += 1|global_load_sectors is predicted as
point["law"]["time"]["predicted_ns"] *= 1.5|predicted_ns is
point["law"]["counters"] = "holds"|the verdict on counters is "holds" in the record, "not-tested"
point["metrics"]["useful_bandwidth"]["value"] *= 2|the useful_bandwidth is
point["timer"] = "host"|its timer is host in the record, event by the rule
point["footprint_bytes"] += 256|footprint_bytes is
point["footprint_bytes"] = None|footprint_bytes is
point["useful_bytes"] *= 2|useful_bytes is
warn("outliers")|the record has the warning outliers, its samples give none'
while IFS='|' read -r expression text; do
    change "$predicted" "$scratch/changed.json" "$expression" || fail "cannot do $expression"
    expect 1 "$text" "$UBENCH" check "$scratch/changed.json"
    grep -q -F "$label" "$scratch/out" || fail "$expression: the point is not named"
done <<<"$changes"

change "$predicted" "$scratch/foreign.json" 'point["rule"] = "no_such_rule"'
expect 65 'this build has no rule "no_such_rule"' "$UBENCH" check "$scratch/foreign.json"

change "$predicted" "$scratch/mixed.json" 'point["counters"]["global_load_sectors"]["measured"] = 1'
expect 65 "a predicted record cannot have a measured value" "$UBENCH" check "$scratch/mixed.json"

# Several files: each is checked, the worst decides.
expect 1 "changed.json" "$UBENCH" check "$scratch/foreign.json" "$scratch/changed.json" "$scratch/none.json" "$predicted"
grep -q -F "predicted.json: 32 points" "$scratch/out" || fail "the last of several files was not checked"

# ---- measured, on the fake device -------------------------------------------------
if [ -n "${UBENCH_FAKE_BINARY:-}" ]; then
    measured="$scratch/measured.json"
    "$UBENCH_FAKE_BINARY" run coalescing --size 1Mi --stride 4,8 -o "$measured" -f json >/dev/null 2>"$scratch/err" || {
        fail "the fake device does not measure:"
        cat "$scratch/err"
    }
    expect 0 "0 problems" "$UBENCH" check "$measured"
    expect 0 "0 problems" "$UBENCH" check --counters require "$measured"
    grep -q -E "[1-9][0-9]* exact counters tested, 0 broken" "$scratch/out" || fail "nothing was tested: $(cat "$scratch/out")"
    changes='point["counters"]["global_load_sectors"]["measured"] += 1|global_load_sectors measured
point["counters"]["global_load_sectors"]["predicted"] += 1|global_load_sectors is predicted as
point["time_ns"]["median"] *= 1.001|median is
point["time_ns"]["samples"][0] *= 0.5|min is
point["time_ns"]["ci_lo"] -= 900; point["time_ns"]["ci_hi"] += 900|ci_lo is
point["time_ns"]["batch"] = 0|batch is 0
point["time_ns"]["clock_mhz"] = [0 for s in point["time_ns"]["samples"]]|clock_mhz of sample 0 is 0
time["clock_mhz"][3] *= 0.9|sample 3 lacks the flag throttled
time["clock_mhz"][3] *= 0.9|the record lacks the warning unstable-clock: 1 of
time["flags"] = [{"sample": 7, "is": ["throttled"]}]; warn("unstable-clock")|sample 7 is flagged throttled
time["clock_mhz"] = None; time["flags"] = [{"sample": 7, "is": ["throttled"]}]|sample 7 is flagged throttled
warn("unstable-clock")|the record has the warning unstable-clock, its samples give none
warn("two-modes")|the record has the warning two-modes, its samples give none
warn("outliers")|the record has the warning outliers, its samples give none
time["samples"][:5] = [9 * t for t in time["samples"][:5]]|the record lacks the warning outliers
time["samples"][:10] = [9 * t for t in time["samples"][:10]]|the record lacks the warning two-modes
point["timer"] = "host"|its timer is host in the record, event by the rule
point["footprint_bytes"] += 256|footprint_bytes is
point["useful_bytes"] *= 2|useful_bytes is
point["counters"]["global_lines"]["measured"] = None|global_lines was not measured, and no reason says why
point["counters"]["global_lines"].update(measured=None, reason="")|global_lines was not measured, and no reason says why
record["ubench"]["points"].append(point)|stands twice in the sweep
point["status"] = "failed"|is failed, yet'
    while IFS='|' read -r expression text; do
        change "$measured" "$scratch/changed.json" "$expression" || fail "cannot do $expression"
        expect 1 "$text" "$UBENCH" check "$scratch/changed.json"
        grep -q -F "$label" "$scratch/out" || fail "$expression: the point is not named"
    done <<<"$changes"
    # Every interval of every point, not only where a timer without a tick gives it away.
    change "$measured" "$scratch/changed.json" 'for p in record["ubench"]["points"]:
    if p["status"] == "ok":
        p["time_ns"]["ci_lo"] -= 900; p["time_ns"]["ci_hi"] += 900'
    expect 1 "ci_lo is" "$UBENCH" check "$scratch/changed.json"
    points=$(python3 -c 'import json, sys; print([p["status"] for p in json.load(open(sys.argv[1]))["ubench"]["points"]].count("ok"))' "$measured")
    [ "$(grep -c "ci_hi is" "$scratch/out")" -eq "$points" ] || fail "not every widened interval was noticed"
    # A constant that a point of the same record measured.
    "$UBENCH_FAKE_BINARY" run null -o "$scratch/null.json" -f json >/dev/null 2>&1 || fail "the fake device does not run null"
    expect 0 "0 problems" "$UBENCH" check "$scratch/null.json"
    for part in value lo hi; do
        python3 - "$scratch/null.json" "$scratch/changed.json" $part <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
constant = [c for c in record["ubench"]["constants"] if c["name"] == "block_launch_ns"][0]
assert constant["origin"].startswith("measured in this run"), constant
constant[sys.argv[3]] *= 1.00001
json.dump(record, open(sys.argv[2], "w"))
END
        expect 1 "constants: block_launch_ns" "$UBENCH" check "$scratch/changed.json"
    done
    "$UBENCH_FAKE_BINARY" run coalescing --size 1Mi --stride 8 --counters off -o "$scratch/uncounted.json" -f json >/dev/null 2>&1
    expect 0 "no exact counter was measured, so this file proves no law" "$UBENCH" check "$scratch/uncounted.json"
    expect 1 "not measured (--counters require)" "$UBENCH" check --counters require "$scratch/uncounted.json"
    for how in off none; do
        change "$measured" "$scratch/changed.json" 'record["ubench"]["run"]["counters"] = "'$how'"'
        expect 1 "run: its counters are \"$how\" in the record, yet" "$UBENCH" check "$scratch/changed.json"
    done
    # What was measured again stands in no other value; a page has no samples to compute from.
    change "$measured" "$scratch/changed.json" 'time["flags"] = [{"sample": 7, "is": ["remeasured"]}]'
    expect 0 "0 problems" "$UBENCH" check "$scratch/changed.json"
    change "$measured" "$scratch/changed.json" 'time.update(samples=None, clock_mhz=None, flags=None); warn("outliers")'
    expect 0 "0 problems" "$UBENCH" check "$scratch/changed.json"
    change "$measured" "$scratch/changed.json" \
        'point["counters"]["global_lines"].update(measured=None, reason="not read")'
    expect 0 "0 problems" "$UBENCH" check "$scratch/changed.json"
    expect 1 "1 not measured (--counters require)" "$UBENCH" check --counters require "$scratch/changed.json"
fi

# ---- the records that the project shows --------------------------------------------
for record in "${UBENCH_SOURCE:-.}"/reports/*/*.json; do
    [ -e "$record" ] || continue
    case $record in */published/*)
        expect 0 "published by others; figures prove no law" "$UBENCH" check "$record"
        continue
        ;;
    esac
    expect 0 "0 broken" "$UBENCH" check "$record"
    # Throttled samples follow from their clocks, and the warnings from the samples.
    python3 - "$record" "$scratch/changed.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))["ubench"]
flags = 0
for p in record["points"]:
    if p["time_ns"]:
        flags += sum("throttled" in f["is"] for f in p["time_ns"]["flags"])
        p["time_ns"]["flags"] = []
warned = [w for w in record["warnings"] if w["code"] in ("unstable-clock", "two-modes", "outliers")]
record["warnings"] = [w for w in record["warnings"] if w not in warned]
json.dump({"ubench": record}, open(sys.argv[2], "w"))
open(sys.argv[2] + ".counts", "w").write("%d %d\n" % (flags, len(warned)))
END
    read -r flags warned <"$scratch/changed.json.counts"
    if [ "$warned" -gt 0 ]; then
        expect 1 "the record lacks the warning" "$UBENCH" check "$scratch/changed.json"
        [ "$(grep -c "lacks the warning" "$scratch/out")" -eq "$warned" ] || fail "$record: not every warning was missed"
        [ "$(grep -c "lacks the flag throttled" "$scratch/out")" -eq "$flags" ] ||
            fail "$record: not every flag was missed"
    fi
    # Events tick there, so that the launches of a sample decide on the interval.
    case $record in */coalescing.json)
        change "$record" "$scratch/changed.json" 'point["time_ns"]["batch"] += 1'
        expect 1 "ci_lo is" "$UBENCH" check "$scratch/changed.json"
        grep -q -F "$label" "$scratch/out" || fail "$record: another batch, and the point is not named"
        ;;
    esac
done

finish
