#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of transpose: each kernel has the accesses that the law counts, of the
# width that it claims, once a pass; its loads are in flight together; a barrier stands
# between stores to the tile and loads from it; nothing is spilled. Needs cuobjdump (and nvdisasm,
# which it calls) of the CUDA Toolkit.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import collections, sass, sys

NAIVE_READ, NAIVE_WRITE, VECTOR = 2, 3, 7
WIDTH = {4: "", 8: ".64", 16: ".128"}
faults, seen = sass.Faults(), 0


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


def simple(opcode):
    """LDG.E.128.CONSTANT -> LDG.128"""
    family, *parts = opcode.split(".")
    return family + "".join("." + part for part in parts if part in ("U8", "U16", "64", "128"))


for kernel, arguments in sass.kernels(sys.argv[1], r"^_Z10move_tilesILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E"):
    seen += 1
    log2_bytes, variant, _, passes = numbers = tuple(map(int, arguments.groups()))
    fault, wanted = faults.of(f"{kernel.arch} move_tiles<{numbers}>"), expected(1 << log2_bytes, variant, passes)
    accesses = [simple(kernel.opcode[i]) for i in kernel.at(("LDG.", "STG.", "LDS.", "STS.", "BAR."))]
    counts = dict(collections.Counter(accesses))
    if counts != wanted:
        fault(f"{counts}, expected {wanted}")
    elif not in_order(accesses, passes):
        fault(f"not in order: {accesses}")
    if kernel.spills:
        fault("registers are spilled")
if seen < 130:
    faults.add("kernels", f"only {seen} were found")
faults.finish(f"{seen} kernels have the accesses that the law counts")
END
