#!/usr/bin/env bash
# On a GPU: bytes are the law's, whatever the size and its edges; K kernels take K times as long
# as one where DRAM decides, and fused steps take as long as one step; in L2 fusion pays too; a
# row that is read again costs what the caches do not have of it; attention without scores in
# memory moves next to nothing.
set -eu
. "$(dirname "$0")/lib.sh"
run() {
    local name=$1
    shift
    "$ubench" run fusion "$@" --rounds 10 -f json -o "$out/$name.json" -q
    "$ubench" check "$out/$name.json"
}
run default
run rows --work softmax --variant all --length 4,12,132,516,1020,2052,5000,6144,16380 --rows 1,37
run chains --variant split,fused --op fma,exp --steps 1,2,7,9 --n 4,100,1004,131072,1000004
run tiles --work attention --variant split,fused --seq 64,192,1088 --heads 1,3
python3 - "$out" <<'END'
import json, sys
def points(name):
    return json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))["ubench"]["points"]

for name in ("default", "rows", "chains", "tiles"):
    structural = 0
    for p in points(name):
        if p["status"] == "skipped":
            continue
        assert p["status"] == "ok", (p["axes"], p["reason"])
        for key, c in p["counters"].items():
            if c["class"] == "structural" and c["measured"] is not None and c["predicted"] is not None:
                structural += 1
                assert c["measured"] == c["predicted"], (p["axes"], key, c)
    print(f"{name}: {structural} structural counters are the law's")

def point(sweep, **axes):
    found = [p for p in points("default") if p["sweep"] == sweep and all(p["axes"][k] == v for k, v in axes.items())]
    assert len(found) == 1, (sweep, axes, len(found))
    return found[0]

def time(sweep, **axes):
    return point(sweep, **axes)["time_ns"]["median"]

def dram(sweep, **axes):
    return point(sweep, **axes)["metrics"]["dram_bytes_per_element"]["value"]

one = time("steps", steps=1, variant="split")
for k in (2, 4, 8, 16):
    split, fused = time("steps", steps=k, variant="split") / one, time("steps", steps=k, variant="fused") / one
    print(f"{k} steps: {split:.3f} times one as kernels, {fused:.3f} as one")
    assert abs(split / k - 1) <= 0.03 and abs(fused - 1) <= 0.03
for p in points("default"):
    if p["sweep"] == "n" and p["axes"]["variant"] == "split":
        n = p["axes"]["n"]
        gain = p["time_ns"]["median"] / time("n", n=n, variant="fused")
        print(f"n={n}: fused is {gain:.2f} times as fast")
        assert 6 <= gain <= 12
for variant, reads in (("split", 3), ("passes", 3), ("online", 2)):
    long = time("length", length=131072, variant=variant) / time("length", length=4096, variant="fused")
    print(f"{variant}: rows of 131072 take {long:.2f} times as long as one pass, bytes {(reads + 1) / 2}")
    assert abs(long / ((reads + 1) / 2) - 1) <= 0.08
    assert abs(dram("length", length=131072, variant=variant) / (4 * reads + 4) - 1) <= 0.03
for seq in (512, 1024, 2048, 4096, 8192):
    saved = dram("seq", seq=seq, variant="split") / dram("seq", seq=seq, variant="fused")
    gain = time("seq", seq=seq, variant="split") / time("seq", seq=seq, variant="fused")
    print(f"attention, {seq}: DRAM bytes {saved:.1f} times fewer, {gain:.2f} times as fast")
    assert saved > 8 and 0.9 < gain < 1.6
END
