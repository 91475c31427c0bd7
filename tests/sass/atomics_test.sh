#!/usr/bin/env bash
# The machine code of `atomics` is what its text says. In global memory every add is one REDG, or
# one ATOMG where its value is used; in shared memory one ATOMS.ADD for 32-bit integers, one
# ATOMS.POPC.INC for the constant 1, and for all other types a loop of LDS, add and
# ATOMS.CAST.SPIN. No lanes are added up first, except by way=compiler: there REDUX adds them and
# one lane does the rest. A loop has four adds, and nothing is spilled.
# What the text says of code that the rule does not use is seen in a few kernels of its own.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" \
    "$UBENCH_SOURCE/micro/atomics/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
cat >"$work/others.cu" <<'END'
#include <cuda_fp16.h>
extern "C" __global__ void halves(__half2 *sums, __half2 value)
{
    atomicAdd(sums + threadIdx.x, value);
}
extern "C" __global__ void seen(unsigned *sums, const unsigned *values, unsigned n)
{
    atomicAdd(sums + blockIdx.x * 3u % n, values[threadIdx.x]);
}
extern "C" __global__ void hidden(unsigned *sums, const unsigned *values, unsigned long long n)
{
    atomicAdd(sums + blockIdx.x * 3ull % n, values[threadIdx.x]);
}
extern "C" __global__ void floats(float *sums, const float *values, unsigned n)
{
    atomicAdd(sums + blockIdx.x * 3u % n, values[threadIdx.x]);
}
END
nvcc -std=c++17 -arch=sm_90a -cubin -o "$work/others.cubin" "$work/others.cu" || exit 1
"$disassembler" -c "$work/others.cubin" >"$work/others.sass" || exit 1
python3 - "$work/kernel.sass" "$work/others.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, kernels = [], 0
PLAIN, ONE, CAS, COMPILER, PRIVATE = range(5)
GLOBAL_ADD = {"j": "ADD", "y": "ADD.64", "f": "ADD.F32.FTZ.RN", "d": "ADD.F64.RN", "7__half2": "ADD.F16x2.RN"}
SHARED_ADD = {"j": "ATOMS.ADD", "f": "ATOMS.CAST.SPIN", "d": "ATOMS.CAST.SPIN.64", "y": "ATOMS.CAST.SPIN.64"}
ADDERS = {"f": "FADD", "d": "DADD", "y": "IADD"}
ATOMIC = ("ATOM", "RED.", "REDG")
AGGREGATES = ("REDUX", "VOTE", "POPC", "UPOPC", "MATCH", "SHFL", "FLO", "UFLO")

# The opcode of an add, and whether it is a loop of its own.
def expected(shared, way, kind, used):
    if way == CAS:
        return ("ATOMS.CAS" if shared else "ATOMG.E.CAS.STRONG.GPU"), True
    if shared or way == PRIVATE:
        return ("ATOMS.POPC.INC.32" if way == ONE else SHARED_ADD[kind]), kind != "j"
    return ("ATOMG" if used else "REDG") + ".E." + GLOBAL_ADD[kind] + ".STRONG.GPU", False

for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    parts = re.search(r"add_allILi(\d)ELi(\d)E(j|y|f|d|7__half2)Lb([01])E", name)
    if not parts:
        continue
    kernels += 1
    shared, way, kind, used = parts[1] == "1", int(parts[2]), parts[3], parts[4] == "1"
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    code = [re.sub(r"^@!?U?P\d+ ", "", l) for l in lines]
    opcode = [l.split()[0].rstrip(";") for l in code]
    def fault(words):
        faults.append(f"{name}: {words}")
    if any(o.startswith(("LDL", "STL", "CALL")) for o in opcode):
        fault("registers are spilled, or something is called")
    add, loops_itself = expected(shared, way, kind, used)
    places = [i for i, o in enumerate(opcode) if o == add]
    if way == PRIVATE and not loops_itself and len(places) != 4:
        fault(f"{len(places)} x {add}")
    loops = [(labels[t[1]], i) for i, l in enumerate(lines)
             if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels and labels[t[1]] < i]
    round_all = [(a, b) for a, b in loops if len(places) == 4 and a < places[0] and b > places[-1]]
    if not round_all:
        fault(f"no loop of four {add}, but {len(places)}")
        continue
    first, last = max(round_all)
    atomics = [o for o in opcode[first:last] if o.startswith(ATOMIC)]
    if atomics != [add] * 4:
        fault(f"the loop has {atomics}")
    gathered = [o for o in opcode[first:last] if o.startswith(AGGREGATES)]
    if way == COMPILER:
        if not any(o.startswith("REDUX.SUM") for o in gathered) or \
                any(not re.match(r"@P\d ", lines[i]) for i in places):
            fault(f"the lanes are not added up: {gathered}")
    elif gathered:
        fault(f"lanes are added up: {gathered}")
    for i in places:
        unused = re.search(r"ATOMS\S* RZ,", code[i]) is not None
        if add in ("ATOMS.ADD", "ATOMS.POPC.INC.32") and unused == used:
            fault(f"its value is {'not ' * used}used: {code[i]}")
        own = [(a, b) for a, b in loops if a < i < b and (a, b) != (first, last) and a > first]
        if bool(own) != loops_itself:
            fault(f"{add} has {len(own)} loops of its own")
        elif own and way != CAS:
            body = opcode[own[-1][0]:own[-1][1]]
            if not any(o.startswith("LDS") for o in body) or not any(o.startswith(ADDERS[kind]) for o in body):
                fault(f"the loop round {add} is {body}")
others = {section.split(",")[0]: section
          for section in re.split(r"\.section\s+\.text\.", open(sys.argv[2], encoding="utf-8").read())[1:]}
for name, wanted, unwanted in (("halves", ("ATOM.E.ADD.F16x2", "ATOMS.CAST.SPIN"), "RED"), ("seen", ("REDUX.SUM", "REDG"), "SHFL"),
                               ("hidden", ("REDG",), "REDUX"), ("floats", ("REDG.E.ADD.F32",), "REDUX")):
    for word in wanted:
        if word not in others[name]:
            faults.append(f"{name}: no {word}")
    if re.search(rf"\s{unwanted}", others[name]):
        faults.append(f"{name}: {unwanted}")
if kernels != 26:
    faults.append(f"{kernels} kernels found instead of 26")
print("\n".join(faults[:20]) or f"{kernels} kernels are what they should be")
sys.exit(1 if faults else 0)
END
