#!/usr/bin/env bash
# On a GPU with compute-sanitizer: no kernel touches memory that is not its own,
# none races, none reads what nobody wrote. Small sizes: the tools are slow.
# usage: sanitizer_test.sh [PATTERN]: only the sweeps that it fits
set -eu
. "$(dirname "$0")/lib.sh"
command -v compute-sanitizer >/dev/null || skip "compute-sanitizer is not installed"
# all but the one with a race
reductions=shared_interleaved,shared_strided,shared,shuffle,redux,atomic_shared,atomic_thread,atomic_warp,two_kernels,last_block,reuse
sweeps=(
    "null"
    "coalescing --stride 1,3,33 --offset 0,5 --bytes 1,2,4,8,16 --op load,store,copy --size 1Mi"
    "coalescing --pattern random,reverse,broadcast --bytes 4,16 --op load,store,copy --size 1Mi"
    "coalescing --pattern aos,soa --fields 3,4 --bytes 4 --op load,store,copy --size 1Mi"
    "coalescing --shape 32x8,16x16,8x32,1x256 --op load,store,copy --size 1Mi"
    "coalescing --block 33,48,1024 --op load,store,copy --size 1Mi"
    "bank_conflict --stride 0,1,2,33 --bytes 4,8,16 --op load,store"
    "bank_conflict --op ldmatrix --bytes 16"
    "divergence --variant all --ways 2,5 --blocks 2"
    "transpose --n 132 --m 68 --variant all --bytes 4,8"
    "occupancy --work latency,compute --ilp 1,8 --registers 32,255 --tickets 2"
    "block_size --block 1,33,256,1000 --bytes 4,16 --n 100004"
    "block_size --work empty --block 33"
    "grid --work all --blocks 1,7 --length 1,3 --size 1Mi"
    "latency_hiding --work memory --ilp 1,8 --bytes 4,8,16 --warps 1,33 --length 2"
    "latency_hiding --work arithmetic --ilp 1,8 --warps 5,34 --length 1"
    "carveout --carveout 0,100 --footprint 512,1152 --shared 0,1Ki --ask launch,function --order random,cyclic --load ca,cg"
    "spill --cap 32,96,128 --use changed,read --warps 2,34 --trips 3"
    "roofline --fmas 0,1,77,129 --type fp32,fp64,half2 --size 96Ki"
    "gemm --variant naive_col,naive_row,tiled,register,async,tensor --n 131 --m 70 --k 41"
    "gemm --variant register,async,tensor --n 264 --m 136 --k 72,1"
    "gemm --variant tiled --tile 8,16 --n 40 --m 33 --k 17"
    "gemm --variant register --per_thread 4 --n 68,67 --k 20"
    "async_copy --way synchronous,cp_async,bulk,bulk_1d --stages 1,4 --tile 4Ki,16Ki --fmas 16 --tiles 6"
    "async_copy --way registers --stages 2 --tile 4Ki,8Ki --fmas 0,32 --tiles 1,3"
    "fusion --variant split,fused --op all --steps 1,3,9 --n 4,1004"
    "fusion --work softmax --variant all --length 4,132,2052,16380 --rows 3"
    "fusion --work attention --variant split,fused --seq 64,192 --heads 2"
    "latency --level l1,l2 --footprint 128,4Ki,1000064 --sm 0,5"
    "latency --level shared,constant,local"
    "latency --level shared --bytes 4,8,16 --ways 1,3,32"
    "latency --op fma,add,mad,fp64,shuffle,atomic,shared_atomic"
    "reduce --variant $reductions --bytes 4,16 --loads 1,5 --block 32,64,256 --type int,float --n 1,10007"
    "reduce --work block --variant shared_interleaved,shared_strided,shared,shuffle,redux,atomic_shared --block 32,1024"
    "transpose --n 33 --m 131 --tile 8,16,32,64 --variant naive_read,naive_write,padded,swizzle"
    "sync --op block,named,warp,shuffle,vote --block 64,1024"
    "sync --op named --block 512 --groups 4"
    "sync --op cluster,cluster_relaxed,grid,fence_block,fence_device,fence_system"
    "sync --op stream,device,event_spin,event_block"
    "sync --op launch,graph --launches 1,3"
    "streams --streams 1,3 --segments 3 --size 48Ki --work 0,65 --queue all --between all"
    "streams --stages in,out,both --host all --streams 2 --segments 2 --size 32Ki"
    "streams --stages kernel --streams 2 --segments 2 --size 32Ki --work 65"
    "atomics --space all --type int,long,float,double --result all --addresses 1,31,992 --warps 3 --length 1"
    "atomics --space shared --way one,cas,compiler --addresses 1 --warps 3 --length 1"
    "atomics --way private,cas --addresses 32,960 --lanes auto,5 --apart packed,36 --warps 3 --length 1"
    "atomics --way compiler --addresses 1,4 --warps 3 --length 1"
)
for tool in memcheck racecheck initcheck; do
    for sweep in "${sweeps[@]}"; do
        [[ $sweep =~ ${1:-.} ]] || continue
        # shellcheck disable=SC2086 # the sweep is a list of words
        compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 "$ubench" run $sweep --profile \
            >"$out/log" 2>&1 || { echo "$tool: $sweep"; tail -n 40 "$out/log"; exit 1; }
        grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" "$out/log" || { tail -n 20 "$out/log"; exit 1; }
        echo "$tool clean: $sweep"
    done
done
