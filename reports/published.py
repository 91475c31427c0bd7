#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes reports/published/*.json from a table of published figures.

    reports/published.py published.csv

The table has the columns gpu, quantity, value, unit, conditions, source, kind. A row goes
into the record of its card if one of our rules measures its quantity: RULES says which
point and which metric that is. What is left out is counted on stderr, with the reason.
"""
import csv
import json
import os
import re
import sys

# Cards of the table -> file, name as the driver has it, row of the model table (or None).
# A card that differs from a row in clock or form, but not in what is compared, stands for it.
CARDS = {
    "V100 PCIe 16GB": ("v100-pcie", "Tesla V100-PCIE-16GB", "v100"),
    "V100 SXM2 16GB": ("v100", "Tesla V100-SXM2-16GB", "v100"),
    "V100": ("v100", "Tesla V100-SXM2-16GB", "v100"),
    "T4": ("t4", "Tesla T4", "t4"),
    "T1000": ("t1000", "NVIDIA T1000", None),
    "RTX 2070": ("rtx2070", "NVIDIA GeForce RTX 2070", None),
    "RTX 2080 Ti": ("rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"),
    "Quadro RTX 6000": ("quadro-rtx6000", "Quadro RTX 6000", None),
    "A10": ("a10", "NVIDIA A10", "a10"),
    "A40": ("a40", "NVIDIA A40", "a40"),
    "A100": ("a100-any", "NVIDIA A100 (which one is not said)", None),
    "A100 SXM4 80GB": ("a100", "NVIDIA A100-SXM4-80GB", "a100"),
    "A100 40GB": ("a100-40", "NVIDIA A100-SXM4-40GB", "a100-40"),
    "A100 SXM4 40GB": ("a100-40", "NVIDIA A100-SXM4-40GB", "a100-40"),
    "A100 PCIe 40GB": ("a100-pcie-40", "NVIDIA A100-PCIE-40GB", "a100-40"),
    "A100 PCIe 80GB": ("a100-pcie-80", "NVIDIA A100 80GB PCIe", None),
    "L40": ("l40", "NVIDIA L40", "l40s"),
    "H100": ("h100-any", "NVIDIA H100 (which one is not said)", None),
    "H100 PCIe": ("h100-pcie", "NVIDIA H100 PCIe", "h100-pcie"),
    "H100 SXM5": ("h100", "NVIDIA H100 80GB HBM3", "h100"),
    "H100 SXM5 80GB": ("h100", "NVIDIA H100 80GB HBM3", "h100"),
    "H100 NVL": ("h100-nvl", "NVIDIA H100 NVL", None),
    "H200": ("h200", "NVIDIA H200", "h200"),
    "GH200": ("gh200", "NVIDIA GH200 480GB", "gh200"),
    "B200": ("b200", "NVIDIA B200", "b200"),
    "RTX PRO 6000 Blackwell": ("rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell", None),
}
# Before compute capability 7.0: ubench does not run there.
TOO_OLD = re.compile(r"^(K40|K80|Tesla K|GTX|TITAN X|Quadro P|P100|Kepler|Maxwell|Pascal)")

WIDE = {"bytes": "16"}
STREAM = {"bytes": "8", "per_thread": 1, "block": 1024}  # gpu-stream: a double a thread, full SMs
COALESCED = {"pattern": "soa", "fields": 16, "bytes": "4"}  # OpenCL-Benchmark: data[i*N+n], i = 0..15
MISALIGNED = {"pattern": "aos", "fields": 16, "bytes": "4"}  # data[n*16+i]


def coalescing(op, axes):
    return ("coalescing", dict(axes, op=op), "useful_bandwidth", "B/s")


GRAPH_LAUNCH = ("null", {"timer": "event", "grid": 1}, "time_ns", "ns")
HOST_LAUNCH = ("null", {"timer": "host", "grid": 1}, "time_ns", "ns")
FMA = ("occupancy", {"work": "compute", "ilp": "4"}, "flops", "FLOP/s")
# gpu-latency: one thread, a random cycle; its footprint stands in the conditions.
CHASE = {"op": "load", "level": "l1", "footprint": re.compile(r"footprint (\d+) KiB")}
SHARED = ("bank_conflict", {"stride": 1, "bytes": "4"}, "bytes_per_cycle", "B/cycle")

# quantity, what its conditions must contain -> rule, axes, metric, unit; scale of the value.
# Rows of the first match; None: the conditions are not those of a rule.
RULES = [
    ("dram_read_bandwidth_gb_s", "gpu-stream", coalescing("load", STREAM), 1e9),
    ("dram_read_bandwidth_gb_s", "OpenCL", coalescing("load", COALESCED), 1e9),
    ("dram_read_bandwidth_gb_s", "", coalescing("load", WIDE), 1e9),
    ("dram_read_bandwidth_gib_s", "", coalescing("load", WIDE), 2.0**30),
    ("dram_bandwidth_gb_s", "", coalescing("load", WIDE), 1e9),
    ("dram_init_store_bandwidth_gb_s", "gpu-stream", coalescing("store", STREAM), 1e9),
    ("dram_write_bandwidth_gb_s", "OpenCL", coalescing("store", COALESCED), 1e9),
    ("dram_write_bandwidth_gib_s", "", coalescing("store", WIDE), 2.0**30),
    ("dram_copy_bandwidth_gb_s", "gpu-stream", coalescing("copy", STREAM), 1e9),
    ("dram_copy_bandwidth_gb_s", "32 MB", None, 0),  # fits into an L2
    ("dram_copy_bandwidth_gb_s", "double", coalescing("copy", {"bytes": "8"}), 1e9),
    ("dram_copy_bandwidth_gb_s", "", coalescing("copy", WIDE), 1e9),
    ("lane_stride_64B_read_bandwidth_gb_s", "OpenCL", coalescing("load", MISALIGNED), 1e9),
    ("lane_stride_64B_write_bandwidth_gb_s", "OpenCL", coalescing("store", MISALIGNED), 1e9),
    ("back_to_back_kernel_period_us", "CUDA graph", GRAPH_LAUNCH, 1e3),
    ("back_to_back_kernel_period_us", "", None, 0),  # single launches into a stream
    ("kernel_launch_overhead_us", "CUDA graph", GRAPH_LAUNCH, 1e3),
    ("kernel_launch_overhead_us", "", None, 0),
    ("null_kernel_total_latency_us", "", HOST_LAUNCH, 1e3),
    ("fp32_gflops", "", FMA, 1e9),
    ("shared_bandwidth_bytes_per_cycle_sm", "", SHARED, 1),
    ("l1_latency_cycles", "gpu-latency", ("latency", CHASE, "latency_cycles", "cycle"), 1),
    ("l2_latency_ns", "gpu-latency", ("latency", CHASE, "latency_ns", "ns"), 1),
    ("l2_far_plateau_latency_ns", "gpu-latency", ("latency", CHASE, "latency_ns", "ns"), 1),
    ("dram_latency_ns", "gpu-latency", ("latency", CHASE, "latency_ns", "ns"), 1),
]


def rule_of(row):
    """(rule, axes, metric, unit), scale; or None with the reason."""
    known = [r for r in RULES if r[0] == row["quantity"]]
    if not known:
        return None, "no rule measures %s" % row["quantity"]
    for _, words, target, scale in known:
        if words in row["conditions"]:
            return (target, scale) if target else (None, "%s under other conditions" % row["quantity"])
    return None, "%s under other conditions" % row["quantity"]


def clean(source):
    """What a reader can look up: without the numbers of the copy that was read."""
    source = re.sub(r"\s*\((text copy: )?index file id \d+\)", "", source)
    source = re.sub(r"^index file id \d+ (\([^)]*\) )?quoting ", "", source)
    source = re.sub(r"(,| in) index file id \d+", "", source)
    source = re.sub(r"^index file id \d+$", "not named", source)
    return source.strip(" ,")


def point_of(row, target, scale):
    rule, axes, metric, unit = target
    conditions = row["conditions"]
    axes = {k: int(v.search(conditions)[1]) * 1024 if hasattr(v, "search") else v for k, v in axes.items()}
    stands_for = {"V100 PCIe 16GB": "SXM2", "A100 PCIe 40GB": "SXM4", "L40": "an L40S"}.get(row["gpu"])
    if stands_for:
        conditions += "%sthe model's row is %s" % ("; " if conditions else "", stands_for)
    return {
        "rule": rule,
        "sweep": "published",
        "axes": axes,
        "status": "ok",
        "published": {"source": clean(row["source"]), "conditions": conditions, "kind": row["kind"]},
        "metrics": {metric: {"value": float("%.12g" % (float(row["value"]) * scale)), "unit": unit}},
    }


def write(folder, name, device, slug, points):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as out:
        out.write('{\n  "ubench": {\n    "schema": 1,\n    "source": "published",\n')
        out.write('    "device": %s,\n' % json.dumps({"name": device, "slug": slug}))
        out.write('    "points": [\n      ')
        out.write(",\n      ".join(json.dumps(point, ensure_ascii=False) for point in points))
        out.write("\n    ]\n  }\n}\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    records, left_out = {}, {}
    with open(sys.argv[1], newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            target, reason = rule_of(row)
            if target and row["gpu"] not in CARDS:
                old = TOO_OLD.match(row["gpu"])
                target, reason = None, "before compute capability 7.0" if old else "not a card we know: " + row["gpu"]
            if target is None:
                left_out[reason] = left_out.get(reason, 0) + 1
                continue
            records.setdefault(CARDS[row["gpu"]], []).append(point_of(row, target, reason))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".json"):
            os.remove(os.path.join(folder, name))
    for (name, device, slug), points in sorted(records.items(), key=lambda item: item[0][0]):
        write(folder, name, device, slug, points)
        print("%s: %d figures" % (name, len(points)))
    for reason, count in sorted(left_out.items()):
        print("left out, %d: %s" % (count, reason), file=sys.stderr)


if __name__ == "__main__":
    main()
