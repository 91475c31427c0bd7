#!/usr/bin/env bash
# On a GPU: what divergence costs, as ratios of times and slopes of counters.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run divergence --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
points = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]["points"]

def point(sweep, **axes):
    found = [p for p in points if p["sweep"] == sweep and all(p["axes"][k] == v for k, v in axes.items())]
    assert len(found) == 1, (sweep, axes, len(found))
    return found[0]

def time(sweep, **axes):
    return point(sweep, **axes)["time_ns"]["median"]

def near(what, value, wanted, tolerance):
    print(f"{what}: {value:.4f}, wanted {wanted} +- {100 * tolerance:g} %")
    assert abs(value / wanted - 1) <= tolerance, what

for ways, tolerance in (2, 0.02), (8, 0.03), (32, 0.03):
    ratio = time("ways", variant="thread", ways=ways) / time("ways", variant="warp", ways=ways)
    near(f"thread / warp at {ways} ways", ratio, ways, tolerance)
near("select by thread / by warp", time("variant", variant="select_thread") / time("variant", variant="select_warp"), 1, 0.02)
ratio = time("variant", variant="data") / time("variant", variant="sorted")
print(f"data / sorted at 2 ways: {ratio:.3f}, wanted 1.8 at least")
assert ratio >= 1.8

# The slope over body: 35 instructions of a warp for 32 FMAs of a path (sm_90), with all
# lanes of the path and none predicated off.
def slope(variant, key):
    short, long = (point("body", variant=variant, body=body)["counters"][key]["measured"] for body in (128, 1024))
    return (long - short) / (1024 - 128)

if point("ways", variant="warp", ways=1)["counters"]["warp_instructions"]["measured"] is None:
    print("SKIP: the times hold; the slopes need counters")
    sys.exit(77)
blocks = point("body", variant="warp", body=128)["static"]["grid"][0]
warps, threads = 4 * blocks, 128 * blocks
for variant, paths in ("warp", 1), ("thread", 2):
    near(f"{variant}: warp instructions a step", slope(variant, "warp_instructions") / warps, 35 / 32 * paths, 1e-9)
    for key in "thread_instructions", "thread_instructions_pred_on":
        near(f"{variant}: {key} a step", slope(variant, key) / threads, 35 / 32, 1e-9)
END
