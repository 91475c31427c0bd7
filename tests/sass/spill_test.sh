#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `spill` is what the law's table says: for each cap and use the local
# loads and stores of the loop, those round it, and how many of them are wide; the frame.
# The loop has its 96 multiply-adds, with registers enough each in a chain of its own
# (use=changed). Where the law knows of no spill there is none.
set -u
: "${UBENCH:?the program to test}"
. "$(dirname "$0")/lib.sh"
need nvcc
nvcc --version | grep -q "release 13\.0," || skip "the law knows the machine code of nvcc 13.0 only"
compile_kernel micro/spill/kernel.cu "$work/kernel.sass"
"$UBENCH" run spill --cap all --use all --warps 16 --trips 1,2 --device model:h200 -f json >"$work/law.json" || exit 1
python3 - "$work/kernel.sass" "$work/law.json" <<'END'
import json, re, sass, sys
law, frames = {}, {}
for point in json.load(open(sys.argv[2], encoding="utf-8"))["ubench"]["points"]:
    axes, counters = point["axes"], point["counters"]
    warps = counters["warps_launched"]["predicted"]
    keys = "local_loads", "local_stores", "local_load_sectors", "local_store_sectors"
    law[int(axes["cap"]), axes["use"], axes["trips"]] = [counters[key]["predicted"] // warps for key in keys]
    frames[int(axes["cap"]), axes["use"]] = point["metrics"]["local_bytes"]["value"]
faults, found = sass.Faults(), 0
for kernel, kind in sass.kernels(sys.argv[1], r"^_Z5spillILi(\d+)ELi([01])E"):
    found += 1
    cap, use = int(kind[1]), ("changed", "read")[int(kind[2])]
    fault = faults.of(f"cap {cap}, use={use}")
    fma = kernel.at("FFMA")
    loops = kernel.around(fma)
    if len(fma) != 96 or len(loops) != 1:
        fault(f"{len(fma)} multiply-adds in {len(loops)} loops, not 96 in one")
        continue
    def count(kind, inside, wide=""):
        inner = kernel.at(kind, loops[0])
        return sum(wide in kernel.opcode[i] and (i in inner) == inside for i in kernel.at(kind))
    if any(kernel.text[i].startswith("@") or ".128" in kernel.opcode[i] for i in kernel.spills):
        fault("a local access is predicated, or 16 bytes wide")
    if count("LDL", True, ".64") + count("STL", True, ".64"):
        fault("a local access of the loop is wide")
    for trips in (1, 2):
        loads, stores = (count(k, False) + trips * count(k, True) for k in ("LDL", "STL"))
        sectors = [4 * (loads + count("LDL", False, ".64")), 4 * (stores + count("STL", False, ".64"))]
        if [loads, stores, *sectors] != law[cap, use, trips]:
            fault(f"{trips} trips have loads, stores and their sectors {[loads, stores, *sectors]}, the law says {law[cap, use, trips]}")
    frame = [int(m[1], 16) for text in kernel.text if (m := re.match(r"(?:VIADD|IADD3) R1, R1, (-?0x[0-9a-f]+)", text))]
    frame = max([-f if f < 0 else 2**32 - f for f in frame if f < 0 or f > 2**31], default=0)
    if frame != frames[cap, use]:
        fault(f"the frame has {frame} bytes, the law says {frames[cap, use]}")
    chains = len({sass.registers(kernel.code[i])[0] for i in fma})
    if cap == 128 and use == "changed" and chains != 96:
        fault(f"{chains} chains")
if found != 28:
    faults.add("kernels", f"{found} found, not 28")
faults.finish(f"{found} kernels spill what the law says")
END
