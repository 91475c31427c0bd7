#!/usr/bin/env bash
# On a GPU with cuBLAS: each version of `gemm` does what the one before could not, the best are
# near the library, and exact counters hold whether tiles divide the sides or not.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run gemm --n 2048 --rounds 10 -f json -o "$out/square.json" -q
"$ubench" run gemm --variant register,async,tensor,library,library_tensor --n 4096 --rounds 10 --counters off -f json -o "$out/large.json" -q
"$ubench" run gemm --variant naive_col,naive_row,tiled,register,async,tensor --n 1031 --m 1021 --k 1033 --rounds 6 -f json -o "$out/ragged.json" -q
"$ubench" run gemm --n 1 --rounds 3 --counters off -f json -o "$out/one.json" -q
"$ubench" check "$out/square.json" "$out/large.json" "$out/ragged.json" "$out/one.json"
python3 - "$out" <<'END'
import json, sys
def flops(name):
    points = json.load(open(f"{sys.argv[1]}/{name}.json", encoding="utf-8"))["ubench"]["points"]
    for p in points:
        print(name, p["axes"]["variant"], p["axes"]["n"], p["status"], p["reason"] or f"{p['metrics']['flops']['value'] / 1e12:.3f} TFLOP/s")
    return {p["axes"]["variant"]: p["metrics"]["flops"]["value"] for p in points if p["status"] == "ok"}

square, large, one, ragged = flops("square"), flops("large"), flops("one"), flops("ragged")
best = max(v for k, v in square.items() if k in ("register", "async", "library"))
assert best >= 50 * square["naive_col"], "the order of lanes and the ladder"
assert best >= 5 * square["naive_row"], "the ladder"
assert square["tiled"] > square["naive_row"] and square["register"] > 3 * square["tiled"]
if "library" in large:
    assert large["async"] >= 0.90 * large["library"], "fp32 against the library"
    assert large["tensor"] >= 0.50 * large["library_tensor"], "fp16 against the library"
device = json.load(open(f"{sys.argv[1]}/square.json", encoding="utf-8"))["ubench"]["device"]
if device["slug"] == "h200":
    assert large["register"] >= 0.60 * 66.9e12, "60 % of the peak"
END
