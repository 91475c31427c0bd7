#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of bank_conflict: between the two readings of the clock stand the
# eight accesses that the rule claims, of the width that it claims, in a loop, and no
# other access to shared memory; nothing is spilled. ptxas may unroll the loop, so they
# may be eight times as many iterations. Needs cuobjdump (and nvdisasm, which it calls)
# of the CUDA Toolkit.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import sass, sys

expected = {}  # of template arguments <op, words>: the instruction
for words, width, matrices in ((1, "", ""), (2, ".64", ".2"), (4, ".128", ".4")):
    expected[0, words] = f"LDS{width}"
    expected[1, words] = f"STS{width}"
    expected[2, words] = f"LDSM.16.M88{matrices}"

seen, faults = set(), sass.Faults()
for kernel, kind in sass.kernels(sys.argv[1], r"^_Z8conflictILi(\d)ELi(\d)E"):
    arguments = int(kind[1]), int(kind[2])
    fault, want = faults.of(f"{kernel.arch} {arguments}"), expected[arguments]
    if len(kernel.clocks) != 2:
        fault(f"{len(kernel.clocks)} readings of the clock")
        continue
    start, end = kernel.clocks
    accesses = kernel.at(("LDS.", "STS.", "LDSM.", "ATOMS."), (start, end))
    others = {name for i in accesses if (name := kernel.opcode[i].replace("LDS.U", "LDS")) != want}
    if others or not accesses or len(accesses) % 8:
        fault(f"{len(accesses)} accesses, not eight or a multiple, or others than {want}: {others}")
        continue
    # loops: over whole iterations
    inside = [sum(a <= i < b for i in accesses) for a, b in kernel.loops if start < b < end]
    if not inside or any(count == 0 or count % 8 for count in inside):
        fault(f"accesses in the loops: {inside}, not eight or a multiple")
    if kernel.spills:
        fault("registers are spilled")
    seen.add(arguments)
if seen != set(expected):
    faults.add("kernels", f"only {sorted(seen)} of nine were found in order")
faults.finish("nine kernels have what they claim")
END
