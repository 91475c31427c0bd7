#!/usr/bin/env bash
# On a GPU: the law holds at every point, what the hardware cuts instructions into is what the
# addresses say, and the factors that the text promises are there: adds spread over L2 against
# adds to one address, a warp added up first, a copy in shared memory.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run atomics --rounds 10 -f json -o "$out/record.json" -q
"$ubench" check "$out/record.json"
python3 - "$out/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
points = [p for p in record["points"] if p["status"] == "ok"]

def value(metric, **axes):
    wanted = {"space": "global", "way": "plain", "type": "int", "result": "unused", "lanes": "auto", "apart": "packed",
              "warps": 32, **axes}
    return next(p["metrics"][metric]["value"] for p in points if p["sweep"] != "ceiling"
                and all(p["axes"][k] == v for k, v in wanted.items()))

late = [p["axes"] for p in points if p["law"]["time"]["verdict"] == "deviates"]
assert not late, late
one, spread = value("adds_per_second", addresses=1), value("adds_per_second", addresses=1048576)
factors = {"spread": spread / one,
           "added up by the compiler": value("adds_per_second", addresses=1, way="compiler") / one,
           "private": value("adds_per_second", addresses=1, way="private") / one,
           "float against int": value("address_ns", addresses=1, type="float") / value("address_ns", addresses=1),
           "used against unused": value("adds_per_second", addresses=1048576, result="used") / spread}
print(", ".join(f"{name} {factor:.2f}" for name, factor in factors.items()))
assert 31 <= factors["added up by the compiler"] <= 33, factors
if record["device"]["slug"] == "h200":
    assert 550 <= factors["spread"] <= 800 and 150 <= factors["private"] <= 200, factors
    assert 2.3 <= factors["float against int"] <= 2.5 and 0.5 <= factors["used against unused"] <= 0.7, factors
    assert 0.70 <= value("address_ns", addresses=1) <= 0.78
    slower = value("adds_per_second", addresses=9) / value("adds_per_second", addresses=8)
    assert 0.4 <= slower <= 0.6, slower
    cycles = {a: value("instruction_cycles", addresses=a, space="shared") for a in (1, 2, 4, 8, 32, 1024)}
    assert all(abs(cycles[a] / max(2, 32 // a) - 1) < 0.1 for a in cycles), cycles
print(f"{len(points)} points")
END
