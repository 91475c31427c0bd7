#!/usr/bin/env bash
# On a GPU with ncu: the same launches give the same integers in both tools.
# usage: ncu_test.sh [PATTERN]: only the runs that it fits
set -eu
. "$(dirname "$0")/lib.sh"
command -v ncu >/dev/null || skip "ncu is not installed"
here=$(dirname "$0")
only=${1:-.}

# compare KERNEL RULE --AXIS RANGE...: KERNEL is a part of the kernels' names
compare() {
    local kernel=$1 raw
    shift
    [[ "$*" =~ $only ]] || return 0
    "$ubench" run "$@" --rounds 6 -f json -o "$out/record.json" -q --force
    raw=$(python3 -c 'import json,sys
points = json.load(open(sys.argv[1]))["ubench"]["points"]
print(",".join(sorted({c["raw"] for p in points for c in p["counters"].values() if c["raw"] and c["class"] != "estimate"})))' "$out/record.json")
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
compare "add|nothing" block_size --work add,empty --block 32,33,100,256,1000 --n 1000004
compare "multiply_add|load" grid --work all --blocks 1,132,133,265 --length 2
compare "memory|arithmetic" latency_hiding --work memory,arithmetic --ilp 1,8 --warps 1,8,40
compare walk carveout --carveout 0,50,100 --footprint 16Ki,128Ki,320Ki
compare spill spill --cap 32,64,96,128 --use changed,read
compare "naive|tiled|registers|product" gemm --variant naive_col,naive_row,tiled,register,async,tensor --n 517 --m 333 --k 1001
compare "naive|tiled|registers|product" gemm --variant naive_col,naive_row,tiled,register,async,tensor --n 1024
compare roofline roofline --fmas 0,1,17,64 --type fp32,fp64,half2 --size 512Mi
compare stage streams --streams 1 --segments 1 --size 24Mi --work 0,64,130,2048
compare "synchronous|cp_async|bulk" async_copy --way synchronous,cp_async,bulk,bulk_1d --stages 1,3 --fmas 0,32 --tile 4Ki,16Ki --tiles 100
# two kernels a point: the sum is set to 0, or block sums are added up
compare "reduce|clear|add_partials" reduce --variant shared_interleaved,shared_strided,shared,shuffle,redux,atomic_shared --n 10007 --block 64,1024
compare "reduce|clear|add_partials" reduce --variant atomic_thread,atomic_warp,two_kernels,reuse --n 100003 --bytes 4,16 --loads 1,5
compare "reduce|clear" reduce --variant shared,atomic_thread,atomic_warp --n 100003 --type float
compare reduce reduce --variant last_block --n 10007,1Mi --bytes 4,16
compare "synchronise" sync --op block,named,warp,shuffle,vote,cluster,cluster_relaxed --block 32,256,1024
compare "synchronise" sync --op block --block 64 --resident 1,2,8
# of the variants that are one kernel: a point is one launch there
compare "^elementwise" fusion --steps 1,7,16 --op fma,exp --n 4,1004,1000004
compare "^three_passes|^online|^kept_row" fusion --work softmax --variant passes,online,fused --length 132,5000,16380 --rows 37
compare "^attention" fusion --work attention --seq 64,192,1024 --heads 3
compare add_all atomics --space all --result all --addresses 1,7,32,4096 --length 4
compare add_all atomics --space all --way compiler,private,one --addresses 1 --lanes auto,1 --length 4
