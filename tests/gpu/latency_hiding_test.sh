#!/usr/bin/env bash
# On a GPU: every time is within its tolerance of Little's law, the knee is where the law
# says (within 15 %), and the states of warps that the counters tell are no more than the
# warps that there are.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run latency_hiding --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
constants = {c["name"]: c["value"] for c in record["constants"]}
points = [p for p in record["points"] if p["sweep"] != "ceiling" and p["status"] == "ok"]
slug = record["device"]["slug"]

# The warps at which a curve passes 90 % of the ceiling, between two points of the sweep.
curves = {}
for p in points:
    axes = p["axes"]
    curves.setdefault((axes["work"], axes["bytes"], axes["ilp"]), {})[axes["warps"]] = p
for shape, curve in sorted(curves.items()):
    share = {warps: p["metrics"]["ceiling_share"]["value"] for warps, p in curve.items()}
    steps = sorted(share)
    knees = [a + (b - a) * (0.9 - share[a]) / (share[b] - share[a])
             for a, b in zip(steps, steps[1:]) if share[a] < 0.9 <= share[b]]
    predicted = curve[steps[0]]["predicted_metrics"]["knee_warps"]["value"]
    worst = max((p["law"]["time"]["residual"] for p in curve.values()), key=abs)
    found = f"measured {knees[0]:.2f} ({predicted / knees[0] - 1:+.1%})" if knees else "not reached"
    print(" ".join(shape), f"knee at {predicted:.2f} warps, {found}; worst time {worst:+.1%}")
    if slug == "h200" and knees:
        assert abs(predicted / knees[0] - 1) <= 0.15, shape
late = [p["axes"] for p in points if p["law"]["time"]["verdict"] == "deviates"]
assert not late, late
told = [p["metrics"]["states_told"]["value"] for p in points if p["metrics"]["states_told"]["value"] is not None]
assert all(0 < t < 1.01 for t in told), told
if slug == "h200":
    clock = constants["clock_mhz"]
    assert 4.0 <= constants["fma_wait_ns"] * clock * 1e-3 <= 4.15, constants["fma_wait_ns"]
    assert constants["steady_load_ceiling"] >= 4.45e12 and constants["steady_flops_ceiling"] >= 0.96 * 66.9e12, \
        constants
    busy = [p["metrics"] for p in points if p["axes"]["work"] == "arithmetic" and p["axes"]["warps"] == 64]
    assert all(m["issue_slots_used"]["value"] is None or m["issue_slots_used"]["value"] > 0.97 for m in busy), busy
print(f"{len(points)} points, {len(told)} with counters")
END
