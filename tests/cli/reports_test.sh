#!/usr/bin/env bash
# The records that the project shows: measured, complete, no law broken, and a law that
# was changed since would be noticed here.
set -eu
: "${UBENCH:?}" "${UBENCH_SOURCE:?}"
shopt -s nullglob
records=("$UBENCH_SOURCE"/reports/*/*.json)
[ ${#records[@]} -gt 0 ] || { echo "FAIL: no record in reports/"; exit 1; }
"$UBENCH" check "${records[@]}"
for record in "${records[@]}"; do
    case $record in */published/*) continue ;; esac # figures of others
    /usr/bin/python3 - "$record" <<'END'
import json, sys
record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
assert record["source"] == "measured", "not measured"
assert record["run"]["complete"], "not complete"
exact = [c for p in record["points"] for c in p["counters"].values() if c["class"] == "structural"]
assert exact, "no structural counter"
assert all(c["measured"] == c["predicted"] for c in exact if c["predicted"] is not None), "a law is broken"
# what the law says of a launch that has no time, and what cannot be launched
proved = ("refused: cudaError", "wrong on purpose (", "an SM does not have registers for so many warps",
          "256 threads keep a row of 16384 floats at most")
assert all(p["status"] == "ok" or p["status"] == "skipped" and p["reason"].startswith(proved) for p in record["points"]), \
    "a point is missing"
print(f"{sys.argv[1].rsplit('/', 2)[-2]}/{sys.argv[1].rsplit('/', 1)[-1]}: {len(record['points'])} points, {len(exact)} structural counters")
END
done
