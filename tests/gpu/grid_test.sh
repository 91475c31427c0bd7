#!/usr/bin/env bash
# On a GPU: every launch takes just so many waves as the law says, one block before a step
# and one behind it too; and, where nvcc is there, blocks are dealt to SMs evenly.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run grid --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END_OF_PYTHON'
import json, sys
run = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
sms = run["device"]["sms"]
worst, compared = 0, 0
for p in run["points"]:
    axes = p["axes"]
    if p["status"] != "ok" or axes["work"] == "dram":
        continue
    blocks = p["static"]["grid"][0]
    held = p["static"]["resident_blocks"] if axes["work"] == "latency" else 1
    waves = -(-blocks // (sms * held))
    measured = p["metrics"]["waves"]["value"]
    assert round(measured) == waves, (axes, measured, waves)
    worst = max(worst, abs(measured - waves))
    compared += 1
assert compared >= 100, compared
print(f"{compared} launches take the waves that the law says; the farthest is {worst:.3f} of a wave off")
# A block too many costs short loads nothing, where each SM has many of them.
times = {(p["axes"]["per_sm"], p["axes"]["side"]): p["time_ns"]["median"] for p in run["points"] if p["sweep"] == "short_loads"}
for per_sm in 8, 16, 32, 64:
    assert times[(per_sm, "above")] / times[(per_sm, "at")] - 1 < 0.01, (per_sm, times)
END_OF_PYTHON
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || exit 0
nvcc -std=c++17 -arch=native -o "$out/placement" "$(dirname "$0")/placement.cu"
"$out/placement"
