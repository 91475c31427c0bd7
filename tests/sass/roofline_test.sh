#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `roofline`: every multiply-add that the source has is there, of the
# type that it claims (halves two at a time, from both pipes alike), in as many chains as a
# step has elements, none reading three registers of its own; the next step is on its way
# before the long part begins; nothing is spilled.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/roofline/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
types = {"4fp32": ("FFMA", 8), "4fp64": ("DFMA", 4), "6half2s": ("HFMA2", 8)}
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.match(r"_Z8rooflineI(4fp32|4fp64|6half2s)Lb([01])E", name)
    if not kind:
        continue
    kernels += 1
    fma, chains = types[kind[1]]
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";") for l in lines]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL")) for o in opcode):
        fault("registers are spilled")
    loads = [i for i, o in enumerate(opcode) if o.startswith("LDG")]
    if any(not opcode[i].startswith("LDG.E.128") for i in loads):
        fault("a load is not 16 bytes wide")
    # HFMA2 with RZ makes a constant and computes nothing.
    work = [i for i, o in enumerate(opcode) if o.split(".")[0] == fma and "-RZ, RZ" not in lines[i]]
    if any(o.split(".")[0] in {f for f, _ in types.values()} - {fma} and "-RZ, RZ" not in l for o, l in zip(opcode, lines)):
        fault("multiply-adds of another type")
    if kind[2] == "0":
        if work:
            fault(f"{len(work)} {fma} where fmas=0 has none")
        continue
    if len(loads) != 4:
        fault(f"{len(loads)} loads instead of two before the loop and two in it")
    # one at first, then 64 in a loop and 32 + 16 + 8 + 4 + 2 + 1 in pieces, for each element
    if len(work) % (128 * chains) or not work:
        fault(f"{len(work)} {fma}, not {128 * chains}")
        continue
    back = [(labels[t[1]], i) for i, l in enumerate(lines) if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels and labels[t[1]] < i]
    inner = [(a, b) for a, b in back if sum(a < i < b for i in work) == 64 * chains]
    if not inner:
        fault(f"no loop of {64 * chains} {fma}")
        continue
    first, last = inner[0]
    inside = [i for i in work if first < i < last]
    results = [re.search(r"\b(R\d+),", lines[i])[1] for i in inside]
    if len(set(results)) != chains or any(results.count(r) != 64 for r in set(results)):
        fault(f"{len(set(results))} chains instead of {chains} of 64")
    for i in inside:
        registers = re.findall(r"\bR\d+\b", lines[i])
        if registers[0] != registers[1] or len(set(registers[1:])) > 2:
            fault(f"no chain, or three registers: {lines[i]}")
            break
    if fma == "HFMA2" and abs(sum(".MMA" in opcode[i] for i in inside) * 2 - len(inside)) > 2:
        fault("the two pipes of HFMA2 have not the same share")
    if not all(i < first for i in loads):
        fault("the next step is loaded behind the multiply-adds")
if kernels != 6:
    faults.append(f"{kernels} kernels found, not 6")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
