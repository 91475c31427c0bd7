#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of `fusion`: element-wise, one load and one store of 16 bytes, and between
# them every step that the source has, in as many chains as there are floats; softmax, as many
# passes over global memory as a variant claims, each with four loads on their way, and a row
# that is kept is loaded once; attention, no access to global memory beyond the tiles.
# Exponentials are one MUFU.EX2 each; nothing is spilled.
set -u
. "$(dirname "$0")/lib.sh"
for file in elementwise softmax attention; do
    compile_kernel "micro/fusion/$file.cu" "$work/$file.sass"
done
cat "$work"/*.sass >"$work/kernels"
python3 - "$work/kernels" <<'END'
import re, sass, sys
faults, found = sass.Faults(), set()
expect = faults.expect

def inner_loops(kernel):
    return sass.innermost(kernel.loops)

def unrolled(kernel):
    """Loops over a row with four loads each; what is left of it has a loop with one."""
    return [loop for loop in inner_loops(kernel) if kernel.count("LDG", loop) == 4]

def all_wide(name, kernel, single=0):
    for op in ("LDG", "STG"):
        narrow = kernel.count(op) - kernel.count(op + ".E.128")
        expect(name, f"{op} that are not 16 bytes wide", narrow, single if op == "LDG" else 0)

def elementwise(name, kernel, work):
    all_wide(name, kernel)
    expect(name, "loads", kernel.count("LDG"), 1)
    expect(name, "stores", kernel.count("STG"), 1)
    # eight steps in a loop, and pieces of four, two and one: of four floats each
    expect(name, work, kernel.count(work), 4 * (8 + 4 + 2 + 1))
    loops = inner_loops(kernel)
    expect(name, "loops", len(loops), 1)
    if len(loops) == 1:
        expect(name, work + " in the loop", kernel.count(work, loops[0]), 32)
        if work == "FFMA":
            chain(name, kernel, loops[0])
    other = "MUFU" if work == "FFMA" else "FFMA"
    expect(name, other, kernel.count(other), 0)

def chain(name, kernel, loop):
    """Every step of the loop works on what the step before gave: none is folded with another."""
    depth = {}
    for i in kernel.at("FFMA", loop):
        target, source = sass.registers(kernel.code[i])[:2]
        depth[target] = depth.pop(source, 0) + 1
    expect(name, "steps of each chain in the loop", sorted(depth.values()), [8] * 4)

def row(name, kernel, passes, exponentials, single=0):
    all_wide(name, kernel, single)
    loops = unrolled(kernel)
    expect(name, "passes", len(loops), passes)
    for span, wanted in zip(loops, exponentials):
        expect(name, "MUFU.EX2 of a pass", kernel.count("MUFU.EX2", span), wanted)
        written = kernel.at("STG", span)
        if written and sum(i < written[0] for i in kernel.at("LDG", span)) != 4:
            faults.add(name, "a store stands before a load of the same step")
    expect(name, "passes that store", sum(kernel.count("STG", loop) == 4 for loop in loops), 1)

def kept(name, kernel, groups):
    all_wide(name, kernel)
    expect(name, "loads", kernel.count("LDG"), groups)
    expect(name, "stores", kernel.count("STG"), groups)
    expect(name, "MUFU.EX2", kernel.count("MUFU.EX2"), 4 * groups)
    expect(name, "MUFU.RCP", kernel.count("MUFU.RCP"), 1)
    # the compiler waits for nobody before the last load is on its way
    first_shuffle = kernel.at("SHFL")[0]
    expect(name, "loads before the maximum", sum(i < first_shuffle for i in kernel.at("LDG")), groups)

def tiles(name, kernel, loads, exponentials, products):
    all_wide(name, kernel)
    expect(name, "loads", kernel.count("LDG"), loads)
    expect(name, "stores", kernel.count("STG"), 4)
    expect(name, "MUFU.EX2", kernel.count("MUFU.EX2"), exponentials)
    loops = [loop for loop in inner_loops(kernel) if kernel.count("FFMA", loop) == 8 * 16]
    expect(name, "loops over a product of tiles, eight steps of 4 x 4 each", len(loops), products)

def split_maximum(name, kernel):
    expect(name, "loads that are not 16 bytes wide", kernel.count("LDG") - kernel.count("LDG.E.128"), 0)
    expect(name, "passes", len(unrolled(kernel)), 1)

checks = {
    r"_Z11elementwiseI8fma_step": lambda n, k: elementwise(n, k, "FFMA"),
    r"_Z11elementwiseI8exp_step": lambda n, k: elementwise(n, k, "MUFU.EX2"),
    r"_Z13split_maximum": split_maximum,
    r"_Z9split_sum": lambda n, k: expect(n, "passes", len(unrolled(k)), 1),
    r"_Z12split_divide": lambda n, k: row(n, k, 1, [16], single=2),
    r"_Z12three_passes": lambda n, k: row(n, k, 3, [0, 16, 16]),
    r"_Z6online": lambda n, k: row(n, k, 2, [20, 16]),
    r"_Z6scores": lambda n, k: tiles(n, k, 8, 0, 1),
    r"_Z15weighted_values": lambda n, k: tiles(n, k, 8, 0, 1),
    r"_Z9attention": lambda n, k: tiles(n, k, 12, 20, 2),
}
for groups in (1, 2, 4, 8, 16):
    checks[rf"_Z8kept_rowILi{groups}E"] = lambda n, k, groups=groups: kept(n, k, groups)

for kernel, _ in sass.kernels(sys.argv[1]):
    if kernel.spills:
        faults.add(kernel.name, "registers are spilled")
    for pattern, check in checks.items():
        if re.match(pattern, kernel.name):
            found.add(pattern)
            check(kernel.name, kernel)
for missing in set(checks) - found:
    faults.add(missing, "no such kernel")
faults.finish(f"{len(found)} kernels are what they should be")
END
