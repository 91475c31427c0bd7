#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `reduce`: each variant has the shuffles, REDUX, barriers, accesses of
# shared memory and atomics that the law counts; `missing_barrier` has one barrier less than
# `reuse` and is the same otherwise; no tree has a branch that could diverge in its step, and
# only the one with the remainder divides; whole-number atomics of a warp have become one, those
# of floats in shared memory a loop; four loads are on their way at a time; nothing is spilled; and
# registers are those by which the law knows this code.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/reduce/kernel.cu "$work/kernel.sass" -Xptxas -v
python3 - "$work/kernel.sass" "$UBENCH_SOURCE/micro/reduce/law.c" <<'END'
import collections, re, sass, sys
names = ("shared_interleaved shared_strided shared shuffle redux atomic_shared atomic_thread atomic_warp "
         "two_kernels last_block reuse missing_barrier").split()
# What is counted of a kernel, all else being equal: SHFL that no divergent warp takes, REDUX,
# BAR, LDS, STS, ATOMS, RED, ATOMG and STG. Of whole numbers (j) and floats (f).
tree = dict(BAR=2, LDS=3, STS=2, REDG=1)
two = dict(SHFL=10, BAR=1, LDS=1, STS=1)
rows = dict(SHFL=5, BAR=3, LDS=4, STS=2, REDG=1)
wanted = {"shared_interleaved": tree, "shared_strided": tree, "shared": tree, "shuffle": dict(two, REDG=1),
          "redux": dict(REDUX=2, BAR=1, LDS=1, STS=1, REDG=1), "two_kernels": dict(two, STG=1),
          "last_block": dict(SHFL=20, BAR=3, LDS=3, STS=3, ATOMG=1, STG=2),
          "atomic_shared": {"j": dict(REDUX=1, BAR=2, LDS=1, STS=1, ATOMS=1, REDG=1),
                            "f": dict(BAR=2, LDS=2, STS=1, ATOMS=1, REDG=1)},
          "atomic_thread": {"j": dict(REDUX=1, REDG=1), "f": dict(REDG=1)},
          "atomic_warp": {"j": dict(SHFL=5, REDUX=1, REDG=1), "f": dict(SHFL=5, REDG=1)},
          "reuse": rows, "missing_barrier": dict(rows, BAR=2)}
counted = {"SHFL", "REDUX", "BAR", "LDS", "STS", "ATOMS", "REDG", "ATOMG", "STG"}
faults, seen = sass.Faults(), {}
registers = sass.used_registers(sys.argv[1])
# Of [type][16-byte loads], and of block phases, as the law has them.
law = open(sys.argv[2], encoding="utf-8").read()
known = re.findall(r"\[REDUCE_\w+\] = \{((?:\{\d+, \d+\}(?:, )?)+)\}", law)
known = [[int(n) for n in re.findall(r"\d+", row)] for row in known]
known_phases = [int(n) for n in re.search(r"phase_registers\[REDUCE_PHASES\] = \{([\d, ]+)\}", law)[1].split(",")]
if len(known) != len(names) or len(known_phases) != 6:
    faults.add("law.c", "its registers were not found")
    known, known_phases = [[0] * 4] * len(names), [0] * 6

def check_tree(kernel, variant, fault):
    """The step of a tree is the innermost loop with a barrier."""
    loops = [loop for loop in kernel.loops if kernel.count("BAR.", loop) == 1 and kernel.count("LDS.", loop) == 2]
    if not loops:
        return fault("no loop of one step")
    first, last = loops[0]
    step = first, last - 1
    if kernel.at(("BRA.", "BSSY."), step):
        fault("a branch inside a step")
    if not all(kernel.text[i].startswith("@") for i in kernel.at(("LDS.", "STS."), step)):
        fault("an access of a step without a predicate")
    if (kernel.count("MUFU.", step) == 1) != (variant == "shared_interleaved"):
        fault("divides, or does not")

KERNELS = r"^_Z\d+(?P<what>reduce|block_phase)ILi(?P<variant>\d+)E(?P<type>[jf])(Li(?P<words>\d)E)?"
for kernel, kind in sass.kernels(sys.argv[1], KERNELS):
    what, number, type_, words = kind["what"], int(kind["variant"]), kind["type"], kind["words"]
    variant = names[number]
    title = f"{what} {variant} {type_} {words or ''}"
    fault = faults.of(title)
    count = collections.Counter(f for f, code in zip(kernel.family, kernel.code)
                                if f in counted and not (f == "SHFL" and " PT, " not in code))
    want = wanted[variant]
    want = dict(want.get(type_, want))
    should = known[number][2 * (type_ == "f") + (words == "4")]
    if what == "block_phase": # with the barrier before the start and that for using the memory again
        want = dict(want, BAR=want["BAR"] + 2, STG=2)
        want.pop("REDG")
        should = known_phases[number]
        if kernel.opcode.count("CS2R") < 2:
            fault("the clock is not read twice")
    if dict(count) != want:
        fault(f"{dict(count)} instead of {want}")
    if registers.get(kernel.name) != should:
        fault(f"{registers.get(kernel.name)} registers, not {should}, by which the law knows this code")
    if kernel.spills:
        fault("registers are spilled")
    seen[title] = collections.Counter(kernel.family)
    if want.get("STS") == 2 and want.get("LDS") == 3:
        check_tree(kernel, variant, fault)
    if variant == "atomic_shared" and type_ == "f":
        if not kernel.around([i for i, o in enumerate(kernel.opcode) if o == "ATOMS.CAST.SPIN"]):
            fault("no loop of compare-and-swap")
    by_all = any(not kernel.text[i].startswith("@") for i in kernel.at("REDG."))
    if variant == "atomic_thread" and (type_ == "f") != by_all:
        fault("RED by one lane, or by all of them")
    if words and variant not in ("reuse", "missing_barrier"):
        wide = "LDG.E.128.CONSTANT" if words == "4" else "LDG.E.CONSTANT"
        if not any(kernel.opcode[a:b].count(wide) == 4 for a, b in kernel.loops):
            fault(f"no loop with four {wide}")
for type_ in "jf":
    for words in "14":
        with_, without = (seen.get(f"reduce {v} {type_} {words}") for v in ("reuse", "missing_barrier"))
        if not with_ or not without or with_["BAR"] - without["BAR"] != 1:
            faults.add(f"missing_barrier {type_} {words}", "not one barrier less")
if len(seen) != 2 * (12 + 11) + 6 + 5:
    faults.add("kernels", f"{len(seen)} found")
faults.finish(f"{len(seen)} kernels are what they should be")
END
