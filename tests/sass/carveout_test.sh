#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `carveout` is what its text says: between the two readings of the
# clock stand sixteen loads, plain ones or past L1, each with an address that has the value
# of the load before in it, and the last value is there before the clock is read again;
# nothing else goes to memory, nothing is spilled, and the registers leave room for 16 blocks.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/carveout/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.search(r"walkILi(\d)ELi(\d)E", name)
    if not kind:
        continue
    kernels += 1
    plain = kind[2] == "0"
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    code = [re.sub(r"^@!?U?P\d+ ", "", l) for l in lines]
    opcode = [l.split()[0].rstrip(";") for l in code]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL")) for o in opcode):
        fault("registers are spilled")
    registers = [int(n) for l in code for n in re.findall(r"\bR(\d+)\b", l)]
    if max(registers) >= 32:
        fault(f"{max(registers) + 1} registers")
    clocks = [i for i, l in enumerate(code) if "SR_CLOCKLO" in l]
    if len(clocks) != 2:
        fault(f"{len(clocks)} readings of the clock")
        continue
    timed = range(clocks[0], clocks[1])
    loads = [i for i in timed if opcode[i].startswith("LDG")]
    wanted = "LDG.E" if plain else "LDG.E.STRONG.GPU"
    if len(loads) != 16 or any(opcode[i] != wanted for i in loads):
        fault(f"{len(loads)} loads between the readings, {set(opcode[i] for i in loads)}, not 16 {wanted}")
        continue
    if any(re.match(r"(LD|ST|ATOM|RED)", opcode[i]) and i not in loads for i in timed):
        fault("another access between the readings")
    labels = {l.rstrip(":"): i for i, l in enumerate(code) if l.startswith(".L_")}
    if not any((t := re.search(r"BRA.*`\((\.L_x_\d+)\)", code[i])) and clocks[0] < labels.get(t[1], 0) < loads[0] for i in range(loads[-1], clocks[1])):
        fault("no loop round the loads")
    # What each load brings must be used before the next one is issued, and the last before the clock.
    for at, until in zip(loads, loads[1:] + [clocks[1]]):
        value = re.match(r"\S+ (R\d+),", code[at])[1]
        uses = [l for l in code[at + 1 : until] if value in re.findall(r"\bR\d+\b", l.split(",", 1)[-1])]
        chained = until == clocks[1] or any(l.startswith("LOP3") for l in uses)
        if not uses or not chained:
            fault(f"the load into {value} is not waited for")
            break
if kernels != 4:
    faults.append(f"{kernels} kernels found, not four")
print("\n".join(faults) or "four kernels are what they should be")
sys.exit(1 if faults else 0)
END
