#!/usr/bin/env bash
# The machine code of `latency_hiding` is what its text says. A memory kernel has its loads
# in one loop, all in flight together: between the first and the last of a step nothing
# reads what one of them loaded, and the next address depends on them. An arithmetic kernel
# has its 1024 multiply-adds in one loop, as many chains as it says, each multiply-add with
# two registers to read (three may lie in one bank and take two cycles), and takes its
# tickets with one instruction that nobody waits for at once. Nothing is spilled.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/latency_hiding/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import re, sass, sys
faults, found = sass.Faults(), 0
WIDTHS = {"j": ("", 1), "5uint2": (".64", 2), "5uint4": (".128", 4)}

def check_loads(fault, kernel, places, last, kind, ilp):
    suffix, words = WIDTHS[kind]
    if len(places) != ilp:
        return fault(f"{len(places)} loads instead of {ilp} in the loop")
    loaded = set()
    for i in range(places[0], places[-1] + 1):
        target, _, sources = kernel.code[i].partition(",")
        if loaded & set(sass.registers(sources)):
            fault(f"a load waits for one before it: {kernel.text[i]}")
        if i in places:
            wide = re.match(r"LDG\.E(\.64|\.128)?\b", kernel.opcode[i])
            if not wide or (wide[1] or "") != suffix:
                fault(f"{kernel.opcode[i]} is not {4 * words} bytes wide")
            start = sass.registers(target)[-1]
            loaded |= set(range(start, start + words))
    if len(loaded) != ilp * words:
        fault("loads share registers")
    if not kernel.at(("ISETP", "LOP3"), (places[-1], last)):
        fault("no address depends on what was loaded")

def check_chains(fault, kernel, places, first, last, ilp):
    if len(places) != 1024:
        return fault(f"{len(places)} multiply-adds instead of 1024 in the loop")
    chains = {}
    for i in places:
        operands = sass.registers(kernel.code[i])
        if len(operands) != 4 or operands[0] != operands[1] or len(set(operands)) != 2:
            return fault(f"not a chain of two registers: {kernel.text[i]}")
        chains[operands[0]] = chains.get(operands[0], 0) + 1
    if sorted(chains.values()) != [1024 // ilp] * ilp:
        fault(f"{len(chains)} chains of {set(chains.values())} instead of {ilp}")
    if kernel.count("ATOMG.E.INC") != 2 or kernel.at("ATOMG.E.INC", (first, last)):
        fault("a ticket is not asked for once before the loop of a ticket and once before all")
    if not any(i > last for i in kernel.at("SHFL.IDX")):
        fault("the next ticket is not waited for after the loop")

for kernel, kind in sass.kernels(sys.argv[1], r"memoryI(j|5uint2|5uint4)Li(\d)E|arithmeticILi(\d)E"):
    found += 1
    fault = faults.of(kernel.name)
    if kernel.spills:
        fault("registers are spilled")
    places = kernel.at("LDG" if kind[1] else "FFMA")
    loops = kernel.around(places)
    if not loops:
        fault("no loop round the operations")
        continue
    first, last = max(loops)
    if kind[1]:
        check_loads(fault, kernel, places, last, kind[1], int(kind[2]))
    else:
        check_chains(fault, kernel, places, first, last, int(kind[3]))
if found != 16:
    faults.add("kernels", f"{found} found instead of 16")
faults.finish(f"{found} kernels are what they should be")
END
