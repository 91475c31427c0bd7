#!/usr/bin/env bash
# On a GPU: what the law says an SM holds is what the driver says, what the counters saw
# is within 3 % of it, launches that must be refused are, with the error that the law
# names, and the FP32 peak is reached with few warps if each has enough to do.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run occupancy --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
"$ubench" run occupancy --work latency --registers all --block 32..1024:32 --tickets 2 --counters off --rounds 1 \
    -f json -o "$out/launches.json" -q
/usr/bin/python3 - "$out/record.json" "$out/launches.json" <<'END'
import json, sys
points = [p for f in sys.argv[1:] for p in json.load(open(f, encoding="utf-8"))["ubench"]["points"]]
compared = achieved = 0
for p in points:
    if p["status"] != "ok":
        assert p["reason"].startswith("refused: cudaError"), (p["axes"], p["reason"])
        continue
    assert p["static"]["local_bytes"] == 0, p["axes"]
    measured, predicted = p["metrics"], p["predicted_metrics"]
    assert measured["resident_blocks"]["value"] == predicted["resident_blocks"]["value"], (p["axes"], measured)
    compared += 1
    value = measured.get("achieved_occupancy", {}).get("value")
    if value is not None:
        theory = predicted["theoretical_occupancy"]["value"]
        assert abs(value / theory - 1) <= 0.03, (p["axes"], value, theory)
        achieved += 1
shares = {(p["axes"]["resident"], p["axes"]["ilp"]): p["metrics"]["peak_share"]["value"]
          for p in points if p["sweep"] == "compute" and p["status"] == "ok"}
if json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]["device"]["slug"] == "h200":
    assert shares[(16, "8")] >= 0.97, shares
    assert shares[(2, "8")] >= 0.96, shares # 8 warps an SM
    assert 0.23 <= shares[(1, "1")] <= 0.25, shares # 4 warps
print(f"{compared} launches hold what the law says; {achieved} counted within 3 %")
END
