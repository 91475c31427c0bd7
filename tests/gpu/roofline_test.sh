#!/usr/bin/env bash
# On a GPU: both roofs are reached, as measured by the rules that are about one of them
# alone, and the ridge lies where the law puts it.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run coalescing --op load --bytes 16 --rounds 10 --counters off -f json -o "$out/load.json" -q
"$ubench" run occupancy --work compute --ilp 8 --block 128 --resident 4 --rounds 10 --counters off -f json -o "$out/fma.json" -q
"$ubench" run roofline --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out" <<'END'
import json, sys
def points(name):
    return json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))["ubench"]

def best(name, metric, sweep=None, **axes):
    return max(p["metrics"][metric]["value"] for p in points(name)["points"]
               if p["status"] == "ok" and metric in p["metrics"] and (sweep is None or p["sweep"] == sweep)
               and all(p["axes"][k] == v for k, v in axes.items()))

dram, fma = best("load", "useful_bandwidth", "command"), best("fma", "flops", "command")
flops = {t: best("record", "flops", type=t, fmas=1024) for t in ("fp32", "fp64", "half2")}
bandwidth = {t: best("record", "useful_bandwidth", type=t, fmas=1) for t in flops}
for t, (of_fp32, size, operations) in {"fp32": (1, 4, 2), "fp64": (1 / 2, 8, 2), "half2": (2, 4, 4)}.items():
    roofs = bandwidth[t] / dram, flops[t] / (fma * of_fp32) if t == "fp32" else None
    ridge = flops[t] / bandwidth[t] * size / operations
    law = best("record", "ridge_fmas", type=t)
    print(f"{t}: {bandwidth[t] / 1e12:.3f} TB/s = {100 * roofs[0]:.1f} %, {flops[t] / 1e12:.2f} TFLOP/s; "
          f"ridge at {ridge:.1f} multiply-adds, law {law:.1f}")
    assert roofs[0] >= 0.97, "DRAM's roof"
    assert roofs[1] is None or roofs[1] >= 0.97, "the roof of arithmetic"
    assert abs(ridge / law - 1) <= 0.05, "the ridge"
if points("record")["device"]["slug"] == "h200":
    assert flops["fp32"] > 59.9e12, "below mixbench"
    assert flops["fp64"] >= 0.96 * 33.45e12 and flops["half2"] >= 0.95 * 133.8e12
END
