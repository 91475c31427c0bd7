#!/usr/bin/env bash
# The machine code of `grid` is what its text says: a round of multiply-adds is one chain
# of 1024 of them, in which each needs the one before, and a branch back; a round of loads
# has its four in flight before the first is waited for, with the next addresses behind
# them; nothing is spilled, and no kernel has more than the 32 registers that the law takes.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -Xptxas -v -cubin -o "$work/kernel.cubin" \
    "$UBENCH_SOURCE/micro/grid/kernel.cu" 2>"$work/registers" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" "$work/registers" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
for name, registers in re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", open(sys.argv[2]).read(), re.S):
    if int(registers) > 32:
        faults.append(f"{name}: {registers} registers")
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.search(r"(multiply_add|load)(?=j|PK5uint4)", name)
    if not kind:
        continue
    kernels += 1
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";") for l in lines]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL")) for o in opcode):
        fault("registers are spilled")
    under = "FFMA" if kind[1] == "multiply_add" else "LDG"
    places = [i for i, o in enumerate(opcode) if o.startswith(under)]
    wanted = 1024 if under == "FFMA" else 4
    if len(places) != wanted:
        fault(f"{len(places)} {under} instead of {wanted}")
        continue
    loops = [(labels[t[1]], i) for i, l in enumerate(lines) if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels]
    loops = [(a, b) for a, b in loops if a < places[0] and b > places[-1]]
    if not loops:
        fault(f"no loop round the {under}")
        continue
    first, last = max(loops)
    inside = opcode[first + 1:last + 1]
    if under == "FFMA":
        chain = {re.match(r"(?:@\S+ )?FFMA (R\d+), (R\d+),", lines[i]).groups() for i in places}
        if len(chain) != 1 or len(set(next(iter(chain)))) != 1:
            fault(f"not one chain: {sorted(chain)[:3]}")
        if len(inside) > 1024 + 4:
            fault(f"{len(inside)} instructions in a round")
        continue
    loaded = [re.search(r"LDG\S* (R\d+)", lines[i])[1] for i in places]
    if not all("LDG.E.128" in lines[i] for i in places) or len(set(loaded)) != 4:
        fault("the loads are not 16 bytes wide, or share their registers")
    for i in range(places[0] + 1, places[-1]):
        for first_register in loaded[:sum(p < i for p in places)]:
            group = {f"R{int(first_register[1:]) + k}" for k in range(4)}
            if group & set(re.findall(r"\bR\d+\b", lines[i].split(" ", 1)[1])) and not opcode[i].startswith("LDG"):
                fault(f"waits for a load before all are on their way: {lines[i]}")
    if not any(o.startswith(("ISETP", "LOP3")) for o in opcode[places[-1]:last]):
        fault("no address depends on what was loaded")
    if sum(o.startswith("ATOMG.E.ADD") for o in opcode) != 1:
        fault("a chunk is not asked for once")
if kernels != 2:
    faults.append(f"{kernels} kernels found instead of 2")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
