#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of transpose: each kernel has the accesses that the law counts, of the
# width that it claims, once a pass; its loads are in flight together; a barrier stands
# between stores to the tile and loads from it; nothing is spilled. Needs cuobjdump (and nvdisasm,
# which it calls) of the CUDA Toolkit.
set -u
: "${UBENCH:?the program to test}"
PATH=$PATH:/usr/local/cuda/bin
for tool in cuobjdump nvdisasm python3; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed" && exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cuobjdump -sass "$UBENCH" >"$scratch/sass" 2>"$scratch/err" || { echo "SKIP: $(head -n 1 "$scratch/err")" && exit 77; }
grep -q "Function :" "$scratch/sass" || { echo "SKIP: no machine code in $UBENCH (built without nvcc?)" && exit 77; }

python3 - "$scratch/sass" <<'END'
import collections
import re
import sys

NAIVE_READ, NAIVE_WRITE, VECTOR = 2, 3, 7
WIDTH = {4: "", 8: ".64", 16: ".128"}
problems, seen = [], 0


def expected(bytes_, variant, passes):
    """instruction: how often"""
    access = 16 if variant == VECTOR else bytes_
    counts = {"LDG" + WIDTH[access]: passes, "STG" + WIDTH[access]: passes}
    if variant not in (NAIVE_READ, NAIVE_WRITE):
        count = passes * access // bytes_
        counts |= {"STS" + WIDTH[bytes_]: count, "BAR": 1, "LDS" + WIDTH[bytes_]: count}
    return counts


def in_order(accesses, passes):
    """The loads that are in flight together come first; the barrier parts stores to the tile from loads."""
    kinds = [name.split(".")[0] for name in accesses]
    first = next((i for i, kind in enumerate(kinds) if kind != "LDG"), 0)
    if first < passes:
        return False
    if "BAR" not in kinds:
        return True
    barrier = kinds.index("BAR")
    return not {"LDS", "STG"} & set(kinds[:barrier]) and not {"LDG", "STS"} & set(kinds[barrier:])


def simple(name):
    """LDG.E.128.CONSTANT -> LDG.128; None: no access"""
    parts = name.split(".")
    if parts[0] not in ("LDG", "STG", "LDS", "STS", "BAR"):
        return "spill" if parts[0] in ("LDL", "STL") else None
    return parts[0] + "".join("." + part for part in parts[1:] if part in ("U8", "U16", "64", "128"))


def check(function, names):
    kernel = tuple(map(int, function))
    bytes_, variant, _, passes = 1 << kernel[0], kernel[1], kernel[2], kernel[3]
    accesses = list(filter(None, map(simple, names)))
    counts = dict(collections.Counter(accesses))
    if counts != expected(bytes_, variant, passes):
        problems.append(f"move_tiles<{kernel}>: {counts}, expected {expected(bytes_, variant, passes)}")
    elif not in_order(accesses, passes):
        problems.append(f"move_tiles<{kernel}>: not in order: {accesses}")


function, names = None, []
for line in open(sys.argv[1]):
    start = re.search(r"Function : (\S+)", line)
    if start:
        if function:
            check(function, names)
            seen += 1
        name = re.match(r"_Z10move_tilesILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E", start.group(1))
        function, names = name.groups() if name else None, []
        continue
    row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", line)
    if row and function:
        names.append(row.group(2))
if function:
    check(function, names)
    seen += 1
if seen < 130:
    problems.append(f"only {seen} kernels were found")
print("\n".join(problems[:20]) or f"{seen} kernels have the accesses that the law counts")
sys.exit(bool(problems))
END
