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
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -Xptxas -v -cubin -o "$work/kernel.cubin" \
    "$UBENCH_SOURCE/micro/reduce/kernel.cu" 2>"$work/ptxas" || { cat "$work/ptxas"; exit 1; }
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" "$work/ptxas" "$UBENCH_SOURCE/micro/reduce/law.c" <<'END'
import collections, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
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
faults, seen = [], {}
ptxas = open(sys.argv[2], encoding="utf-8").read()
registers = {n: int(r) for n, r in re.findall(r"Compiling entry function '(\S+?)'.*?Used (\d+) registers", ptxas, re.S)}
# Of [type][16-byte loads], and of block phases, as the law has them.
law = open(sys.argv[3], encoding="utf-8").read()
known = re.findall(r"\[REDUCE_\w+\] = \{((?:\{\d+, \d+\}(?:, )?)+)\}", law)
known = [[int(n) for n in re.findall(r"\d+", row)] for row in known]
known_phases = [int(n) for n in re.search(r"phase_registers\[REDUCE_PHASES\] = \{([\d, ]+)\}", law)[1].split(",")]
if len(known) != len(names) or len(known_phases) != 6:
    faults.append("the law's registers were not found")
    known, known_phases = [[0] * 4] * len(names), [0] * 6
for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    kind = re.match(r"_Z(?P<what>6reduce|11block_phase)ILi(?P<variant>\d+)E(?P<type>[jf])(Li(?P<words>\d)E)?", name)
    if not kind:
        continue
    variant, type_, words = names[int(kind["variant"])], kind["type"], kind["words"]
    lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
    lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
    labels = {l.rstrip(":"): i for i, l in enumerate(lines) if l.startswith(".L_")}
    opcode = [re.sub(r"^@!?U?P\d+ ", "", l).split()[0].rstrip(";") for l in lines]
    family = [o.split(".")[0] for o in opcode]
    title = f"{kind['what'].lstrip('0123456789')} {variant} {type_} {words or ''}"
    def fault(what):
        faults.append(f"{title}: {what}")
    count = collections.Counter(f for f, l in zip(family, lines) if f in counted and not (f == "SHFL" and " PT, " not in l))
    want = wanted[variant]
    want = dict(want.get(type_, want))
    if kind["what"] == "11block_phase": # with the barrier before the start and that for using the memory again
        want = dict(want, BAR=want["BAR"] + 2, STG=2)
        want.pop("REDG")
        if opcode.count("CS2R") < 2:
            fault("the clock is not read twice")
    if dict(count) != want:
        fault(f"{dict(count)} instead of {want}")
    number = int(kind["variant"])
    should = known_phases[number] if kind["what"] == "11block_phase" else known[number][2 * (type_ == "f") + (words == "4")]
    if registers.get(name) != should:
        fault(f"{registers.get(name)} registers, not {should}, by which the law knows this code")
    if {"LDL", "STL"} & set(family):
        fault("registers are spilled")
    seen[title] = collections.Counter(family)
    bars = [i for i, f in enumerate(family) if f == "BAR"]
    back = [(labels[t[1]], i) for i, l in enumerate(lines) if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and t[1] in labels and labels[t[1]] < i]
    if want.get("STS") == 2 and want.get("LDS") == 3: # a tree: its step is the innermost loop with a barrier
        loops = [(a, b) for a, b in back if sum(a < i < b for i in bars) == 1 and sum(family[i] == "LDS" for i in range(a, b)) == 2]
        if not loops:
            fault("no loop of one step")
            continue
        first, last = loops[0]
        inside = range(first + 1, last)
        if any(family[i] in ("BRA", "BSSY") for i in inside):
            fault("a branch inside a step")
        if not all(lines[i].startswith("@") for i in inside if family[i] in ("LDS", "STS")):
            fault("an access of a step without a predicate")
        if (sum(family[i] == "MUFU" for i in inside) == 1) != (variant == "shared_interleaved"):
            fault("divides, or does not")
    if variant == "atomic_shared" and type_ == "f":
        atoms = opcode.index("ATOMS.CAST.SPIN") if "ATOMS.CAST.SPIN" in opcode else -1
        if not any(a < atoms < b for a, b in back):
            fault("no loop of compare-and-swap")
    if variant == "atomic_thread" and (type_ == "f") != any(f == "REDG" and not l.startswith("@") for f, l in zip(family, lines)):
        fault("RED by one lane, or by all of them")
    if words and variant not in ("reuse", "missing_barrier"):
        wide = "LDG.E.128.CONSTANT" if words == "4" else "LDG.E.CONSTANT"
        if not any(sum(opcode[i] == wide for i in range(a, b)) == 4 for a, b in back):
            fault(f"no loop with four {wide}")
for type_ in "jf":
    for words in "14":
        with_, without = (seen.get(f"reduce {v} {type_} {words}") for v in ("reuse", "missing_barrier"))
        if not with_ or not without or with_["BAR"] - without["BAR"] != 1:
            faults.append(f"missing_barrier {type_} {words}: not one barrier less")
if len(seen) != 2 * (12 + 11) + 6 + 5:
    faults.append(f"{len(seen)} kernels found")
print("\n".join(faults[:20]) or f"{len(seen)} kernels are what they should be")
sys.exit(1 if faults else 0)
END
