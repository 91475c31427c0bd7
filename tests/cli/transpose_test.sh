#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench run transpose` over the fake device: the accesses of access.h, done on the host
# with a real tile between the passes of a block, give the transpose at every variant,
# tile, width and order, also at edges; a wrong element is found.
set -u
. "$(dirname "$0")/../lib.sh"

measure() { # RECORD AXES...
    local record=$1
    shift
    "$fake" run transpose "$@" --rounds 1 -f json -o "$record" -q >out 2>err || fail "$*: $? $(tail -n 1 err)"
}
measure tiles.json --n 132 --m 68 --tile 8,16,32,64 --bytes 4,8 \
    --variant copy_shared,naive_read,naive_write,tile,padded,swizzle
measure tiny.json --n 1 --m 33 --tile 8,64 --variant naive_read,naive_write,padded,swizzle
measure vectors.json --n 132 --m 68 --tile 16,32,64 --pad 0..2 --bytes 4,8 --variant vector
measure orders.json --n 132 --m 68 --order row,column,diagonal --variant copy_shared,naive_read,padded,vector
measure copies.json --n 1,1023 --m 1,511 --variant copy --bytes 4,8

python3 - tiles.json tiny.json vectors.json orders.json copies.json >report <<'END' || fail "$(cat report)"
import json, sys
ok = 0
for name in sys.argv[1:]:
    for point in json.load(open(name))["ubench"]["points"]:
        if point["sweep"] == "ceiling":  # larger than the fake's memory
            continue
        ok += 1
        if point["status"] != "ok" or point["law"]["counters"] != "holds":
            sys.exit(f"{point['axes']}: {point['status']} {point['reason']} {point['law']['counters']}")
if ok < 90:
    sys.exit(f"only {ok} points ran")
END

UBENCH_FAKE=wrong:tile=16 "$fake" run transpose --n 100 --m 36 --tile 8,16 -f json -o wrong.json -q >out 2>err
status=$?
[ "$status" -eq 6 ] || fail "a wrong element: $status, not 6"
grep -q "1 of 1872 elements of the result are wrong" wrong.json || fail "the record does not say what is wrong"

finish
