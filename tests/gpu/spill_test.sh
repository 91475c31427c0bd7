#!/usr/bin/env bash
# On a GPU: what is spilled is what the law says, also as a slope over the trips of the loop;
# a kernel has a frame where it spills and nowhere else; all that is stored goes to L2; and
# eight values without a register double the time.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run spill --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
points = [p for p in json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]["points"] if p["status"] == "ok"]
time = {(p["axes"]["cap"], p["axes"]["use"]): p["time_ns"]["median"] for p in points if p["sweep"] == "cap"}
assert time["96", "changed"] >= 2 * time["104", "changed"], time
assert time["64", "changed"] >= 2 * time["64", "read"], time
if points[0]["counters"]["local_loads"]["measured"] is None:
    print("SKIP: the times hold; the rest needs counters")
    sys.exit(77)

def value(point, key, kind="measured"):
    return point["counters"][key][kind]

for p in points:
    assert (p["static"]["local_bytes"] > 0) == (value(p, "local_loads") > 0), p["axes"]
    written = value(p, "l2_write_sectors") / (value(p, "local_store_sectors") + 4 * value(p, "warps_launched"))
    assert abs(written - 1) <= 0.02, (p["axes"], written)
slopes = 0
for use in "changed", "read":
    for cap in "32", "64", "96":
        one, many = sorted((p for p in points if p["sweep"] == "trips" and (p["axes"]["cap"], p["axes"]["use"]) == (cap, use)),
                           key=lambda p: p["axes"]["trips"])
        more = (many["axes"]["trips"] - one["axes"]["trips"]) * value(one, "warps_launched")
        for key in "local_loads", "local_stores":
            slope = [(value(many, key, kind) - value(one, key, kind)) / more for kind in ("measured", "predicted")]
            print(f"cap {cap}, {use}: {slope[0]:g} {key} a trip, in the machine code {slope[1]:g}")
            assert slope[0] == slope[1] == int(slope[0]) > 0
            slopes += 1
print(f"{len(points)} points, {slopes} slopes")
END
