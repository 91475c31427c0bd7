#!/usr/bin/env bash
# ubench plot from a record on disk to a picture: names, streams, exit codes, and what is
# left behind when it fails.
set -u
. "$(dirname "$0")/../lib.sh"
need gnuplot python3
# expect STATUS WORDS ARGUMENT...: exit status, and words on standard error
expect() {
    local status=$1 words=$2
    shift 2
    "$UBENCH" "$@" >out 2>err
    local got=$?
    [ $got -eq "$status" ] || fail "ubench $*: exit $got, not $status: $(cat err)"
    [ -z "$words" ] || grep -qF -- "$words" err || fail "ubench $*: '$words' is not in: $(cat err)"
}

"$UBENCH" run coalescing --stride 1..32 --bytes 4 --op load --device model:h200 -q -o run.json >/dev/null ||
    { echo "no record to draw"; exit 1; }
rm -f run.svg # `run` draws too

expect 0 "wrote run.svg" plot run.json
grep -q 'predicted, not measured' run.svg || fail "run.svg does not say that it is predicted"
expect 74 "run.svg exists; --force overwrites it" plot run.json
expect 74 "run.svg exists; --force overwrites it" plot run.json --dry-run
expect 0 "wrote run.svg" plot run.json --force
expect 0 "wrote dark.png" plot run.json -o dark.png --dark
expect 0 "wrote run.pdf" plot run.json --term pdf
expect 0 "wrote kept.svg" plot run.json -o kept.svg --keep-script
[ -s kept.gp ] || fail "--keep-script kept nothing"
expect 74 "kept.gp exists; --force" plot run.json -o kept.png --keep-script
[ -e kept.png ] && fail "a chart was drawn whose script cannot be kept"
rm run.svg
expect 0 "" plot run.json -o one.svg --stride 8 -q
grep -q 'at stride 8' one.svg || fail "one point: no title"
[ -s err ] && fail "-q is not quiet: $(cat err)"

COLUMNS=72 LC_ALL=C expect 0 "" plot run.json -o -
grep -q 'predicted, not measured' out || fail "the chart in the terminal: $(cat out)"
[ "$(wc -L <out)" -le 72 ] || fail "the chart in the terminal is wider than COLUMNS"
expect 0 "" plot run.json -o - --term svg
[ "$(head -c 5 out)" = "<?xml" ] || fail "--term svg -o - is no svg"

# A rule's sentence stands above a sweep that it is true of.
# title_is TITLE ARGUMENT...: of the chart of a run of these
title_is() {
    local title=$1
    shift
    "$UBENCH" run "$@" --device model:h200 -q -f json -o typed.json --force >/dev/null || fail "ubench run $*"
    expect 0 "" plot typed.json -o -
    [ "$(head -n 1 out)" = "$title" ] || fail "ubench run $*: the title is $(head -n 1 out)"
}
title_is "Coalescing: a warp pays for whole sectors, used or not" coalescing --stride 1..32
title_is "Coalescing: useful bandwidth over stride" coalescing --stride 1..32 --size 64Mi
title_is "Reduce: bandwidth of the sum over block" reduce --block 64..1024*2
title_is "Alone, a block of 256 threads adds up by shuffles in half the time of a tree" \
    reduce --work block --block 64..1024*2
title_is "Alone, a block adds floats by shuffles, not by a loop of compare-and-swap" \
    reduce --work block --block 64..1024*2 --type float
title_is "Latency hiding: with one narrow load a thread a full SM is not enough" latency_hiding --warps 1..64*2
title_is "Coalescing: useful bandwidth over op" coalescing --op all
title_is "Gemm: performance over variant" gemm --variant all
title_is "Occupancy: share of the peak over work" occupancy --work all
title_is "Latency: latency over op" latency --op load,fma
title_is "Sync: one operation over op" sync --op grid,launch
"$UBENCH" run fusion --work softmax --variant all --length '1024..64Ki*2' --device model:h200 -q -f json -o typed.json --force
expect 0 "" plot typed.json -o -
tr -s ' \n' ' ' <out | grep -q "split; passes; online: some of length 1024, 2048" || fail "a note for all series alike: $(cat out)"
rm typed.json

# A sweep without a sentence of its own has that of its x axis only if it is like the sweep of that name.
# says RULE SWEEP WORDS...: what stands in the chart of a sweep of the record in reports/
says() {
    local rule=$1 sweep=$2 words
    shift 2
    expect 0 "" plot "$UBENCH_SOURCE/reports/h200/$rule.json" --sweep "$sweep" -o says.svg --force
    for words; do grep -qF ">$words" says.svg || fail "$rule $sweep lacks '$words'"; done
}
says roofline l2 "Roofline: arithmetic against bytes"
says sync warps_all "What synchronising costs"
says latency past_l1 "Latency: what a thread waits"
says coalescing far "Coalescing: a warp pays for whole sectors"
# Of what is held fixed, axes that count at no point of the chart are not named.
says latency op "NVIDIA H200 · median"
says sync wait "NVIDIA H200 · barrier kept"
says bank_conflict stride "NVIDIA H200 · pattern stride"
says atomics lines "NVIDIA H200 · space global, way plain, type int, result unused, 32768 addresses"
rm says.svg

expect 2 "a.gif: the ending" plot run.json -o a.gif
expect 2 "svg, png, pdf or dumb" plot run.json --term gif
expect 2 "its axes are: stride" plot run.json --x strid
expect 2 "its axes are: stride" plot run.json --series strid
expect 2 "global_load_sectors" plot run.json --y sector
expect 2 "has no sweep" plot run.json --sweep none
expect 2 "no rule is called" plot run.json --rule none
expect 2 "" plot run.json --stride 0
expect 65 "nothing to draw" plot run.json --stride 33
expect 2 "" plot
expect 65 "missing.json" plot missing.json
expect 74 "No such file or directory" plot run.json -o none/a.svg
UBENCH_GNUPLOT=/nonexistent expect 69 "apt install gnuplot-nox" plot run.json -o b.svg

# What is no file is written to and stays what it is.
mkfifo pipe
cat pipe >piped &
expect 0 "" plot run.json -o pipe --term svg -q
wait $!
[ "$(head -c 5 piped)" = "<?xml" ] && [ -p pipe ] || fail "a pipe is not written to"
ln -s /dev/full full # a link: were it replaced, the device would not be
expect 74 "No space left" plot run.json -o full --term svg
[ -L full ] && [ -c /dev/full ] || fail "a device was replaced"
rm -f pipe piped full

# A hanging gnuplot, of which a wrapper is in between: a signal ends all and leaves nothing.
mkdir hang
cat >hang/gnuplot <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "gnuplot 5.4 patchlevel 4"; exit; }
sleep 300 &
echo $! >"$STARTED"
wait
END
chmod +x hang/gnuplot
mkfifo started
exec 3<>started
for signal in INT TERM HUP; do
    for output in hung.svg -; do
        # A shell starts what it puts in the background with SIGINT ignored.
        STARTED=$PWD/started TMPDIR=$PWD/hang UBENCH_GNUPLOT=$PWD/hang/gnuplot \
            python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$UBENCH" plot run.json -o $output 2>err &
        drawing=$!
        read -rt 60 child <&3 || fail "SIG$signal: gnuplot was not started: $(cat err)"
        kill -$signal $drawing
        wait $drawing 2>/dev/null
        status=$?
        [ $status -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit $status"
        for ((try = 0; try < 200; try++)); do # it is killed, but dies when it is its turn
            state=$(ps -o stat= -p "$child" | cut -c1 | tr -d Z)
            [ -z "$state" ] && break
        done
        [ -z "$state" ] || { fail "SIG$signal: a child of gnuplot lives on"; kill -9 "$child"; }
        [ "$(ls hang)" = gnuplot ] || fail "SIG$signal: left among temporary files: $(ls hang)"
        [ -z "$(ls | grep hung)" ] || fail "SIG$signal: left behind: $(ls)"
    done
done
exec 3>&-
rm -rf hang started

# A name that would run something, were it ever more than text.
sed 's/"name": "NVIDIA H200"/"name": "`touch hacked` $(touch hacked) '"'"'x'"'"' _a^b {c} \& <b> %d"/' run.json >hostile.json
cmp -s run.json hostile.json && fail "the device's name was not found in the record"
expect 0 "" plot hostile.json
expect 0 "" plot hostile.json -o "q'\`touch hacked\`.svg"
expect 0 "" plot hostile.json -o -
[ -e hacked ] && fail "text of a record was run"

left=$(ls | grep -vxE 'run.json|run.svg|run.pdf|dark.png|kept.svg|kept.gp|one.svg|out|err|hostile.json|hostile.svg|q.*svg')
[ -z "$left" ] || fail "left behind: $left"
finish
