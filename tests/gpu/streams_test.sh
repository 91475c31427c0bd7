#!/usr/bin/env bash
# On a GPU: pipelines on up to eight streams take what the list schedule says, within 10 %; the
# one that is bound by its kernel comes to 90 % of the bound; the legacy default stream stops
# blocking streams and no others; pinned memory is faster than pageable, on the host that is
# named; and the timeline of a launch overlaps as its time says.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run streams --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
points = [p for p in record["points"] if p["status"] == "ok"]
if any(w["code"] == "not-pinned" for w in record["warnings"]):
    print("SKIP: the host cannot pin memory")
    sys.exit(77)

def value(point, key):
    return point["metrics"][key]["value"]

def find(sweep, **axes):
    return [p for p in points if p["sweep"] == sweep and all(p["axes"][k] == v for k, v in axes.items())]

tested = find("streams") + find("order")
worst = max(tested, key=lambda p: abs(p["law"]["time"]["residual"]))
print(f"{len(tested)} pipelines, worst {100 * worst['law']['time']['residual']:+.1f} % (streams={worst['axes']['streams']} "
      f"work={worst['axes']['work']})")
assert all(abs(p["law"]["time"]["residual"]) <= 0.10 for p in tested)
assert {p["axes"]["streams"] for p in tested} >= {1, 2, 4, 8}
best = {work: max(value(p, "bound_share") for p in find("streams", work=work)) for work in (64, 2048, 6144)}
shared = {work: max(value(p, "shared_bound_share") for p in find("streams", work=work) + find("segments", work=work))
          for work in (64, 2048)}
print("best share of the longest stage:", best, "; of that with both copies on one link:", shared)
assert best[6144] >= 0.90
times = {(p["axes"]["queue"], p["axes"]["between"]): p["time_ns"]["median"] for p in find("default_stream")}
print("default stream, ms:", {" ".join(k): round(v / 1e6, 3) for k, v in times.items()})
free = times["nonblocking", "nothing"]
assert abs(times["nonblocking", "kernel"] / free - 1) < 0.1 and abs(times["blocking", "nothing"] / free - 1) < 0.1
assert times["blocking", "kernel"] > 1.5 * free and times["legacy", "nothing"] > 1.5 * free
constants = {c["name"]: c["value"] for c in record["constants"]}
for way in ("in", "out"):
    pinned, pageable = constants[f"copy_{way}_bandwidth"], constants[f"pageable_{way}_bandwidth"]
    print(f"copy {way}: pinned {pinned / 1e9:.1f} GB/s, pageable {pageable / 1e9:.1f} GB/s: {pinned / pageable:.1f} times "
          f"({record['run'].get('host_cpu')})")
    assert pinned > 1.2 * pageable
timelines = [p for p in find("streams", streams=4, work=2048) if p.get("timeline")]
assert timelines, "no timeline"
spans = timelines[0]["timeline"]
work, end = sum(s["end_ns"] - s["begin_ns"] for s in spans), max(s["end_ns"] for s in spans)
print(f"timeline of 4 streams: {work / end:.2f} operations at the same time, ends at {end / 1e6:.3f} ms, "
      f"median {timelines[0]['time_ns']['median'] / 1e6:.3f} ms")
assert work / end > 1.5 and len(spans) == 48
END
