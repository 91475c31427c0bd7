#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `roofline`: every multiply-add that the source has is there, of the
# type that it claims (halves two at a time, from both pipes alike), in as many chains as a
# step has elements, none reading three registers of its own; the next step is on its way
# before the long part begins; nothing is spilled.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/roofline/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import sass, sys
faults, found = sass.Faults(), 0
types = {"4fp32": ("FFMA", 8), "4fp64": ("DFMA", 4), "6half2s": ("HFMA2", 8)}

def multiply_adds(kernel, family):
    """HFMA2 with RZ makes a constant and computes nothing."""
    return [i for i in kernel.at(family + ".") if "-RZ, RZ" not in kernel.code[i]]

for kernel, kind in sass.kernels(sys.argv[1], r"^_Z8rooflineI(4fp32|4fp64|6half2s)Lb([01])E"):
    found += 1
    fma, chains = types[kind[1]]
    fault = faults.of(kernel.name)
    if kernel.spills:
        fault("registers are spilled")
    loads = kernel.at("LDG")
    if loads != kernel.at("LDG.E.128"):
        fault("a load is not 16 bytes wide")
    work = multiply_adds(kernel, fma)
    if any(multiply_adds(kernel, other) for other, _ in types.values() if other != fma):
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
    inner = [(a, b) for a, b in kernel.loops if sum(a <= i < b for i in work) == 64 * chains]
    if not inner:
        fault(f"no loop of {64 * chains} {fma}")
        continue
    first, last = inner[0]
    inside = [i for i in work if first <= i < last]
    results = [sass.registers(kernel.code[i])[0] for i in inside]
    if len(set(results)) != chains or any(results.count(r) != 64 for r in set(results)):
        fault(f"{len(set(results))} chains instead of {chains} of 64")
    for i in inside:
        registers = sass.registers(kernel.code[i])
        if registers[0] != registers[1] or len(set(registers[1:])) > 2:
            fault(f"no chain, or three registers: {kernel.text[i]}")
            break
    if fma == "HFMA2" and abs(sum(".MMA" in kernel.opcode[i] for i in inside) * 2 - len(inside)) > 2:
        fault("the two pipes of HFMA2 have not the same share")
    if not all(i < first for i in loads):
        fault("the next step is loaded behind the multiply-adds")
if found != 6:
    faults.add("kernels", f"{found} found, not 6")
faults.finish(f"{found} kernels are what they should be")
END
