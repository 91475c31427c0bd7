#!/usr/bin/env bash
# The machine code of `occupancy` is what its text says: a compute kernel has its 1024
# multiply-adds and one loop round them, a latency kernel its loads inside its loop, all in
# flight together, with the next address behind them, each takes its tickets with one instruction that nobody
# waits for at once, and nothing is spilled.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/occupancy/kernel.cu "$work/kernel.sass"
python3 - "$work/kernel.sass" <<'END'
import sass, sys
faults, found = sass.Faults(), 0
for kernel, kind in sass.kernels(sys.argv[1], r"(compute|latency)ILi(\d+)ELi(\d+)E"):
    found += 1
    work, ilp = kind[1], int(kind[3])
    fault = faults.of(kernel.name)
    if kernel.spills:
        fault("registers are spilled")
    under = "FFMA" if work == "compute" else "LDG"
    places = kernel.at(under)
    wanted = 1024 if work == "compute" else ilp
    if len(places) != wanted:
        fault(f"{len(places)} {under} instead of {wanted}")
        continue
    # The loop: the innermost over all of them.
    loops = kernel.around(places)
    if not loops:
        fault(f"no loop round the {under}")
        continue
    first, last = max(loops)
    if kernel.count("ATOMG.E.INC") != 2 or kernel.at("ATOMG.E.INC", (first, last)):
        fault("a ticket is not asked for once before the loop of a ticket and once before all")
    if not any(i > last for i in kernel.at("SHFL.IDX")):
        fault("the next ticket is not waited for after the loop")
    if work == "compute":
        continue
    # All loads of a step are on their way before the first value is needed.
    loaded = set()
    for i in range(places[0], places[-1] + 1):
        registers = sass.registers(kernel.code[i])
        if loaded & set(registers[1:] if i in places else registers):
            fault(f"needs what was loaded before all is: {kernel.text[i]}")
        if i in places:
            loaded.add(registers[0])
    if not kernel.at(("ISETP", "LOP3"), (places[-1], last)):
        fault("no address depends on what was loaded")
if found < 73:
    faults.add("kernels", f"only {found} found")
faults.finish(f"{found} kernels are what they should be")
END
