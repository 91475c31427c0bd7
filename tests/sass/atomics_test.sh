#!/usr/bin/env bash
# The machine code of `atomics` is what its text says. In global memory every add is one REDG, or
# one ATOMG where its value is used; in shared memory one ATOMS.ADD for 32-bit integers, one
# ATOMS.POPC.INC for the constant 1, and for all other types a loop of LDS, add and
# ATOMS.CAST.SPIN. No lanes are added up first, except by way=compiler: there REDUX adds them and
# one lane does the rest. A loop has four adds, and nothing is spilled.
# What the text says of code that the rule does not use is seen in a few kernels of its own.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/atomics/kernel.cu "$work/kernel.sass"
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
compile_kernel "$work/others.cu" "$work/others.sass"
python3 - "$work/kernel.sass" "$work/others.sass" <<'END'
import re, sass, sys
faults, found = sass.Faults(), 0
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

for kernel, parts in sass.kernels(sys.argv[1], r"add_allILi(\d)ELi(\d)E(j|y|f|d|7__half2)Lb([01])E"):
    found += 1
    shared, way, kind, used = parts[1] == "1", int(parts[2]), parts[3], parts[4] == "1"
    fault = faults.of(kernel.name)
    if kernel.spills or kernel.at("CALL"):
        fault("registers are spilled, or something is called")
    add, loops_itself = expected(shared, way, kind, used)
    places = [i for i, o in enumerate(kernel.opcode) if o == add]
    round_all = kernel.around(places)
    if len(places) != 4 or not round_all:
        fault(f"no loop of four {add}, but {len(places)}")
        continue
    first, last = max(round_all)
    atomics = [kernel.opcode[i] for i in kernel.at(ATOMIC, (first, last))]
    if atomics != [add] * 4:
        fault(f"the loop has {atomics}")
    gathered = [kernel.opcode[i] for i in kernel.at(AGGREGATES, (first, last))]
    if way == COMPILER:
        if not kernel.at("REDUX.SUM", (first, last)) or any(not re.match(r"@P\d ", kernel.text[i]) for i in places):
            fault(f"the lanes are not added up: {gathered}")
    elif gathered:
        fault(f"lanes are added up: {gathered}")
    for i in places:
        unused = re.search(r"ATOMS\S* RZ,", kernel.code[i]) is not None
        if add in ("ATOMS.ADD", "ATOMS.POPC.INC.32") and unused == used:
            fault(f"its value is {'not ' * used}used: {kernel.code[i]}")
        own = [(a, b) for a, b in kernel.around([i]) if a > first]
        if bool(own) != loops_itself:
            fault(f"{add} has {len(own)} loops of its own")
        elif own and way != CAS and not (kernel.at("LDS", own[-1]) and kernel.at(ADDERS[kind], own[-1])):
            fault(f"the loop round {add} is {kernel.opcode[own[-1][0]:own[-1][1]]}")
others = {kernel.name: kernel for kernel, _ in sass.kernels(sys.argv[2])}
for name, wanted, unwanted in (("halves", ("ATOM.E.ADD.F16x2", "ATOMS.CAST.SPIN"), "RED"), ("seen", ("REDUX.SUM", "REDG"), "SHFL"),
                               ("hidden", ("REDG",), "REDUX"), ("floats", ("REDG.E.ADD.F32",), "REDUX")):
    if name not in others:
        faults.add(name, "not found")
        continue
    for word in wanted:
        if not others[name].at(word):
            faults.add(name, f"no {word}")
    if others[name].at(unwanted):
        faults.add(name, unwanted)
if found != 26:
    faults.add("kernels", f"{found} found instead of 26")
faults.finish(f"{found} kernels are what they should be")
END
