#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `streams`: the kernel's loop is there, 64 multiply-adds of each of four
# chains with three instructions beside them, as the law counts them; it loads and stores 16
# bytes a thread and spills nothing; the kernel between segments does nothing at all.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/streams/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], set()

def instructions(section):
    """Labels and instructions up to the last EXIT, in order."""
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if re.match(r"\.L_x_\d+:|@?!?U?P?\d* ?[A-Z][A-Z0-9_.]+.*;", l)]
    last = max(i for i, l in enumerate(lines) if "EXIT" in l)
    return lines[: last + 1]

def opcode(line):
    return re.sub(r"^@!?U?P\d+ ", "", line).split()[0].rstrip(";")

def loops(lines):
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    for i, line in enumerate(lines):
        target = re.search(r"BRA `\((\.L_x_\d+)\)", line)
        if target and labels.get(target[1], i) < i:
            yield [l for l in lines[labels[target[1]] : i + 1] if not l.startswith(".L_")]

for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    lines = instructions(section)
    code = [opcode(l) for l in lines if not l.startswith(".L_")]
    if any(o.startswith(("LDL", "STL")) for o in code):
        faults.append(f"{name}: registers are spilled")
    if name.startswith("_Z7nothing"):
        kernels.add("nothing")
        if len(code) != 2:
            faults.append(f"{name}: {len(code)} instructions, not 2: {code}")
    if not name.startswith("_Z5stage"):
        continue
    kernels.add("stage")
    memory = [o for o in code if o.startswith(("LDG", "STG"))]
    if [o.split(".")[:3] for o in memory] != [["LDG", "E", "128"], ["STG", "E", "128"]]:
        faults.append(f"{name}: not one load and one store of 16 bytes: {memory}")
    found = sorted(list(loops(lines)), key=len)
    sizes = [(sum(opcode(l) == "FFMA" for l in loop), len(loop)) for loop in found]
    if sizes != [(4, 7), (256, 259)]:
        faults.append(f"{name}: loops (multiply-adds, all) {sizes}, not (4, 7) and (256, 259)")
        continue
    chains = {}
    for line in found[1]:
        if opcode(line) != "FFMA":
            continue
        result, one, other = re.match(r"FFMA (R\d+), (R\d+), (R\d+), (?:UR\d+|c\[)", line).groups()
        if not result == one == other:
            faults.append(f"{name}: not x * x + c in one register: {line}")
            break
        chains[result] = chains.get(result, 0) + 1
    if sorted(chains.values()) != [64] * 4:
        faults.append(f"{name}: chains of {sorted(chains.values())} multiply-adds, not four of 64")
    outside = len(code) - sum(size for _, size in sizes)
    if outside != 23:
        faults.append(f"{name}: {outside} instructions outside of both loops, not 23")
if kernels != {"stage", "nothing"}:
    faults.append(f"only {kernels} found")
print("\n".join(faults[:20]) or "the kernels are what they should be")
sys.exit(1 if faults else 0)
END
