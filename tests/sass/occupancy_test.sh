#!/usr/bin/env bash
# The machine code of `occupancy` is what its text says: a compute kernel has its 1024
# multiply-adds and one loop round them, a latency kernel its loads inside its loop, all in
# flight together, with the next address behind them, each takes its tickets with one instruction that nobody
# waits for at once, and nothing is spilled.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/occupancy/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.search(r"(compute|latency)ILi(\d+)ELi(\d+)E", name)
    if not kind:
        continue
    kernels += 1
    work, ilp = kind[1], int(kind[3])
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";") for l in lines]
    def fault(words):
        faults.append(f"{name}: {words}")
    for spill in ("LDL", "STL"):
        if any(o.startswith(spill) for o in opcode):
            fault(f"{spill}: registers are spilled")
    under = "FFMA" if work == "compute" else "LDG"
    places = [i for i, o in enumerate(opcode) if o.startswith(under)]
    wanted = 1024 if work == "compute" else ilp
    if len(places) != wanted:
        fault(f"{len(places)} {under} instead of {wanted}")
        continue
    # The loop: the innermost backward branch over all of them.
    loops = [(labels[t[1]], i) for i, l in enumerate(lines) if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels]
    loops = [(a, b) for a, b in loops if a < places[0] and b > places[-1]]
    if not loops:
        fault(f"no loop round the {under}")
        continue
    first, last = max(loops)
    atomics = [i for i, o in enumerate(opcode) if o.startswith("ATOMG.E.INC")]
    if len(atomics) != 2 or any(first <= i <= last for i in atomics):
        fault("a ticket is not asked for once before the loop of a ticket and once before all")
    waits = [i for i, o in enumerate(opcode) if o.startswith("SHFL.IDX")]
    if not any(i > last for i in waits):
        fault("the next ticket is not waited for after the loop")
    # All loads of a step are on their way before the first value is needed.
    loaded = set()
    for line, name_ in zip(lines[places[0]:places[-1] + 1], opcode[places[0]:places[-1] + 1]):
        registers = re.findall(r"\bR\d+\b", line)
        if work == "latency" and loaded & set(registers[1:] if name_.startswith("LDG") else registers):
            fault(f"needs what was loaded before all is: {line}")
        loaded |= set(registers[:1]) if name_.startswith("LDG") else set()
    if work == "latency" and not any(o.startswith(("ISETP", "LOP3")) for o in opcode[places[-1]:last]):
        fault("no address depends on what was loaded")
if kernels < 73:
    faults.append(f"only {kernels} kernels found")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
