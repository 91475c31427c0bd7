#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of sync: each loop has as many barriers (shuffles, votes, fences) as the rule
# divides by, the first twice as many as the second, with nothing of a checked launch between
# them; __syncwarp() of a warp that has not parted is a NOP; where a barrier is left out there
# is none. Needs cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import sass, sys

# Of each kernel: the instructions of one operation, in order, and how many operations stand in
# the first loop (the second has half as many). What else may stand between them: `between`.
GRID = ["BAR.SYNC.DEFER_BLOCKING", "MEMBAR.ALL.GPU", "ATOM.E.ADD.STRONG.GPU", "LD.E.STRONG.GPU", "BAR.SYNC.DEFER_BLOCKING"]
operations = {
    "_Z11synchroniseILi0ELb1E": (["BAR.SYNC.DEFER_BLOCKING"], 128),
    "_Z11synchroniseILi1ELb1E": (["BAR.SYNC.DEFER_BLOCKING"], 128),
    "_Z11synchroniseILi2ELb1E": (["NOP"], 64),
    "_Z11synchroniseILi3ELb1E": (["SHFL.IDX"], 32),
    "_Z11synchroniseILi4ELb1E": (["VOTE.ANY"], 32),
    "_Z11synchroniseILi5ELb1E": (["MEMBAR.ALL.GPU", "UCGABAR_ARV", "UCGABAR_WAIT"], 16),
    "_Z11synchroniseILi6ELb1E": (["UCGABAR_ARV", "UCGABAR_WAIT"], 16),
    "_Z11synchroniseILi7ELb1E": (GRID, 8),
    "_Z5fenceILi8E": (["STG.E", "MEMBAR.SC.CTA"], 16),
    "_Z5fenceILi9E": (["STG.E", "MEMBAR.SC.GPU"], 16),
    "_Z5fenceILi10E": (["STG.E", "MEMBAR.SC.SYS"], 16),
}
left_out = ["_Z11synchroniseILi0ELb0E", "_Z11synchroniseILi1ELb0E", "_Z11synchroniseILi5ELb0E", "_Z11synchroniseILi7ELb0E"]
between = {"_Z11synchroniseILi0ELb1E": set(), "_Z11synchroniseILi2ELb1E": set(), "_Z11synchroniseILi3ELb1E": set(),
           "_Z11synchroniseILi4ELb1E": {"LOP3.LUT"}}
# Of several architectures the last, and newest, counts: barriers of clusters begin with sm_90.
found = {name[1]: kernel for kernel, name in sass.kernels(sys.argv[1], "^(" + "|".join([*operations, *left_out]) + ")")}
faults = sass.Faults()


def sections(kernel):
    """What lies between two readings of the clock, without the loops in which a party is late."""
    return [kernel.opcode[a + 1:b] for a, b in zip(kernel.clocks, kernel.clocks[1:])]


for name in {*operations, *left_out} - found.keys():
    faults.add(name, "not found")
for name, kernel in found.items():
    if name in left_out:
        if any(word.startswith(("BAR", "UCGABAR", "MEMBAR")) for section in sections(kernel) for word in section):
            faults.add(name, "a barrier that should be left out")
        continue
    operation, count = operations[name]
    loops = []
    for section in sections(kernel):
        words = [word for word in section if word in operation]
        repeats = len(words) // len(operation)
        if repeats > 2 and words[:repeats * len(operation)] == operation * repeats:
            loops.append(repeats)
            if name in between:
                first = section.index(operation[0])
                last = len(section) - 1 - section[::-1].index(operation[0])
                strangers = set(section[first:last]) - set(operation) - between[name]
                if strangers:
                    faults.add(name, f"{sorted(strangers)} between the operations")
    faults.expect(name, f"loops of {' '.join(operation)}", loops, [count, count // 2])
faults.finish(f"{len(operations)} kernels have the barriers that they claim, {len(left_out)} have none")
END
