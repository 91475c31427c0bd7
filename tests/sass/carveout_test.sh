#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `carveout` is what its text says: between the two readings of the
# clock stand sixteen loads, plain ones or past L1, each with an address that has the value
# of the load before in it, and the last value is there before the clock is read again;
# nothing else goes to memory, nothing is spilled, and the registers leave room for 16 blocks.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/carveout/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import sass, sys
faults, found = sass.Faults(), 0
for kernel, kind in sass.kernels(sys.argv[1], r"walkILi(\d)ELi(\d)E"):
    found += 1
    plain = kind[2] == "0"
    fault = faults.of(kernel.name)
    if kernel.spills:
        fault("registers are spilled")
    most = max(r for code in kernel.code for r in sass.registers(code))
    if most >= 32:
        fault(f"{most + 1} registers")
    if len(kernel.clocks) != 2:
        fault(f"{len(kernel.clocks)} readings of the clock")
        continue
    start, end = kernel.clocks
    loads = kernel.at("LDG", (start, end))
    wanted = "LDG.E" if plain else "LDG.E.STRONG.GPU"
    if len(loads) != 16 or any(kernel.opcode[i] != wanted for i in loads):
        fault(f"{len(loads)} loads between the readings, {set(kernel.opcode[i] for i in loads)}, not 16 {wanted}")
        continue
    if kernel.at(("LD", "ST", "ATOM", "RED"), (start, end)) != loads:
        fault("another access between the readings")
    if not any(start < a and b < end for a, b in kernel.around(loads)):
        fault("no loop round the loads")
    # What each load brings must be used before the next one is issued, and the last before the clock.
    for at, until in zip(loads, loads[1:] + [end]):
        value = sass.registers(kernel.code[at])[0]
        uses = [c for c in kernel.code[at + 1:until] if value in sass.registers(c.split(",", 1)[-1])]
        chained = until == end or any(c.startswith("LOP3") for c in uses)
        if not uses or not chained:
            fault(f"the load into R{value} is not waited for")
            break
if found != 4:
    faults.add("kernels", f"{found} found, not four")
faults.finish("four kernels are what they should be")
END
