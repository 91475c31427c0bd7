#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench run grid` and `block_size` over the fake device: every point's answer is right,
# though the chunks that blocks take go on from launch to launch; a wrong one is found.
set -u
. "$(dirname "$0")/../lib.sh"

measure() { # RECORD RULE AXES...
    local record=$1
    shift
    "$fake" run "$@" --rounds 1 -f json -o "$record" -q >out 2>err || fail "$*: $? $(tail -n 1 err)"
}
measure waves.json grid --work latency,throughput --blocks 1,131..133,264,265 --length 1
measure loads.json grid --work dram --blocks 1,7,64 --length 1,3 --size 1Mi,2Mi
measure blocks.json block_size --block 1,31,32,33,1000,1024 --bytes 4,16 --n 4,1000,4096
measure empty.json block_size --work empty --block 32,1000
python3 - waves.json loads.json blocks.json empty.json >report <<'END_OF_PYTHON' || fail "$(cat report)"
import json, sys
for name in sys.argv[1:]:
    run = json.load(open(name))["ubench"]
    points, sms = run["points"], run["device"]["sms"]
    for point in points:
        if point["status"] != "ok" or point["law"]["counters"] != "holds":
            sys.exit(f"{name} {point['axes']}: {point['status']} {point['reason']} {point['law']['counters']}")
    if name == "waves.json":
        for point in points:
            waves, blocks = point["metrics"]["waves"]["value"], point["axes"]["blocks"]
            wanted = -(-blocks // (2 * sms if point["axes"]["work"] == "latency" else sms))
            if round(waves) != wanted:
                sys.exit(f"{point['axes']}: {waves} waves instead of {wanted}")
END_OF_PYTHON

wrong() { # TEXT FAULT RULE AXES...
    local text=$1 fault=$2
    shift 2
    UBENCH_FAKE=wrong:$fault "$fake" run "$@" -f json -o wrong.json -q --force >out 2>err
    local status=$?
    [ "$status" -eq 6 ] || fail "$*: a wrong answer: $status, not 6"
    grep -q "$text" wrong.json || fail "$*: the record does not say what is wrong"
}
wrong "the sum of where the chains ended" blocks=5 grid --blocks 4,5 --length 1
wrong "the sum of what was loaded" blocks=5 grid --work dram --blocks 4,5 --length 1 --size 1Mi
wrong "1 of 112 sums are wrong; the first is number 56" block=32 block_size --block 32,64 --n 1000

finish
