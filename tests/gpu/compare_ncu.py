#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the counters of a ubench record with those that ncu read of the same launches.

usage: compare_ncu.py RECORD.json NCU.csv

NCU.csv is made by `ncu --clock-control none --csv --page raw --metrics ...` over
`ubench run ... --profile`, which launches every point of the plan once, in its order. Where a
point is several kernels, all points of the run must be as many: their values are added up.
Prints one line a point and exits with 1 if an integer differs.
"""
import csv
import json
import sys

STRUCTURAL = ("global_load_requests", "global_load_sectors", "global_load_bytes", "global_store_requests",
              "global_store_sectors", "global_store_bytes", "global_lines", "blocks_launched", "warps_launched",
              "shared_load_requests", "shared_load_wavefronts", "shared_store_requests", "shared_store_wavefronts",
              "branches_divergent", "ffma", "dfma", "hfma2", "global_atomics", "local_loads", "local_stores",
              "local_load_sectors", "local_store_sectors", "global_async_copies", "bulk_copies",
              "global_reductions", "shared_atomics")


def ncu_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if line.startswith('"')))
    head, data = rows[0], rows[2:]  # the second row has the units
    return [dict(zip(head, row)) for row in data]


def main():
    record = json.load(open(sys.argv[1], encoding="utf-8"))["ubench"]
    rows = ncu_rows(sys.argv[2])
    points = [p for p in record["points"] if p["status"] == "ok" and p["sweep"] != "ceiling"]
    if not points or len(rows) == 0 or len(rows) % len(points) != 0:
        sys.exit(f"{len(points)} points in the record, {len(rows)} launches seen by ncu")
    kernels = len(rows) // len(points)
    compared = differ = 0
    for i, point in enumerate(points):
        own = rows[i * kernels:(i + 1) * kernels]
        axes = " ".join(f"{k}={v}" for k, v in point["axes"].items())
        words = []
        for key in STRUCTURAL:
            counter = point["counters"].get(key)
            if not counter or counter["measured"] is None or counter["raw"] not in own[0]:
                continue
            seen = sum(int(float(row[counter["raw"]].replace(",", ""))) for row in own)
            compared += 1
            differ += seen != counter["measured"]
            words.append(f"{key} {counter['measured']}{'=' if seen == counter['measured'] else '!='}{seen}")
        print(axes, "|", ", ".join(words))
    print(f"{len(points)} points, {compared} integers compared, {differ} differ")
    sys.exit(1 if differ or not compared else 0)


main()
