#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of the versions of `gemm` in kernel.cu: each does its multiply-adds by FFMA and
# has no other arithmetic of fp32, as many as its tile has; wide accesses are 16 bytes wide;
# nothing is spilled. gemm_fast_test.sh looks at async and tensor.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/gemm/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import collections, re, sys
faults, kernels = [], 0
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

def instructions(section):
    for line in section.split("\n"):
        line = re.sub(r"/\*[0-9a-fx]+\*/", "", line).strip()
        if not line or line.startswith("."):
            continue
        name = re.sub(r"^@!?U?P\w+ ", "", line).split()[0].rstrip(";")
        family, width = name.split(".")[0], re.search(r"\.(64|128)\b", name)
        if family in families:
            yield family + ("." + width[1] if width else "")

text = open(sys.argv[1], encoding="utf-8").read()
sections = {s.split(",")[0]: s for s in re.split(r"\.section\s+\.text\.", text)[1:]}
for pattern, expected in rows:
    found = [(n, s) for n, s in sections.items() if re.search(pattern, n)]
    if not found:
        faults.append(f"no kernel {pattern}")
    for name, section in found:
        kernels += 1
        counts = collections.Counter(instructions(section))
        for key in sorted(counts.keys() | expected.keys()):
            wanted = expected.get(key, 0)
            if (counts[key] == 0 if wanted is None else counts[key] != wanted):
                faults.append(f"{name}: {counts[key]} {key}, {'some' if wanted is None else wanted} expected")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
