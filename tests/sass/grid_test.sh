#!/usr/bin/env bash
# The machine code of `grid` is what its text says: a round of multiply-adds is one chain
# of 1024 of them, in which each needs the one before, and a branch back; a round of loads
# has its four in flight before the first is waited for, with the next addresses behind
# them; nothing is spilled, and no kernel has more than the 32 registers that the law takes.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/grid/kernel.cu "$work/kernel.sass" -Xptxas -v
python3 - "$work/kernel.sass" <<'END'
import re, sass, sys
faults, found = sass.Faults(), 0
for name, registers in sass.used_registers(sys.argv[1]).items():
    if registers > 32:
        faults.add(name, f"{registers} registers")
for kernel, kind in sass.kernels(sys.argv[1], r"(multiply_add|load)(?=j|PK5uint4)"):
    found += 1
    fault = faults.of(kernel.name)
    if kernel.spills:
        fault("registers are spilled")
    under = "FFMA" if kind[1] == "multiply_add" else "LDG"
    places = kernel.at(under)
    wanted = 1024 if under == "FFMA" else 4
    if len(places) != wanted:
        fault(f"{len(places)} {under} instead of {wanted}")
        continue
    loops = kernel.around(places)
    if not loops:
        fault(f"no loop round the {under}")
        continue
    first, last = max(loops)
    if under == "FFMA":
        chain = {m[1] if (m := re.match(r"FFMA (R\d+), \1,", kernel.code[i])) else kernel.code[i] for i in places}
        if len(chain) != 1:
            fault(f"not one chain: {sorted(chain)[:3]}")
        if last - first + 1 > 1024 + 4:
            fault(f"{last - first + 1} instructions in a round")
        continue
    loaded = [sass.registers(kernel.code[i])[0] for i in places]
    if any(not kernel.opcode[i].startswith("LDG.E.128") for i in places) or len(set(loaded)) != 4:
        fault("the loads are not 16 bytes wide, or share their registers")
    for i in range(places[0] + 1, places[-1]):
        for start in loaded[:sum(p < i for p in places)]:
            if set(range(start, start + 4)) & set(sass.registers(kernel.code[i])) and i not in places:
                fault(f"waits for a load before all are on their way: {kernel.text[i]}")
    if not kernel.at(("ISETP", "LOP3"), (places[-1], last)):
        fault("no address depends on what was loaded")
    if kernel.count("ATOMG.E.ADD") != 1:
        fault("a chunk is not asked for once")
if found != 2:
    faults.add("kernels", f"{found} found instead of 2")
faults.finish(f"{found} kernels are what they should be")
END
