#!/usr/bin/env bash
# On a GPU: without a copy that goes on by itself nothing of the load is hidden, with stages
# enough all of it is; the time of a tile falls to that of the work; and eight resident blocks
# hide what stages do.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run async_copy --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]

def value(metric, sweep, **axes):
    found = [p["metrics"][metric]["value"] for p in record["points"] if p["status"] == "ok" and p["sweep"] == sweep
             and all(p["axes"][k] == v for k, v in axes.items())]
    return found[0] if found else None

for stages in range(1, 5):
    print(stages, *(f"{way} {value('load_hidden', 'stages', way=way, stages=stages)}" for way in
                    ("synchronous", "cp_async", "bulk", "bulk_1d")))
    assert abs(value("load_hidden", "stages", way="synchronous", stages=stages)) < 0.08, "synchronous copies hide nothing"
for way in ("cp_async", "bulk", "bulk_1d"):
    if value("tile_ns", "stages", way=way, stages=1) is None:
        print(f"{way}: not on this GPU")
        continue
    assert abs(value("load_hidden", "stages", way=way, stages=1)) < 0.08, "one stage hides nothing"
    assert value("load_hidden", "stages", way=way, stages=2) > 0.5, "two stages hide more than half"
    assert value("load_hidden", "stages", way=way, stages=4) > 0.93, "four stages hide the load"
gain = {r: value("tile_ns", "resident", way="synchronous", stages=1, resident=r) /
           value("tile_ns", "resident", way="cp_async", stages=2, resident=r) for r in (1, 2, 4, 8)}
print("gain of cp.async with two stages by resident blocks:", {r: round(g, 3) for r, g in gain.items()})
assert gain[1] > 1.6 and gain[8] < 1.15
END
