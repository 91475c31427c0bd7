#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# On a GPU: L1 holds what the carve-out leaves, by counters and by time; on an H200 to the
# line. A preference of the launch does what one of the function does.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run carveout --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
points = [p for p in record["points"] if p["status"] == "ok"]
verdicts = [p["law"]["time"]["verdict"] for p in points]
print(f"times: {verdicts.count('holds')} hold, {verdicts.count('deviates')} deviate")
if record["device"]["slug"] != "h200":
    print("SKIP: what L1 lacks and how the driver chooses is known of an H200 only")
    sys.exit(77)
assert verdicts.count("deviates") <= len(verdicts) / 50, verdicts.count("deviates")
by_ask = {}
for p in points:
    if p["sweep"] in ("carveout", "shared", "ask"):
        held, law = p["metrics"]["held_bytes"]["value"], p["predicted_metrics"]["held_bytes"]["value"]
        assert abs(held - law) <= max(0.02 * law, 2048), (p["axes"], held, law)
    if p["sweep"] == "ask":
        by_ask.setdefault((p["axes"]["carveout"], p["axes"]["shared"]), []).append(p["time_ns"]["median"])
for axes, times in by_ask.items():
    assert len(times) == 2 and abs(times[0] / times[1] - 1) <= 0.02, (axes, times)
edge = {p["axes"]["footprint"]: p["counters"]["l1_load_hits"] for p in points if p["sweep"] == "edge"}
if any(counter["measured"] is None for counter in edge.values()):
    print("SKIP: the times hold; the edge needs counters")
    sys.exit(77)
for footprint, counter in edge.items():
    assert (counter["measured"] == 4 * 16448) == (footprint <= 21 << 10), (footprint, counter)
print(f"{len(edge)} footprints: hits end at 21 KiB, line by line")
END
