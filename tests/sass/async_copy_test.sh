#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `async_copy`: every way copies with the instruction that it is named
# for, and with no other; what is asynchronous passes no register; a kernel waits where the
# rule says, and works in chains of multiply-adds that are the same in all of them; nothing
# is spilled.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/async_copy/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import sass, sys
faults, found = sass.Faults(), 0
COPIES = ("LDG", "STS", "LDGSTS", "UTMALDG", "UBLKCP")
ASYNCHRONOUS = ("LDG.", "LDGSTS.", "UTMALDG.", "UBLKCP.")
WIDE = {"LDG.": "LDG.E.128", "STS.": "STS.128", "LDGSTS.": "LDGSTS.E.BYPASS.128", "UTMALDG.": "UTMALDG.2D"}

def check(kernel, way, chunks, stages, fault):
    chains = 4 * chunks
    if kernel.spills:
        fault("registers are spilled")
    work = kernel.at("FFMA")
    inner = kernel.around(work)
    if len(work) != 16 * chains or not inner:
        return fault(f"{len(work)} FFMA, not {16 * chains} in one loop")
    first, last = min(inner, key=lambda loop: loop[1] - loop[0])
    for i in work:
        registers = sass.registers(kernel.code[i])
        if len(registers) != 4 or len(set(registers[1:])) != 2 or registers[2] != registers[3]:
            fault(f"no chain of two registers: {kernel.text[i]}")
            break
    beside = last - first - len(work)
    if beside > 3:
        fault(f"{beside} instructions beside the multiply-adds")
    # the loop over tiles: the largest that holds the inner one (what waits again at an mbarrier stands behind the end)
    leaves = kernel.at("EXIT")[0]
    tiles = [loop for loop in inner if loop[1] < leaves]
    if not tiles:
        return fault("no loop over tiles before the end")
    start, end = max(tiles, key=lambda loop: loop[1] - loop[0])
    # ptxas puts LDS that never run (@!PT LDS RZ, [RZ]) between copies
    loads = [i for i in kernel.at("LDS.", (start, first - 1)) if "[RZ]" not in kernel.code[i]]
    if not loads or any(kernel.opcode[i] != "LDS.128" for i in loads):
        return fault("the work does not begin with loads of 16 bytes")
    before = {c: n for c in COPIES if (n := kernel.family[:start].count(c))}
    within = {c: n for c in COPIES if (n := kernel.family[start:end].count(c))}
    wanted = {"synchronous": ({}, {"LDG": chunks, "STS": chunks}),
              "registers": ({"LDG": chunks}, {"LDG": chunks, "STS": chunks}),
              "cp_async": ({"LDGSTS": chunks * (stages or 0)}, {"LDGSTS": chunks}),
              "tensor": ({"UTMALDG": 1}, {"UTMALDG": 1}),
              "bulk": ({"UBLKCP": 1}, {"UBLKCP": 1})}[way]
    if (before, within) != wanted:
        return fault(f"before the loop and in it {before, within}, expected {wanted}")
    if any(kernel.opcode[i] != whole for part, whole in WIDE.items() for i in kernel.at(part)):
        fault("a copy is not 16 bytes wide, or goes through L1")
    copies = kernel.at(ASYNCHRONOUS, (start, end))
    bars = kernel.at("BAR.SYNC", (start, end))
    if way in ("synchronous", "registers"):
        stores = kernel.at("STS", (start, end))
        if len(bars) != 2 or not max(stores) < bars[0] < loads[0] or not last < bars[1]:
            fault("no barrier between store and work, or none behind the work")
        elif way == "synchronous" and not max(copies) < min(stores):
            fault("a store comes before the last load")
        elif way == "registers" and not (bars[0] < min(copies) and max(copies) < first):
            fault("the next tile is not loaded before the work")
    elif way == "cp_async":
        waits = kernel.at("DEPBAR.LE", (start, end))
        if len(waits) != 1 or not kernel.code[waits[0]].endswith(f"SB0, 0x{stages - 1:x}"):
            fault("does not wait for all groups but the last stages - 1")
        elif len(bars) != 2 or not waits[0] < bars[0] < loads[0] or not last < bars[1] < min(copies):
            fault("the wait is not followed by a barrier and the work, or the next copy comes before a barrier")
        if kernel.count("LDGDEPBAR", (start, end)) != 1:
            fault("a tile is not one group")
    else:
        tries = [i for i in kernel.at("SYNCS.PHASECHK", (start, end)) if "TRYWAIT" in kernel.opcode[i]]
        arrive = kernel.at("SYNCS.ARRIVE.TRANS64", (start, end))
        if not tries or not max(tries) < loads[0]:
            fault("the work does not wait for the mbarrier")
        if len(bars) != 1 or len(arrive) != 1 or not last < bars[0] < arrive[0] < copies[0]:
            fault("no barrier behind the work, or the bytes are not announced before the copy")

KERNELS = r"^_Z\d+(synchronous|registers|cp_async|bulk)ILi(\d)E(?:L([ib])(\d)E)?"
for kernel, kind in sass.kernels(sys.argv[1], KERNELS):
    found += 1
    way, chunks = kind[1], int(kind[2])
    stages = int(kind[4]) if way == "cp_async" else None
    if way == "bulk" and kind[4] == "1":
        way = "tensor"
    check(kernel, way, chunks, stages, faults.of(kernel.name))
if found != 24:
    faults.add("kernels", f"{found} found, not 24")
faults.finish(f"{found} kernels are what they should be")
END
