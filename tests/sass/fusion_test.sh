#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `fusion`: element-wise, one load and one store of 16 bytes, and between
# them every step that the source has, in as many chains as there are floats; softmax, as many
# passes over global memory as a variant claims, each with four loads on their way, and a row
# that is kept is loaded once; attention, no access to global memory beyond the tiles.
# Exponentials are one MUFU.EX2 each; nothing is spilled.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" "$UBENCH_SOURCE/micro/fusion/kernel.cu" || exit 1
"$disassembler" -c "$work/kernel.cubin" >"$work/kernel.sass" || exit 1
python3 - "$work/kernel.sass" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
faults, found = [], set()

class Code:
    def __init__(self, section):
        lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in section.split("\n")]
        self.lines = [l for l in lines if l and not (l.startswith(".") and not l.startswith(".L_"))]
        self.opcode = [re.sub(r"^@!?U?P[0-9T]+ ", "", l).split()[0].rstrip(";") for l in self.lines]
        labels = {l.rstrip(":"): i for i, l in enumerate(self.lines) if l.startswith(".L_")}
        back = [(labels[t[1]], i) for i, l in enumerate(self.lines)
                if (t := re.search(r"BRA.*`\((\.L_x_\d+)\)", l)) and labels.get(t[1], i) < i]
        # loops that hold no other one, but for the endless one behind the end of the code
        self.loops = [(a, b) for a, b in back if b - a > 1 and not any(a <= c and d < b for c, d in back if (c, d) != (a, b))]
    def at(self, start, span=None):
        a, b = span or (0, len(self.opcode))
        return [i for i in range(a, b) if self.opcode[i].startswith(start)]
    def count(self, start, span=None):
        return len(self.at(start, span))
    def unrolled(self):
        """Loops over a row with four loads each; what is left of it has a loop with one."""
        return [l for l in self.loops if self.count("LDG", l) == 4]

def expect(name, what, got, wanted):
    if got != wanted:
        faults.append(f"{name}: {what}: {got} instead of {wanted}")

def all_wide(name, code, single=0):
    for op in ("LDG", "STG"):
        narrow = code.count(op) - code.count(op + ".E.128")
        expect(name, f"{op} that are not 16 bytes wide", narrow, single if op == "LDG" else 0)

def elementwise(name, code, work):
    all_wide(name, code)
    expect(name, "loads", code.count("LDG"), 1)
    expect(name, "stores", code.count("STG"), 1)
    # eight steps in a loop, and pieces of four, two and one: of four floats each
    expect(name, work, code.count(work), 4 * (8 + 4 + 2 + 1))
    expect(name, "loops", len(code.loops), 1)
    if len(code.loops) == 1:
        expect(name, work + " in the loop", code.count(work, code.loops[0]), 32)
    other = "MUFU" if work == "FFMA" else "FFMA"
    expect(name, other, code.count(other), 0)

def chain(name, code):
    """Every step of the loop works on what the step before gave: none is folded with another."""
    depth = {}
    for i in code.at("FFMA", code.loops[0]):
        target, source = re.findall(r"\bR\d+\b", code.lines[i])[:2]
        depth[target] = depth.pop(source, 0) + 1
    expect(name, "steps of each chain in the loop", sorted(depth.values()), [8] * 4)

def row(name, code, passes, exponentials, single=0, stores=True):
    all_wide(name, code, single)
    loops = code.unrolled()
    expect(name, "passes", len(loops), passes)
    for span, wanted in zip(loops, exponentials):
        expect(name, "MUFU.EX2 of a pass", code.count("MUFU.EX2", span), wanted)
        written = code.at("STG", span)
        if written and sum(i < written[0] for i in code.at("LDG", span)) != 4:
            faults.append(f"{name}: a store stands before a load of the same step")
    expect(name, "passes that store", sum(code.count("STG", l) == 4 for l in loops), int(stores))

def kept(name, code, groups):
    all_wide(name, code)
    expect(name, "loads", code.count("LDG"), groups)
    expect(name, "stores", code.count("STG"), groups)
    expect(name, "MUFU.EX2", code.count("MUFU.EX2"), 4 * groups)
    expect(name, "MUFU.RCP", code.count("MUFU.RCP"), 1)
    # the compiler waits for nobody before the last load is on its way
    first_shuffle = code.at("SHFL")[0]
    expect(name, "loads before the maximum", sum(i < first_shuffle for i in code.at("LDG")), groups)

def tiles(name, code, loads, exponentials, products):
    all_wide(name, code)
    expect(name, "loads", code.count("LDG"), loads)
    expect(name, "stores", code.count("STG"), 4)
    expect(name, "MUFU.EX2", code.count("MUFU.EX2"), exponentials)
    loops = [l for l in code.loops if code.count("FFMA", l) == 8 * 16]
    expect(name, "loops over a product of tiles, eight steps of 4 x 4 each", len(loops), products)

checks = {
    r"_Z11elementwiseI8fma_step": lambda n, c: (elementwise(n, c, "FFMA"), chain(n, c)),
    r"_Z11elementwiseI8exp_step": lambda n, c: elementwise(n, c, "MUFU.EX2"),
    r"_Z13split_maximum": lambda n, c: (all_wide_loads_only(n, c), expect(n, "passes", len(c.unrolled()), 1)),
    r"_Z9split_sum": lambda n, c: expect(n, "passes", len(c.unrolled()), 1),
    r"_Z12split_divide": lambda n, c: row(n, c, 1, [16], single=2),
    r"_Z12three_passes": lambda n, c: row(n, c, 3, [0, 16, 16]),
    r"_Z6online": lambda n, c: row(n, c, 2, [20, 16]),
    r"_Z6scores": lambda n, c: tiles(n, c, 8, 0, 1),
    r"_Z15weighted_values": lambda n, c: tiles(n, c, 8, 0, 1),
    r"_Z9attention": lambda n, c: tiles(n, c, 12, 20, 2),
}
for k in (1, 2, 4, 8, 16):
    checks[rf"_Z8kept_rowILi{k}E"] = lambda n, c, k=k: kept(n, c, k)

def all_wide_loads_only(name, code):
    expect(name, "loads that are not 16 bytes wide", code.count("LDG") - code.count("LDG.E.128"), 0)

for section in re.split(r"\.section\s+\.text\.", text)[1:]:
    name = section.split(",")[0]
    code = Code(section)
    if code.count("LDL") or code.count("STL"):
        faults.append(f"{name}: registers are spilled")
    for pattern, check in checks.items():
        if re.match(pattern, name):
            found.add(pattern)
            check(name, code)
for missing in set(checks) - found:
    faults.append(f"no kernel {missing}")
print("\n".join(faults[:30]) or f"{len(found)} kernels are what they should be")
sys.exit(1 if faults else 0)
END
