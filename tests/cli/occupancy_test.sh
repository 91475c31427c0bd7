#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench occupancy`: the table of one launch, the staircase of a range, the heat map of
# two, as text, as JSON and drawn; and the rule of that name over the fake device, with
# the launches that it refuses.
set -u
. "$(dirname "$0")/../lib.sh"

has() { # FILE TEXT...
    local file=$1 text
    shift
    for text in "$@"; do
        grep -q -E -e "$text" "$file" || { fail "$file lacks \"$text\""; cat "$file"; }
    done
}

# expect STATUS TEXT ARGUMENT...
expect() {
    local wanted=$1 text=$2 status
    shift 2
    "$UBENCH" occupancy "$@" >out 2>err
    status=$?
    [ "$status" -eq "$wanted" ] && cat out err | grep -q -F -e "$text" ||
        { fail "occupancy $*: status $status (wanted $wanted), looked for \"$text\""; cat out err; }
}

# ---- one launch ------------------------------------------------------------------

"$UBENCH" occupancy --regs 64 --threads 512 --smem 16Ki --device model:h200 >out || fail "a launch: $?"
has out "^NVIDIA H200, compute capability 9.0" "2 blocks an SM, 32 of 64 warps: 50.0 % occupancy; the limit: registers" \
    "^registers .* 2  limit  at most 40 a thread" "^shared memory .* 13  .* at most 76800 B" "^warps .* 4 " "^blocks .* 32 " \
    "^barriers .* 64 " "for 3 blocks: 48 warps, 75.0 %"
expect 0 "2 blocks an SM, 16 of 64 warps: 25.0 % occupancy; the limit: registers" --regs 96 --device model:h200
expect 0 "2 blocks an SM, 16 of 32 warps: 50.0 %" --regs 96 --cc 7.5
expect 0 "2 blocks an SM, 16 of 64 warps: 25.0 %" --regs 96 --cc 5.2
expect 0 "0 blocks: a launch ends with cudaErrorLaunchOutOfResources" --regs 65 --threads 1024 --device model:h200
expect 0 "for 1 block: 32 warps" --regs 65 --threads 1024 --device model:h200
expect 0 "0 blocks: a launch ends with cudaErrorInvalidValue" --threads 1056 --device model:h200
expect 0 "cudaFuncAttributeMaxDynamicSharedMemorySize" --smem 100Ki --device model:h200
expect 0 "nothing to gain" --regs 32 --device model:h200
expect 0 "another block size: 160 threads give 4 blocks, 20 warps, 31.2 %" --regs 96 --device model:h200
expect 0 "for 5 blocks: 40 warps, 62.5 %" --want 5 --device model:h200
# barriers limit from compute capability 9.0 on: 64 / 16
expect 0 "4 blocks an SM, 8 of 64 warps: 12.5 % occupancy; the limit: barriers" --threads 64 --barriers 16 --device model:h200

# ---- ranges -------------------------------------------------------------------------

"$UBENCH" occupancy --regs 16..255 --device model:h200 >out || fail "a range: $?"
has out "^ +33\.\.40 +6 +48 +75\.0 % +registers$" "^ +129\.\.255 +1 +8 +12\.5 % +registers$"
expect 0 "1056..1088" --threads 1024,1056,1088 --device model:h200
"$UBENCH" occupancy --regs 32,64 --threads 128,1024 --device model:h200 >out || fail "two ranges: $?"
has out "across: regs, down: threads" "^ +128 +100\.0 +50\.0$" "^ +1024 +100\.0 +50\.0$"
"$UBENCH" occupancy --regs 32,65 --threads 1024 --json --device model:h200 >points.json || fail "--json: $?"
python3 - >said <<'END' || fail "--json: $(cat said)"
import json
answer = json.load(open("points.json"))
first, second = answer["points"]
assert answer["warps"] == 64 and answer["card"].startswith("NVIDIA H200"), answer
assert first["blocks"] == 2 and first["limited_by"] == ["registers", "warps"] and first["error"] is None, first
assert second["blocks"] == 0 and second["error"] == "cudaErrorLaunchOutOfResources", second
assert second["limits"]["registers"] == 0 and second["limits"]["shared memory"] == 228, second
END

# ---- mistakes -----------------------------------------------------------------------

expect 2 "--cc 8.8: known are 3.5" --cc 8.8
expect 2 "--cc and --device exclude each other" --cc 9.0 --device model:h200
expect 2 "256 is above this axis's limit of 255" --regs 256
expect 2 "two ranges at most" --regs 16,32 --threads 64,128 --smem 0,1024
expect 2 "--plot draws a range" --plot x.svg --device model:h200
expect 2 "one number is needed" --want 1..4
expect 2 "occupancy has no option --stride" --stride 1
expect 2 "takes 0..255 (register)" --regs 300

"$UBENCH" help occupancy >out || fail "help: $?"
has out "^ubench occupancy" "ubench describe occupancy" "--regs RANGE"

# ---- charts --------------------------------------------------------------------------

if command -v gnuplot >/dev/null; then
    for file in steps.svg steps.png steps.pdf steps.txt; do
        expect 0 "chart in $file" --regs 16..255 --device model:h200 --plot $file
        expect 0 "chart in map-$file" --regs 16..248:8 --threads 32..1024:32 --device model:h200 --plot map-$file
        [ -s $file ] && [ -s map-$file ] || fail "no $file or map-$file"
    done
    has steps.svg "Occupancy is a staircase along registers" "limited by" ">128<" "warps of an SM"
    has map-steps.svg "registers and block size trade in steps" "64 registers, 128 threads: 50 %, 8 blocks" "does not launch"
    expect 0 "chart in smem.svg" --smem 0..228Ki:1Ki --device model:h200 --dark --plot smem.svg --keep-script
    has smem.svg "shared memory per block" "does not launch"
    [ -s smem.gp ] || fail "--keep-script left no script"
    COLUMNS=70 "$UBENCH" occupancy --threads 32..1024:32 --device model:h200 --plot - >text || fail "--plot -: $?"
    [ "$(wc -L <text)" -le 70 ] || fail "--plot - is wider than 70 columns"
    grep -q "####" text || fail "--plot - draws no step"
    "$UBENCH" occupancy --cc 12.0 --regs 32 --threads 64..128:32 --plot one.svg >out 2>&1 || fail "a short range: $(cat out)"
    expect 74 "nowhere" --regs 16..32 --device model:h200 --plot nowhere/x.svg
else
    echo "gnuplot is not installed: no chart was drawn"
fi

# ---- the rule, over the fake device -----------------------------------------------------

"$fake" run occupancy --rounds 3 -f json -o run.json -q 2>err || fail "the rule: $(cat err)"
"$fake" check run.json >check || fail "check: $(cat check)"
python3 - >said <<'END' || fail "the rule: $(cat said)"
import json
points = json.load(open("run.json"))["ubench"]["points"]
refused = {p["sweep"]: p["reason"] for p in points if p["status"] == "skipped"}
assert refused == {
    "refused_threads": "refused: cudaErrorInvalidValue (1), as the law says",
    "refused_registers": "refused: cudaErrorLaunchOutOfResources (701), as the law says",
    "refused_shared": "refused: cudaErrorInvalidValue (1), as the law says",
    "refused_optin": "refused: cudaErrorInvalidValue (1), as the law says",
}, refused
assert all(p["status"] in ("ok", "skipped") for p in points)
for p in points:
    if p["status"] == "ok":
        assert p["static"]["resident_blocks"] == p["metrics"]["resident_blocks"]["value"], p["metrics"]
        assert p["law"]["counters"] == "holds", p["axes"]
END
# The blocks that an SM holds are a law like any counter, and so is a refusal.
UBENCH_FAKE=resident:resident=4 "$fake" run occupancy --work compute --block 128 --resident 2,4 -o other.json >out 2>&1
grep -q "resident blocks: the driver says 2, the law 4" out || fail "other blocks: $(cat out)"
"$fake" check other.json >out && fail "check takes other blocks"
grep -q "resident=4.*the driver says that an SM holds 2 blocks, the law says 4" out || fail "check: $(cat out)"
edit() { # the record with the python statement done to each point p
    python3 -c 'import json, sys
record = json.load(open("run.json"))
for p in record["ubench"]["points"]:
    exec(sys.argv[1])
json.dump(record, open("edited.json", "w"))' "$1"
    "$fake" check edited.json >out && fail "check takes: $1"
    grep -q "$2" out || fail "check of '$1' says: $(cat out)"
}
edit 'if p["sweep"] == "refused_threads" and p["reason"]: p["reason"] = "refused: cudaErrorMadeUp (999), as the law says"' \
    "MadeUp.*but the law names cudaErrorInvalidValue"
edit 'if p["status"] == "ok": p["static"]["resident_blocks"] += 1; p["metrics"]["resident_blocks"]["value"] += 1' \
    "the driver says that an SM holds"
edit 'if p["axes"]["block"] == 1024: p["status"] = "skipped"; p["reason"] = "refused: cudaErrorInvalidValue (1), as the law says"; p["time_ns"] = None; p["counters"] = {}; p["metrics"] = {}' \
    "but the law says that it is launched"
UBENCH_FAKE=accept:block=1056 "$fake" run occupancy --block 1056 -f json -o taken.json -q >out 2>&1
status=$?
[ $status -eq 5 ] || fail "a launch that should be refused: status $status"
grep -q "no error (0), but the law says that cudaErrorInvalidValue refuses it" taken.json || fail "$(cat taken.json)"
UBENCH_FAKE=wrong:work=latency "$fake" run occupancy --work latency -f json -o wrong.json -q >out 2>&1
status=$?
[ $status -eq 6 ] || fail "a wrong sum: status $status"

finish
