#!/usr/bin/env bash
# On a GPU: two cycles for each warp at a block's barrier, one unit for all blocks of an SM; a
# node of a graph for less than a launch; missing barriers are found, grids that are not
# resident refused.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run sync --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'PYTHON'
import json
import sys

points = json.load(open(sys.argv[1]))["ubench"]["points"]
initial = {"block": "auto", "resident": 1, "groups": 1, "cluster": "auto", "blocks": "auto", "launches": 1, "barrier": "kept"}


def find(op, **axes):
    wanted = dict(initial, op=op, **axes)
    return next(p for p in points if p["axes"] == wanted)


def value(point, key):
    return point["metrics"][key]["value"]


def require(truth, text):
    if not truth:
        sys.exit(text)


one, most = (value(find("block", block=block), "cycles") for block in (32, 1024))
slope = (most - one) / 31
require(1.9 < slope < 2.1, f"{slope:.3f} cycles for each warp at a block's barrier, not 2")
shared = value(find("block", block=1024, resident=2), "cycles")
require(shared > 1.6 * most, f"two blocks meet every {shared:.1f} cycles, one every {most:.1f}: no shared unit")
launch, graph = (value(find(op, launches=256), "each_ns") for op in ("launch", "graph"))
require(graph < launch, f"a graph's node takes {graph:.0f} ns, a launch {launch:.0f}")
grid, block = value(find("grid", blocks=132), "each_ns"), value(find("block", block=256), "each_ns")
require(grid > 5 * block, f"a grid's barrier takes {grid:.0f} ns, a block's {block:.0f}")
missing = [p for p in points if p["axes"]["barrier"] == "left_out"]
require(len(missing) == 5 and all("found wrong" in p["reason"] for p in missing), "a missing barrier was not found")
refused = [p for p in points if p["axes"]["op"] == "grid" and p["status"] == "skipped" and "refused" in p["reason"]]
require(len(refused) == 1 and all("cudaErrorCooperativeLaunchTooLarge" in p["reason"] for p in refused), "not refused")
print(f"{slope:.3f} cycles a warp; a grid's barrier {grid:.0f} ns; a launch {launch:.0f} ns, a node {graph:.0f} ns")
PYTHON
