#!/usr/bin/env bash
# The machine code of `block_size` is what its text says: a thread has two loads, both on
# their way before the first is waited for, one store, no loop; an empty kernel is empty;
# no kernel has more than the 32 registers that the law takes.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -Xptxas -v -cubin -o "$work/kernel.cubin" \
    "$UBENCH_SOURCE/micro/block_size/kernel.cu" 2>"$work/registers" || exit 1
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
    kind = re.search(r"3addI(j|5uint4)E|7nothingv", name)
    if not kind:
        continue
    kernels += 1
    code = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";")
            for l in re.findall(r"/\*[0-9a-f]{4,}\*/\s+(.*?) ;", section)]
    code = code[:len(code) - code[::-1].index("EXIT")] # behind it stands padding
    memory = [o for o in code if o.startswith(("LD", "ST", "ATOM", "RED")) and not o.startswith("LDC")]
    width = ".128" if kind[1] == "5uint4" else ""
    wanted = [f"LDG.E{width}.CONSTANT"] * 2 + [f"STG.E{width}"] if kind[1] else []
    if memory != wanted:
        faults.append(f"{name}: {memory} instead of {wanted}")
    if any(o.startswith(("BRA", "BSSY", "CALL")) for o in code):
        faults.append(f"{name}: a branch")
    if not kind[1] and len(code) > 2:
        faults.append(f"{name}: {code}")
    loads = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(LDG\S* (R\d+),.*?LDG\S* R\d+, \S+) ;", section, re.S)
    if kind[1] and (len(loads) != 1 or len(re.findall(rf"\b{loads[0][1]}\b", loads[0][0])) != 1):
        faults.append(f"{name}: the first load is waited for before the second is on its way")
if kernels != 3:
    faults.append(f"{kernels} kernels found instead of 3")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
