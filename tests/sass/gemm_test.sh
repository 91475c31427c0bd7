#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of the versions of `gemm` in kernel.cu: each does its multiply-adds by FFMA and
# has no other arithmetic of fp32, as many as its tile has; wide accesses are 16 bytes wide;
# nothing is spilled. gemm_fast_test.sh looks at async and tensor.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/gemm/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import collections, re, sass, sys
faults, kernels = sass.Faults(), 0
# What a kernel's code has of each instruction; a count of None: some. What is not named: none.
registers = {"STS": 4, "STS.128": 1, "BAR": None}
rows = [
    (r"naiveILb[01]E", {"LDG": None, "FFMA": None, "STG": 1}),
    (r"tiledILj8E", {"LDG": 2, "STS": 2, "LDS.128": 2, "LDS": 8, "FFMA": 8, "STG": 1, "BAR": 2}),
    (r"tiledILj16E", {"LDG": 2, "STS": 2, "LDS.128": 4, "LDS": 16, "FFMA": 16, "STG": 1, "BAR": 2}),
    (r"tiledILj32E", {"LDG": 2, "STS": 2, "LDS.128": 8, "LDS": 32, "FFMA": 32, "STG": 1, "BAR": 2}),
    (r"registersILj4ELb1E", {"LDG.128": 4, "LDS.128": 32, "FFMA": 256, "STG.128": 4, **registers}),
    (r"registersILj4ELb0E", {"LDG": 16, "LDS.128": 32, "FFMA": 256, "STG": 16, **registers}),
    (r"registersILj8ELb1E", {"LDG.128": 4, "LDS.128": 32, "FFMA": 512, "STG.128": 16, **registers}),
    (r"registersILj8ELb0E", {"LDG": 16, "LDS.128": 32, "FFMA": 512, "STG": 64, **registers}),
]
families = ("FFMA", "FMUL", "FADD", "DFMA", "LDG", "STG", "LDS", "STS", "LDL", "STL", "BAR")

def with_width(opcode):
    """LDG.E.128.CONSTANT -> LDG.128"""
    width = re.search(r"\.(64|128)\b", opcode)
    return opcode.split(".")[0] + (width[0] if width else "")

listed = [kernel for kernel, _ in sass.kernels(sys.argv[1])]
for pattern, expected in rows:
    found = [kernel for kernel in listed if re.search(pattern, kernel.name)]
    if not found:
        faults.add(pattern, "no such kernel")
    for kernel in found:
        kernels += 1
        counts = collections.Counter(with_width(o) for o, family in zip(kernel.opcode, kernel.family) if family in families)
        for key in sorted(counts.keys() | expected.keys()):
            wanted = expected.get(key, 0)
            if (counts[key] == 0 if wanted is None else counts[key] != wanted):
                faults.add(kernel.name, f"{counts[key]} {key}, {'some' if wanted is None else wanted} expected")
faults.finish(f"{kernels} kernels are what they should be")
END
