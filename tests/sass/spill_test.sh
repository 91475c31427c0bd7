#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `spill` is what the law's table says: for each cap and use the local
# loads and stores of the loop, those round it, and how many of them are wide; the frame.
# The loop has its 96 multiply-adds, with registers enough each in a chain of its own
# (use=changed). Where the law knows of no spill there is none.
set -u
: "${UBENCH:?the program to test}" "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
nvcc --version | grep -q "release 13\.0," || { echo "SKIP: the law knows the machine code of nvcc 13.0 only"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/spill/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
"$UBENCH" run spill --cap all --use all --warps 16 --trips 1,2 --device model:h200 -f json >"$work/law.json" || exit 1
python3 - "$work/kernel.sass" "$work/law.json" <<'END'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
law, frames = {}, {}
for point in json.load(open(sys.argv[2], encoding="utf-8"))["ubench"]["points"]:
    axes, counters = point["axes"], point["counters"]
    warps = counters["warps_launched"]["predicted"]
    keys = "local_loads", "local_stores", "local_load_sectors", "local_store_sectors"
    law[int(axes["cap"]), axes["use"], axes["trips"]] = [counters[key]["predicted"] // warps for key in keys]
    frames[int(axes["cap"]), axes["use"]] = point["metrics"]["local_bytes"]["value"]
faults, kernels = [], 0
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.match(r"_Z5spillILi(\d+)ELi([01])E", name)
    if not kind:
        continue
    kernels += 1
    cap, use = int(kind[1]), ("changed", "read")[int(kind[2])]
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";") for l in lines]
    fma = [i for i, o in enumerate(opcode) if o.startswith("FFMA")]
    loops = [(labels[t[1]], i) for i, l in enumerate(lines) if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels]
    loops = [(a, b) for a, b in loops if a < fma[0] and b > fma[-1]]
    def fault(words):
        faults.append(f"cap {cap}, use={use}: {words}")
    if len(fma) != 96 or len(loops) != 1:
        fault(f"{len(fma)} multiply-adds in {len(loops)} loops, not 96 in one")
        continue
    first, last = loops[0]
    def count(kind, inside, wide=""):
        return sum(o.startswith(kind) and wide in o and (first <= i <= last) == inside for i, o in enumerate(opcode))
    if any(re.match(r"@.*(LDL|STL)", l) for l in lines) or any(".128" in o for o in opcode if o[:3] in ("LDL", "STL")):
        fault("a local access is predicated, or 16 bytes wide")
    if count("LDL", True, ".64") + count("STL", True, ".64"):
        fault("a local access of the loop is wide")
    found = {trips: [count(k, False) + trips * count(k, True) for k in ("LDL", "STL")] for trips in (1, 2)}
    for trips, (loads, stores) in found.items():
        found[trips] += [4 * (loads + count("LDL", False, ".64")), 4 * (stores + count("STL", False, ".64"))]
        if found[trips] != law[cap, use, trips]:
            fault(f"{trips} trips have loads, stores and their sectors {found[trips]}, the law says {law[cap, use, trips]}")
    frame = [int(m[1], 16) for l in lines if (m := re.match(r"(?:VIADD|IADD3) R1, R1, (-?0x[0-9a-f]+)", l))]
    frame = max([-f if f < 0 else 2**32 - f for f in frame if f < 0 or f > 2**31], default=0)
    if frame != frames[cap, use]:
        fault(f"the frame has {frame} bytes, the law says {frames[cap, use]}")
    chains = len({re.search(r"FFMA (R\d+),", lines[i])[1] for i in fma})
    if cap == 128 and use == "changed" and chains != 96:
        fault(f"{chains} chains")
if kernels != 28:
    faults.append(f"only {kernels} kernels found")
print("\n".join(faults[:20]) or f"{kernels} kernels spill what the law says")
sys.exit(1 if faults else 0)
END
