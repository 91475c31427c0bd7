#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# On a GPU: sums reach DRAM's ceiling of loads, whatever a block does, once a thread has
# enough to load; the kernel without its barrier gives a wrong sum, and racecheck finds hazards
# in it and in no other.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run coalescing --op load --bytes 16 --rounds 10 --counters off -f json -o "$out/load.json" -q
"$ubench" run reduce --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out" <<'END'
import json, sys
def record(name):
    return json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))["ubench"]

ceiling = max(p["metrics"]["useful_bandwidth"]["value"] for p in record("load")["points"] if p["sweep"] == "command")
points = record("record")["points"]
wide = {p["axes"]["variant"]: p for p in points if p["sweep"] == "wide"}
share = {v: p["metrics"]["useful_bandwidth"]["value"] / ceiling for v, p in wide.items() if p["status"] == "ok"}
for variant, value in share.items():
    print(f"wide {variant}: {100 * value:.1f} % of {ceiling / 1e12:.3f} TB/s")
block = ("shared_interleaved", "shared_strided", "shared", "shuffle", "redux", "atomic_shared")
assert all(share[v] >= 0.97 for v in block), "a block phase shows although DRAM should decide"
assert max(share.values()) * ceiling > 4.41e12 or record("record")["device"]["slug"] != "h200", "below BabelStream's dot"
race = wide["missing_barrier"]
assert race["status"] == "skipped" and "found wrong" in race["reason"], race
print(race["reason"])
ladder = {p["axes"]["variant"]: p["time_ns"]["median"] for p in points if p["sweep"] == "ladder"}
for variant, time in ladder.items():
    print(f"ladder {variant}: {time / wide['shuffle']['time_ns']['median']:.2f} times the best")
END
command -v compute-sanitizer >/dev/null || skip "compute-sanitizer is not installed"
races() {
    compute-sanitizer --tool racecheck --target-processes all --error-exitcode 9 "$ubench" run reduce --variant "$1" \
        --loads 4 --n 10007 --profile >"$out/log" 2>&1 || true
    sed -n 's/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$out/log" | sort -n | tail -n 1
}
for variant in shared_interleaved shared_strided shared shuffle redux atomic_shared two_kernels last_block reuse; do
    [ "$(races $variant)" = 0 ] || { echo "racecheck: hazards in $variant"; tail -n 20 "$out/log"; exit 1; }
done
[ "$(races missing_barrier)" -gt 0 ] || { echo "racecheck: no hazard where a barrier is missing"; tail -n 20 "$out/log"; exit 1; }
echo "racecheck finds the missing barrier: $(races missing_barrier) hazards; none elsewhere"
