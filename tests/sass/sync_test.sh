#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of sync: each loop has as many barriers (shuffles, votes, fences) as the rule
# divides by, the first twice as many as the second, with nothing of a checked launch between
# them; __syncwarp() of a warp that has not parted is a NOP; where a barrier is left out there
# is none. Needs cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
set -u
: "${UBENCH:?the program to test}"
PATH=$PATH:/usr/local/cuda/bin
for tool in cuobjdump nvdisasm python3; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed" && exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cuobjdump -sass "$UBENCH" >"$scratch/sass" 2>"$scratch/err" || { echo "SKIP: $(head -n 1 "$scratch/err")" && exit 77; }
grep -q "Function :" "$scratch/sass" || { echo "SKIP: no machine code in $UBENCH (built without nvcc?)" && exit 77; }

python3 - "$scratch/sass" <<'END'
import re
import sys

# Of each kernel: the instructions of one operation, in order, and how many operations stand in
# the first loop (the second has half as many). What else may stand between them: `among`.
GRID = ["BAR.SYNC.DEFER_BLOCKING", "MEMBAR.ALL.GPU", "ATOM.E.ADD.STRONG.GPU", "LD.E.STRONG.GPU", "BAR.SYNC.DEFER_BLOCKING"]
kernels = {
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
code, name = {}, None
for line in open(sys.argv[1]):
    start = re.search(r"Function : (\S+)", line)
    if start:
        wanted = list(kernels) + left_out
        name = next((k for k in wanted if start.group(1).startswith(k)), None)
        if name:
            code[name] = []
        continue
    row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][^\s;]*)(.*?);", line)
    if row and name:
        code[name].append((row.group(2), row.group(3)))
problems = []


def sections(rows):
    """What lies between two readings of the clock, without the loops in which a party is late."""
    clocks = [i for i, (word, rest) in enumerate(rows) if "SR_CLOCKLO" in rest]
    return [[word for word, _ in rows[a + 1 : b]] for a, b in zip(clocks, clocks[1:])]


for name, (operation, count) in kernels.items():
    if name not in code:
        problems.append(f"{name}: not found")
        continue
    found = []
    for section in sections(code[name]):
        words = [word for word in section if word in operation]
        repeats = len(words) // len(operation)
        if repeats > 2 and words[: repeats * len(operation)] == operation * repeats:
            found.append(repeats)
            if name in between:
                first = section.index(operation[0])
                last = len(section) - 1 - section[::-1].index(operation[0])
                strangers = {w for w in section[first:last]} - set(operation) - between[name]
                if strangers:
                    problems.append(f"{name}: {sorted(strangers)} between the operations")
    if found != [count, count // 2]:
        problems.append(f"{name}: loops of {found}, not {[count, count // 2]}, of {' '.join(operation)}")
for name in left_out:
    if name not in code:
        problems.append(f"{name}: not found")
    elif any(len([w for w in s if re.match(r"BAR|UCGABAR|MEMBAR", w)]) > 0 for s in sections(code[name])):
        problems.append(f"{name}: a barrier that should be left out")
print("\n".join(problems) or f"{len(kernels)} kernels have the barriers that they claim, {len(left_out)} have none")
sys.exit(bool(problems))
END
