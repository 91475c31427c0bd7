#!/usr/bin/env bash
# The machine code of `latency_hiding` is what its text says. A memory kernel has its loads
# in one loop, all in flight together: between the first and the last of a step nothing
# reads what one of them loaded, and the next address depends on them. An arithmetic kernel
# has its 1024 multiply-adds in one loop, as many chains as it says, each multiply-add with
# two registers to read (three may lie in one bank and take two cycles), and takes its
# tickets with one instruction that nobody waits for at once. Nothing is spilled.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" \
    "$UBENCH_SOURCE/micro/latency_hiding/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
WIDTHS = {"j": ("", 1), "5uint2": (".64", 2), "5uint4": (".128", 4)}

def registers(operands):
    return [int(n) for n in re.findall(r"\bR(\d+)\b", operands)]

def check_loads(fault, code, opcode, first, last, kind, ilp):
    suffix, words = WIDTHS[kind]
    places = [i for i, o in enumerate(opcode) if o.startswith("LDG")]
    if len(places) != ilp or any(not first < i < last for i in places):
        return fault(f"{len(places)} loads instead of {ilp} in the loop")
    loaded = set()
    for i in range(places[0], places[-1] + 1):
        target, _, sources = code[i].partition(",")
        if loaded & set(registers(sources)):
            fault(f"a load waits for one before it: {code[i]}")
        if i in places:
            wide = re.match(r"LDG\.E(\.64|\.128)?\b", opcode[i])
            if (wide[1] or "") != suffix:
                fault(f"{opcode[i]} is not {4 * words} bytes wide")
            start = registers(target)[-1]
            loaded |= set(range(start, start + words))
    if len(loaded) != ilp * words:
        fault("loads share registers")
    if not any(o.startswith(("ISETP", "LOP3")) for o in opcode[places[-1]:last]):
        fault("no address depends on what was loaded")

def check_chains(fault, code, opcode, first, last, ilp):
    places = [i for i, o in enumerate(opcode) if o.startswith("FFMA")]
    if len(places) != 1024 or any(not first < i < last for i in places):
        return fault(f"{len(places)} multiply-adds instead of 1024 in the loop")
    chains = {}
    for i in places:
        operands = [int(n) for n in re.findall(r"\bR(\d+)\b", code[i])]
        if len(operands) != 4 or operands[0] != operands[1] or len(set(operands)) != 2:
            return fault(f"not a chain of two registers: {code[i]}")
        chains[operands[0]] = chains.get(operands[0], 0) + 1
    if sorted(chains.values()) != [1024 // ilp] * ilp:
        fault(f"{len(chains)} chains of {set(chains.values())} instead of {ilp}")
    atomics = [i for i, o in enumerate(opcode) if o.startswith("ATOMG.E.INC")]
    if len(atomics) != 2 or any(first <= i <= last for i in atomics):
        fault("a ticket is not asked for once before the loop of a ticket and once before all")
    if not any(o.startswith("SHFL.IDX") for o in opcode[last:]):
        fault("the next ticket is not waited for after the loop")

for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    memory = re.search(r"memoryI(j|5uint2|5uint4)Li(\d)E", name)
    arithmetic = re.search(r"arithmeticILi(\d)E", name)
    if not memory and not arithmetic:
        continue
    kernels += 1
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    code = [re.sub(r"^@!?U?P\d+ ", "", l) for l in lines]
    opcode = [l.split()[0].rstrip(";") for l in code]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL")) for o in opcode):
        fault("registers are spilled")
    under = [i for i, o in enumerate(opcode) if o.startswith("LDG" if memory else "FFMA")]
    loops = [(labels[t[1]], i) for i, l in enumerate(lines)
             if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels]
    loops = [(a, b) for a, b in loops if under and a < under[0] and b > under[-1]]
    if not loops:
        fault("no loop round the operations")
        continue
    first, last = max(loops)
    if memory:
        check_loads(fault, code, opcode, first, last, memory[1], int(memory[2]))
    else:
        check_chains(fault, code, opcode, first, last, int(arithmetic[1]))
if kernels != 16:
    faults.append(f"{kernels} kernels found instead of 16")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
