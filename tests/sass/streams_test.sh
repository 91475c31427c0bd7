#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `streams`: the kernel's loop is there, 64 multiply-adds of each of four
# chains with three instructions beside them, as the law counts them; it loads and stores 16
# bytes a thread and spills nothing; the kernel between segments does nothing at all.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/streams/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import re, sass, sys
faults, found = sass.Faults(), set()

def check_stage(kernel, end, fault):
    memory = [kernel.opcode[i] for i in kernel.at(("LDG", "STG"), (0, end))]
    if [o.split(".")[:3] for o in memory] != [["LDG", "E", "128"], ["STG", "E", "128"]]:
        fault(f"not one load and one store of 16 bytes: {memory}")
    loops = sorted((loop for loop in kernel.loops if loop[1] <= end), key=lambda loop: loop[1] - loop[0])
    sizes = [(kernel.opcode[a:b].count("FFMA"), b - a + 1) for a, b in loops]
    if sizes != [(4, 7), (256, 259)]:
        return fault(f"loops (multiply-adds, all) {sizes}, not (4, 7) and (256, 259)")
    chains = {}
    for i in kernel.at("FFMA.", loops[1]):
        same = re.match(r"FFMA (R\d+), \1, \1, (?:UR\d+|c\[)", kernel.text[i])
        if not same:
            fault(f"not x * x + c in one register: {kernel.text[i]}")
            break
        chains[same[1]] = chains.get(same[1], 0) + 1
    if sorted(chains.values()) != [64] * 4:
        fault(f"chains of {sorted(chains.values())} multiply-adds, not four of 64")
    outside = end + 1 - sum(size for _, size in sizes)
    if outside != 23:
        fault(f"{outside} instructions outside of both loops, not 23")

for kernel, _ in sass.kernels(sys.argv[1]):
    fault = faults.of(kernel.name)
    end = kernel.at("EXIT")[-1] # behind it stands padding
    if kernel.spills:
        fault("registers are spilled")
    if kernel.name.startswith("_Z7nothing"):
        found.add("nothing")
        if end != 1:
            fault(f"{end + 1} instructions, not 2: {kernel.opcode[:end + 1]}")
    if kernel.name.startswith("_Z5stage"):
        found.add("stage")
        check_stage(kernel, end, fault)
if found != {"stage", "nothing"}:
    faults.add("kernels", f"only {found} found")
faults.finish("the kernels are what they should be")
END
