#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What a run does with the host's memory, with pictures of launches and with kernels that are
# wrong on purpose, over the fake device: what is missing costs nothing but itself.
set -u
. "$(dirname "$0")/../lib.sh"

# run FAULTS RECORD ARGUMENT...: measures, and the record passes ubench check
run() {
    local faults=$1 record=$2
    shift 2
    UBENCH_FAKE=$faults "$fake" run "$@" --rounds 3 -f json -o "$record" -q --force >out 2>err ||
        fail "$*: $?, $(head -c 300 err)"
    "$fake" check "$record" >out 2>&1 || fail "check $record: $(head -c 500 out)"
}

# expect RECORD PYTHON: an expression of `run`, `points` and `codes` (warnings by point)
expect() {
    python3 - "$@" <<'END_OF_CHECK' || fail "$1: $2"
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
points, constants = record["points"], {c["name"]: c["origin"] for c in record["constants"]}
codes = {(w["code"], w["point"]) for w in record["warnings"]}
sys.exit(not eval(sys.argv[2]))
END_OF_CHECK
}

pipeline=(streams --streams 1,4 --segments 4 --size 1Mi --work 64)
run "" pinned.json "${pipeline[@]}"
expect pinned.json 'not any(code == "not-pinned" for code, _ in codes)'
expect pinned.json '"measured in this run" in constants["copy_latency_ns"]'
expect pinned.json 'all(p["timeline"] for p in points if p["sweep"] == "command")'

# A timeline that is not of its launch is found.
tamper() { # SED-EXPRESSION WORDS
    sed "$1" pinned.json >other.json
    cmp -s pinned.json other.json && fail "tamper $1: changed nothing"
    "$fake" check other.json >out 2>&1 && fail "check of $1: nothing was found"
    grep -q "$2" out || fail "check of $1: $(head -c 300 out)"
}
tamper '0,/"stage": "kernel"/s//"stage": "warp drive"/' "other operations than the launch of the law"
tamper '0,/"segment": 3, "stage": "copy out"/s//"segment": 2, "stage": "copy out"/' "other operations"

# Memory that cannot be pinned: every such point says so, tests no time, and measures no constant.
run no-pinning pageable.json "${pipeline[@]}"
expect pageable.json '[i for i, p in enumerate(points) if p["axes"]["host"] == "pinned" and p["axes"]["stages"] != "kernel"] == [w["point"] for w in record["warnings"] if w["code"] == "not-pinned"]'
expect pageable.json 'all(p["status"] == "ok" and p["law"]["time"]["verdict"] == "not-tested" for p in points)'
expect pageable.json '"measured in this run" not in constants["copy_latency_ns"]'
expect pageable.json '"measured in this run" in constants["pageable_latency_ns"]'

# A picture that fails is all that is lost.
run timeline:streams=4 picture.json "${pipeline[@]}"
expect picture.json 'all(p["status"] == "ok" and p["time_ns"]["n"] >= 3 for p in points)'
expect picture.json '[i for i, p in enumerate(points) if ("no-timeline", i) in codes] == [i for i, p in enumerate(points) if p["axes"]["streams"] == 4]'

# A kernel that is wrong on purpose has no time; the others go on.
run "" race.json reduce --variant shared,missing_barrier --n 100003 --block 256
expect race.json '{p["axes"]["variant"]: p["status"] for p in points if p["sweep"] == "command"} == {"shared": "ok", "missing_barrier": "skipped"}'
expect race.json 'all("and found wrong: " in p["reason"] for p in points if p["axes"]["variant"] == "missing_barrier")'

finish
