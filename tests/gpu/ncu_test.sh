#!/usr/bin/env bash
# On a GPU with ncu: the same launches give the same integers in both tools.
set -eu
. "$(dirname "$0")/lib.sh"
command -v ncu >/dev/null || skip "ncu is not installed"
here=$(dirname "$0")

# compare KERNEL RULE --AXIS RANGE...: KERNEL is a part of the kernels' names
compare() {
    local kernel=$1 raw
    shift
    "$ubench" run "$@" --rounds 6 -f json -o "$out/record.json" -q --force
    raw=$(python3 -c 'import json,sys
points = json.load(open(sys.argv[1]))["ubench"]["points"]
print(",".join(sorted({c["raw"] for p in points for c in p["counters"].values() if c["raw"] and c["class"] == "structural"})))' "$out/record.json")
    ncu --clock-control none --csv --page raw --metrics "$raw" -k "regex:$kernel" --target-processes all \
        --log-file "$out/ncu.csv" "$ubench" run "$@" --profile >"$out/ncu.log" 2>&1 || { tail -n 20 "$out/ncu.log"; exit 1; }
    python3 "$here/compare_ncu.py" "$out/record.json" "$out/ncu.csv" >"$out/compared" || { cat "$out/compared"; exit 1; }
    echo "$*: $(tail -n 1 "$out/compared")"
}
compare coalesce coalescing --stride 1,2,3,7,8,16,32,33,48,127 --op load,store
compare conflict bank_conflict --stride 1,2,8,32,33 --bytes 4,16
compare "branches|switches|loops" divergence --variant thread,warp,switch --ways 2,7,32
compare "move_tiles|copy_matrix" transpose --n 1000 --m 1500 --variant all --bytes 4,8
compare "chase|arithmetic|shuffle|atomic" latency --footprint 128,4Ki,192Ki,1Mi,8Mi,1Gi --level l1,l2
compare "chase|arithmetic|shuffle|atomic" latency --op fma,mad,shuffle,atomic,shared_atomic
compare "chase|arithmetic|shuffle|atomic" latency --level shared --bytes 4,8,16 --ways 1,2,3,8
compare "compute|latency" occupancy --work latency,compute --ilp 1,8 --resident 1,8,16 --block 128
