#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of coalescing: each kernel has as many loads and stores as its access
# numbers, of the one width that it claims (a 16-byte access is one instruction), loads
# none that is dropped; a load-only kernel has the one store that is never reached; and
# nothing is spilled. Needs cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import re, sass, sys

WIDTHS = {0: ".U8", 1: ".U16", 2: "", 3: ".64", 4: ".128"}  # by log2 of the bytes
LOAD, STORE = 0, 1
AOS, SOA = 4, 5
seen, faults = set(), sass.Faults()
for kernel, found in sass.kernels(sys.argv[1], r"coalesceILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E"):
    log2_bytes, op, pattern, per_thread = arguments = tuple(map(int, found.groups()))
    seen.add(arguments)
    fault = faults.of(f"{kernel.arch} {1 << log2_bytes} bytes, op {op}, pattern {pattern}, {per_thread} a thread")
    for what, family in (("loads", "LDG"), ("stores", "STG")):
        accesses = [kernel.opcode[i] for i in kernel.at(f"{family}.")]
        wrong = {opcode for opcode in accesses if not opcode.startswith(f"{family}.E{WIDTHS[log2_bytes]}")
                 or (log2_bytes == 2 and re.search(r"\.(U8|U16|S8|S16|64|128)\b", opcode))}
        # the fields of a structure are a loop, which the compiler may unroll
        wanted = per_thread
        if what == "loads" and op == STORE:
            wanted = 0
        if what == "stores" and op == LOAD:
            wanted = 1
        loop = pattern in (AOS, SOA) and wanted == per_thread and not (what == "stores" and op == LOAD)
        enough = len(accesses) == wanted or (loop and accesses and len(accesses) % per_thread == 0)
        if wrong or not enough:
            fault(f"{len(accesses)} {what}, expected {wanted}; of another width: {sorted(wrong)}")
    if kernel.spills:
        fault("registers are spilled")
if len(seen) < 100:
    faults.add("kernels", f"only {len(seen)} found")
faults.finish(f"{len(seen)} kernels have the accesses that they claim, and no spill")
END
