#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `async_copy`: every way copies with the instruction that it is named
# for, and with no other; what is asynchronous passes no register; a kernel waits where the
# rule says, and works in chains of multiply-adds that are the same in all of them; nothing
# is spilled.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/async_copy/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
NONE = {"LDG": 0, "STS": 0, "LDGSTS": 0, "UTMALDG": 0, "UBLKCP": 0}

def counts(opcode, first, last):
    inside = [o.split(".")[0] for o in opcode[first:last + 1]]
    return {o: inside.count(o) for o in NONE}

for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.match(r"_Z\d+(synchronous|registers|cp_async|bulk)ILi(\d)E(?:L([ib])(\d)E)?", name)
    if not kind:
        continue
    kernels += 1
    way, chunks = kind[1], int(kind[2])
    stages = int(kind[4]) if way == "cp_async" else None
    if way == "bulk":
        way = "tensor" if kind[4] == "1" else "bulk"
    chains = 4 * chunks
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P(\d+|T) ", "", l).split()[0].rstrip(";") for l in lines]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL")) for o in opcode):
        fault("registers are spilled")
    back = [(labels[t[1]], i) for i, l in enumerate(lines)
            if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels and labels[t[1]] < i]
    work = [i for i, o in enumerate(opcode) if o.startswith("FFMA")]
    inner = [(a, b) for a, b in back if len(work) == 16 * chains and all(a < i < b for i in work)]
    if not inner:
        fault(f"{len(work)} FFMA, not {16 * chains} in one loop")
        continue
    first, last = min(inner, key=lambda loop: loop[1] - loop[0])
    for i in work:
        registers = re.findall(r"\bR\d+\b", lines[i])
        if len(set(registers[1:])) != 2 or registers[2] != registers[3]:
            fault(f"no chain of two registers: {lines[i]}")
            break
    if last - first - 1 - len(work) > 3:
        fault(f"{last - first - 1 - len(work)} instructions beside the multiply-adds")
    # the loop over tiles: the largest that holds the inner one (what waits again at an mbarrier stands behind the end)
    leaves = min(i for i, o in enumerate(opcode) if o == "EXIT")
    start, end = max((loop for loop in inner if loop[1] < leaves), key=lambda loop: loop[1] - loop[0])
    loads = [i for i, o in enumerate(opcode) if o.split(".")[0] == "LDS" and start < i < first and "[RZ]" not in lines[i]]
    if not loads or any(opcode[i] != "LDS.128" for i in loads):
        fault("the work does not begin with loads of 16 bytes")
        continue
    within, before = counts(opcode, start, end), counts(opcode, 0, start)
    bars = [i for i, o in enumerate(opcode) if o.startswith("BAR.SYNC") and start < i < end]
    wanted = {"synchronous": ({}, {"LDG": chunks, "STS": chunks}),
              "registers": ({"LDG": chunks}, {"LDG": chunks, "STS": chunks}),
              "cp_async": ({"LDGSTS": chunks * (stages or 0)}, {"LDGSTS": chunks}),
              "tensor": ({"UTMALDG": 1}, {"UTMALDG": 1}),
              "bulk": ({"UBLKCP": 1}, {"UBLKCP": 1})}[way]
    for there, found, expected in (("before the loop", before, wanted[0]), ("in the loop", within, wanted[1])):
        if found != {**NONE, **expected}:
            fault(f"{there} {found}, expected {expected}")
    if any(o.startswith("LDG.") and o != "LDG.E.128" or o.startswith("STS") and o != "STS.128" or
           o.startswith("LDGSTS") and o != "LDGSTS.E.BYPASS.128" or o.startswith("UTMALDG") and o != "UTMALDG.2D" for o in opcode):
        fault("a copy is not 16 bytes wide, or goes through L1")
    copies = [i for i, o in enumerate(opcode) if o.split(".")[0] in ("LDG", "LDGSTS", "UTMALDG", "UBLKCP") and start < i < end]
    if way in ("synchronous", "registers"):
        stores = [i for i, o in enumerate(opcode) if o.startswith("STS") and start < i < end]
        if len(bars) != 2 or not max(stores) < bars[0] < loads[0] or not last < bars[1]:
            fault("no barrier between store and work, or none behind the work")
        if way == "synchronous" and not max(copies) < min(stores):
            fault("a store comes before the last load")
        if way == "registers" and not (bars[0] < min(copies) and max(copies) < first):
            fault("the next tile is not loaded before the work")
    elif way == "cp_async":
        waits = [i for i, o in enumerate(opcode) if o == "DEPBAR.LE" and start < i < end]
        if len(waits) != 1 or not re.search(rf"SB0, 0x{stages - 1:x} ", lines[waits[0]]):
            fault("does not wait for all groups but the last stages - 1")
        if len(bars) != 2 or not waits[0] < bars[0] < loads[0] or not last < bars[1] < min(copies):
            fault("the wait is not followed by a barrier and the work, or the next copy comes before a barrier")
        if sum(o == "LDGDEPBAR" for o in opcode[start:end]) != 1:
            fault("a tile is not one group")
    else:
        tries = [i for i, o in enumerate(opcode) if o.startswith("SYNCS.PHASECHK") and "TRYWAIT" in o and start < i < end]
        arrive = [i for i, o in enumerate(opcode) if o.startswith("SYNCS.ARRIVE.TRANS64") and start < i < end]
        if not tries or not max(tries) < loads[0]:
            fault("the work does not wait for the mbarrier")
        if len(bars) != 1 or len(arrive) != 1 or not last < bars[0] < arrive[0] < copies[0]:
            fault("no barrier behind the work, or the bytes are not announced before the copy")
if kernels != 24:
    faults.append(f"{kernels} kernels found, not 24")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
