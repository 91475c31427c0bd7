#!/usr/bin/env bash
# The measured path, end to end, on the fake GPU (tests/fake): what a user sees when
# all goes well and when the GPU hangs, dies, lies, is full or refuses counters.
set -u
. "$(dirname "$0")/../lib.sh"

# expect CODE COMMAND...: runs it, output in $out and $said (stderr).
expect() {
    local want=$1 got
    shift
    "$@" >"$scratch/out" 2>"$scratch/said"
    got=$?
    out=$(cat "$scratch/out")
    said=$(cat "$scratch/said")
    [ "$got" = "$want" ] || fail "exit code $got, expected $want: $* -- $said"
}
# field FILE EXPRESSION: a Python expression over r (the record) and p (its points).
field() {
    /usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["ubench"]
p = r["points"]
sweep = [q for q in p if q["sweep"] == "command"]
print(eval(sys.argv[2]))' "$1" "$2"
}
is() {
    local got
    got=$(field "$1" "$2")
    [ "$got" = "$3" ] || fail "$1: $2 is $got, expected $3"
}
has() {
    case "$1" in
    *"$2"*) ;;
    *) fail "expected \"$2\" in: $1" ;;
    esac
}
run=("$fake" run coalescing --size 1Mi)

# ---- all goes well
expect 0 "${run[@]}" --stride 1..8 -o well.json --plot off.svg -q
is well.json 'r["source"]' measured
is well.json 'all(q["status"] == "ok" and q["law"]["counters"] == "holds" for q in sweep)' True
is well.json '[q["counters"]["global_load_sectors"]["measured"] // q["counters"]["global_load_requests"]["measured"] for q in sweep]' \
    '[4, 8, 12, 16, 20, 24, 28, 32]'
is well.json 'len(sweep[0]["time_ns"]["samples"])' 30
is well.json 'r["run"]["complete"]' True
expect 0 "$fake" check well.json
[ -e well.json.part.jsonl ] && fail "the journal is left after a complete run"
expect 74 "${run[@]}" --stride 1 -o well.json
has "$said" "well.json"
expect 0 "${run[@]}" --stride 1 -o well.json --force -q
expect 0 "${run[@]}" --stride 1,2 -f csv
has "$out" "rule,sweep"
expect 0 "${run[@]}" --stride 1,2 -f json
has "$out" '"source": "measured"'
expect 0 "$fake" run null -f json -o null.json
is null.json 'sorted({q["timer"] for q in p})' "['event', 'host', 'sm_clock']"
expect 0 "$fake" run all --suite quick --dry-run
has "$out" "points on Fake GPU"

# ---- one point goes wrong, the others stay
UBENCH_FAKE=wrong:stride=3 expect 6 "${run[@]}" --stride 1..4 -o wrong.json -q
is wrong.json '[q["status"] for q in sweep]' "['ok', 'ok', 'failed', 'ok']"
is wrong.json 'sweep[2]["time_ns"]' None
UBENCH_FAKE=hang:stride=2 expect 5 "${run[@]}" --stride 1..4 --timeout 1 -o hang.json -q
is hang.json '[q["status"] for q in sweep]' "['ok', 'timeout', 'ok', 'ok']"
UBENCH_FAKE=sticky:stride=2 expect 5 "${run[@]}" --stride 1..4 -o sticky.json -q
is sticky.json '[q["status"] for q in sweep]' "['ok', 'failed', 'ok', 'ok']"
UBENCH_FAKE=crash:stride=4 expect 5 "${run[@]}" --stride 1..4 -o crash.json -q
is crash.json '[q["status"] for q in sweep]' "['ok', 'ok', 'ok', 'failed']"
has "$(field crash.json 'sweep[3]["reason"]')" "signal 6"
UBENCH_FAKE=launch:stride=1 expect 5 "${run[@]}" --stride 1..2 -o launch.json -q
has "$(field launch.json 'sweep[0]["reason"]')" "cudaErrorInvalidConfiguration"
UBENCH_FAKE=oom expect 0 "${run[@]}" --stride 1..2 -o oom.json -q
is oom.json '{q["status"] for q in sweep}' "{'skipped'}"
has "$(field oom.json 'sweep[0]["reason"]')" "OUT_OF_MEMORY"
UBENCH_FAKE=oom expect 0 "$fake" run null --timer event -o oom_null.json -q
has "$(field oom_null.json 'sweep[0]["reason"]')" "cannot allocate 4 KiB on the GPU"
UBENCH_FAKE=noimage expect 5 "${run[@]}" --stride 1..2 -o noimage.json -q
has "$(field noimage.json 'sweep[0]["reason"]')" "NoKernelImage"
is noimage.json '{q["status"] for q in sweep}' "{'failed'}"
# together they do not fit, each alone does: two workers
UBENCH_FAKE=memory=10 expect 0 "$fake" run coalescing --stride 1 --op load,store,copy --size 8Mi -o turns.json -q
is turns.json '[q["status"] for q in sweep]' "['ok', 'ok', 'skipped']"
expect 0 "${run[@]}" --stride 1..3 --data zeros -o zeros.json -q
is zeros.json '{q["data"] for q in sweep}' "{'zeros'}"
UBENCH_FAKE=wrong:stride=2 expect 6 "${run[@]}" --stride 1..3 --data zeros -o zeros2.json -q
expect 0 "$fake" run coalescing --stride 1,1024 --size 64Mi -o large.json -q
expect 0 "$fake" run coalescing --stride 1 --bytes 16 --size 512Mi -o toolarge.json -q
is toolarge.json 'sweep[0]["status"]' skipped
has "$(field toolarge.json 'sweep[0]["reason"]')" "of GPU memory"

# ---- counters
UBENCH_FAKE=counters=35 expect 0 "${run[@]}" --stride 1..2 -o refused.json -q
is refused.json 'sweep[0]["counters"]["global_load_sectors"]["measured"]' None
has "$(field refused.json 'sweep[0]["counters"]["global_load_sectors"]["reason"]')" "refused"
is refused.json 'sweep[0]["law"]["counters"]' not-tested
UBENCH_FAKE=counters=35 expect 4 "${run[@]}" --stride 1..2 --counters require -o required.json -q
UBENCH_FAKE=miscount:stride=2 expect 0 "${run[@]}" --stride 1..2 -o miscount.json -q
is miscount.json '[q["law"]["counters"] for q in sweep]' "['holds', 'broken']"
expect 1 "$fake" check miscount.json
has "$out" "stride=2"
UBENCH_FAKE=miscount:stride=2 expect 0 "$fake" run bank_conflict --stride 2 -o miscount_banks.json -q
expect 1 "$fake" check miscount_banks.json
UBENCH_FAKE=miscount:ways=2 expect 0 "$fake" run divergence --ways 2 -o miscount_paths.json -q
expect 1 "$fake" check miscount_paths.json
expect 0 "${run[@]}" --stride 1 --counters off -o off.json -q
is off.json 'sweep[0]["counters"]["global_load_sectors"]["measured"]' None
UBENCH_COUNTERS=0 expect 0 "${run[@]}" --stride 1 -o zero.json -q
is zero.json 'sweep[0]["counters"]["global_load_sectors"]["measured"]' None
expect 74 "$fake" plot off.json --dry-run
has "$said" "off.svg exists"
expect 0 "$fake" plot off.json --dry-run --force
has "$out" "would draw off.svg"
expect 2 "${run[@]}" --stride 1 --counters global_load_sector
has "$said" "global_load_sectors"
UBENCH_FAKE=jit expect 0 "${run[@]}" --stride 1 -o jit.json -q
is jit.json 'r["run"]["build"]["jit"]' True
UBENCH_FAKE=throttle expect 0 "${run[@]}" --stride 1 -o throttle.json -q
has "$(field throttle.json '[f for q in p for f in (q["time_ns"] or {}).get("flags", [])]')" "remeasured"

# ---- no GPU, another GPU
UBENCH_FAKE=no-driver expect 0 "${run[@]}" --stride 1 -f json
has "$out" '"source": "predicted"'
has "$said" "H200"
UBENCH_FAKE=no-driver expect 3 "${run[@]}" --stride 1 --device 0
UBENCH_FAKE=old-driver expect 3 "${run[@]}" --stride 1 --device 0
has "$said" "too old"
expect 3 "${run[@]}" --stride 1 --device 7
has "$said" "no GPU 7"
expect 2 "${run[@]}" --stride 1 --device model:h20
has "$said" "model:h200"
UBENCH_FAKE=gpus=2 expect 0 "${run[@]}" --stride 1 --device all -o two.json -q
[ -s two-0.json ] && [ -s two-1.json ] || fail "one record a GPU: $(ls)"
UBENCH_FAKE=gpus=2 expect 0 "${run[@]}" --stride 1 --device GPU-22222222 -o second.json -q
is second.json 'r["device"]["pci"]' 0000:02:00.0

# ---- once, for another tool; with empty caches
expect 0 "${run[@]}" --stride 1..4 --profile
has "$out" "4 of 4 points launched once"
UBENCH_FAKE=launch:stride=2 expect 5 "${run[@]}" --stride 1..4 --profile
has "$said" "cudaErrorInvalidConfiguration"
UBENCH_FAKE=no-gpu expect 3 "${run[@]}" --stride 1 --device 0 --profile
UBENCH_FAKE=no-gpu expect 3 "${run[@]}" --stride 1 --profile
expect 0 "${run[@]}" --stride 1,2 --cold -o cold.json -q
is cold.json '{q["cache"] for q in sweep}' "{'cold'}"
is cold.json '{q["time_ns"]["batch"] for q in sweep}' "{1}"

# ---- outputs that cannot be written: said before anything is measured
expect 74 "${run[@]}" --stride 1 -o missing/x.json
has "$said" "missing"
expect 74 "${run[@]}" --stride 1 -o /dev/full/x.json
expect 74 bash -c "'$fake' run coalescing --size 1Mi --stride 1 -f json >/dev/full"
UBENCH_GNUPLOT=/nonexistent/gnuplot expect 0 "${run[@]}" --stride 1 -o nochart.json
has "$said" "gnuplot"
UBENCH_GNUPLOT=/nonexistent/gnuplot expect 69 "${run[@]}" --stride 1 -o nochart2.json --plot x.svg
UBENCH_GNUPLOT=/nonexistent/gnuplot expect 0 "$fake" run null grid --device model:h200 -o nocharts.json
[ "$(grep -c "no chart" <<<"$said")" = 1 ] || fail "not said once: $said"
[ -s nochart2.json ] || fail "the record is lost because the chart could not be drawn"

# ---- a chart with nothing to show: the run went well, but what was asked for is not there
if command -v gnuplot >/dev/null; then
    undrawn=("$fake" run null --device model:h200)
    expect 74 "${undrawn[@]}" --timer sm_clock -o empty.json --plot empty.svg
    has "$said" "record in empty.json"
    has "$said" "no chart in empty.svg: nothing to draw: no point of null has a value"
    is empty.json 'len(sweep)' 1
    [ -e empty.svg ] && fail "a chart of nothing"
    expect 74 "${undrawn[@]}" --timer sm_clock -o quiet.json --plot quiet.svg -q
    has "$said" "no chart in quiet.svg"
    expect 0 "${undrawn[@]}" --timer sm_clock -o unasked.json
    case "$said" in *"no chart"*) fail "news of a chart that nobody asked for: $said" ;; esac
    # The other rule has its chart.
    expect 74 "$fake" run null grid --timer sm_clock --device model:h200 -o two.json --plot two.svg
    has "$said" "no chart in two-null.svg"
    [ -s two-grid.svg ] || fail "one chart of nothing costs the others: $said"
    # What it holds fixed is said, but for axes that do not count there.
    expect 0 "$fake" run fusion --steps 1,2 --variant split,fused --device model:h200 -o steps.json --plot steps.svg
    grep -q "work elementwise, op fma<\|work elementwise, op fma ·" steps.svg || fail "$(grep "work elementwise" steps.svg)"
    grep -q "symbols: .*bars: law\|points: .*lines: law" steps.svg || fail "a law without a key"
fi

# ---- cut off and resumed
UBENCH_FAKE=hang:stride=5 "${run[@]}" --stride 1..8 --timeout 30 -o cut.json -q >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
    grep -q '"point"' cut.json.part.jsonl 2>/dev/null && break
    sleep 0.05
done
kill -INT $pid
wait $pid
[ $? = 130 ] || fail "exit code after SIGINT"
is cut.json 'r["run"]["complete"]' False
expect 2 "${run[@]}" --stride 1..8 -o cut.json -q
has "$said" "resume"
expect 2 "${run[@]}" --stride 1..9 -o cut.json --resume -q
has "$said" "axes, rules or options are not as in that run"
expect 2 "${run[@]}" --stride 1..8 --seed 5 -o cut.json --resume -q
has "$said" "seed"
expect 0 "${run[@]}" --stride 1..8 -o cut.json --resume -q
is cut.json '[q["status"] for q in sweep]' "$(printf "['ok'%s]" "$(printf ", 'ok'%.0s" 1 2 3 4 5 6 7)")"
is cut.json 'r["run"]["complete"]' True
UBENCH_FAKE=hang:stride=5 "${run[@]}" --stride 1..8 --timeout 30 -o killed.json -q >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
    grep -q '"point"' killed.json.part.jsonl 2>/dev/null && break
    sleep 0.05
done
kill -KILL $pid
wait $pid 2>/dev/null
[ -e killed.json ] && fail "a killed run left a record"
printf '{"type": "sam' >>killed.json.part.jsonl # the line that a crash cut
expect 0 "${run[@]}" --stride 1..8 -o killed.json --resume -q
is killed.json 'len([q for q in sweep if q["status"] == "ok" and len(q["time_ns"]["samples"]) == 30])' 8
expect 2 "${run[@]}" --stride 1..8 -o killed.json --resume -q
has "$said" "nothing to resume"
# ---- a run to its end, but with points that have no result
UBENCH_FAKE=hang:stride=3 expect 5 "${run[@]}" --stride 1..4 --timeout 1 -o lost.json -q
has "$said" "1 point failed or timed out: the same command with --resume -o lost.json measures it again"
is lost.json 'r["run"]["complete"]' True
expect 2 "${run[@]}" --stride 1..4 -o lost.json -q
has "$said" "lacks points"
UBENCH_FAKE=crash:stride=3 expect 5 "${run[@]}" --stride 1..4 -o lost.json --resume -q
is lost.json '[q["status"] for q in sweep]' "['ok', 'ok', 'failed', 'ok']"
UBENCH_FAKE=hang:stride=1 expect 0 "${run[@]}" --stride 1..4 -o lost.json --resume -q # only 3 is done again
is lost.json '[(q["status"], len(q["time_ns"]["samples"])) for q in sweep]' \
    "[('ok', 30), ('ok', 30), ('ok', 30), ('ok', 30)]"
is lost.json '{q["law"]["counters"] for q in sweep}' "{'holds'}"
[ -e lost.json.part.jsonl ] && fail "the journal is left although no point lacks a result"
expect 2 "${run[@]}" --stride 1..4 -o lost.json --resume -q
has "$said" "nothing to resume"
# a wrong answer is not measured away, nor is what was skipped
UBENCH_FAKE=wrong:stride=2 expect 6 "${run[@]}" --stride 1..3 -o lies.json -q
[ -e lies.json.part.jsonl ] && fail "the journal is left for a wrong answer"
UBENCH_FAKE=wrong:stride=2,hang:stride=3 expect 6 "${run[@]}" --stride 1..3 --timeout 1 -o both.json -q
expect 6 "${run[@]}" --stride 1..3 -o both.json --resume -q
is both.json '[q["status"] for q in sweep]' "['ok', 'failed', 'ok']"
expect 5 env UBENCH_FAKE=hang:stride=2 "${run[@]}" --stride 1..2 --time-limit 1 --timeout 30 -o limit.json -q
is limit.json 'r["run"]["complete"]' False

printf 'my notes\n' >notes.json.part.jsonl
expect 65 "${run[@]}" --stride 1 -o notes.json --resume
has "$said" "not of a journal"
has "$(cat notes.json.part.jsonl)" "my notes"
expect 2 "${run[@]}" --stride 1 --resume
has "$said" "-o FILE"
UBENCH_FAKE=no-gpu expect 2 "${run[@]}" --stride 1 -o p.json --resume
has "$said" "nothing is measured"

# ---- what cannot run any more loses what an earlier run began of it
"${run[@]}" --stride 1..20 --rounds 5000 -o began.json -q >/dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do
    grep -q '"sample"' began.json.part.jsonl 2>/dev/null && break
    sleep 0.02
done
kill -INT $pid
wait $pid
UBENCH_FAKE=oom expect 0 "${run[@]}" --stride 1..20 --rounds 5000 -o began.json --resume -q
expect 0 "$fake" check began.json
has "$(field began.json '{q["status"] for q in sweep}')" "skipped"

# ---- a journal that stays is as silent as its record
UBENCH_FAKE=crash:stride=2 expect 5 "${run[@]}" --stride 1..3 -o red.json --redact -q
grep -q 'GPU-\|0000:' red.json.part.jsonl red.json && fail "--redact: $(grep -o 'GPU-[^"]*' red.json*)"
expect 0 "${run[@]}" --stride 1..3 -o red.json --redact --resume -q

# ---- what is refused before anything is measured
expect 2 "${run[@]}" --stride 1 -o early.json --plot early.foo
expect 74 "${run[@]}" --stride 1 -o early.json --plot missing/early.svg
touch mine.svg
expect 74 "${run[@]}" --stride 1 -o early.json --plot mine.svg
[ -e early.json ] && fail "measured although the chart was refused"
expect 2 "${run[@]}" --stride 1 -o same.svg
has "$said" "chart at once"
expect 2 "${run[@]}" --stride 1 -f json --plot -
expect 74 "${run[@]}" --stride 1 -o "$(printf 'x%.0s' $(seq 5000)).json"
UBENCH_FAKE=no-gpu expect 4 "${run[@]}" --stride 1 --counters require -f csv
UBENCH_FAKE=launch:stride=2 expect 5 "${run[@]}" --stride 1..2 -f csv
has "$said" "stride=2"
expect 74 bash -c "'$fake' run coalescing --size 1Mi --stride 1 -o kept.json >/dev/full"
[ -s kept.json ] || fail "the record is lost because stdout was full"
expect 5 "$fake" run coalescing --pattern random --bytes all --op all --block 32..1024:31 -f csv --device model:h200 \
    --time-limit 1
bash -c "ulimit -n 8; '$fake' run coalescing --size 1Mi --stride 1 -f json" >out 2>said && fail "no files, yet exit code 0: $(cat said)"

# ---- two runs at once: the second waits and says so
UBENCH_FAKE=hang:stride=1 "${run[@]}" --stride 1 --timeout 2 -o first.json -q >/dev/null 2>&1 &
pid=$!
sleep 0.5
expect 74 "${run[@]}" --stride 1 -o first.json --force -q
has "$said" "still goes on"
expect 0 "${run[@]}" --stride 1 -o waited.json -q
has "$said" "waiting"
wait $pid

# ---- hostile names
UBENCH_FAKE='name=`touch pwned` $(touch pwned) "_^{}' expect 0 "${run[@]}" --stride 1..4 -o hostile.json --plot hostile.svg
[ -e pwned ] && fail "a device name was executed"
[ -s hostile.svg ] || [ -n "$(command -v gnuplot)" ] && [ ! -s hostile.svg ] && fail "no chart for a hostile name: $said"
expect 0 "$fake" doctor
expect 0 "$fake" devices
has "$out" "Fake GPU"
expect 2 "$fake" __worker 3>&-

finish
