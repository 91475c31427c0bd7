#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of bank_conflict: between the two readings of the clock stand the
# eight accesses that the rule claims, of the width that it claims, in a loop, and no
# other access to shared memory; nothing is spilled. ptxas may unroll the loop, so they
# may be eight times as many iterations. Needs cuobjdump (and nvdisasm, which it calls)
# of the CUDA Toolkit.
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

expected = {}  # of template arguments <op, words>: the instruction
for words, width, matrices in ((1, "", ""), (2, ".64", ".2"), (4, ".128", ".4")):
    expected[0, words] = f"LDS{width}"
    expected[1, words] = f"STS{width}"
    expected[2, words] = f"LDSM.16.M88{matrices}"

seen, problems, function, code = set(), [], None, []


def check():
    if function is None:
        return
    want = expected[function]
    clocks = [i for i, (_, text) in enumerate(code) if "SR_CLOCKLO" in text]
    if len(clocks) != 2:
        problems.append(f"{function}: {len(clocks)} readings of the clock")
        return
    timed = code[clocks[0] : clocks[1]]
    accesses = [(at, text) for at, text in timed if re.match(r"(LDS|STS|LDSM|ATOMS)\b", text)]
    others = {name for _, text in accesses if (name := text.split()[0].replace("LDS.U", "LDS")) != want}
    if others or not accesses or len(accesses) % 8:
        problems.append(f"{function}: {len(accesses)} accesses, not eight or a multiple, or others than {want}: {others}")
        return
    # loops: branches back, over whole iterations
    inside = []
    for at, text in timed:
        target = re.search(r"\bBRA\b.*?0x([0-9a-f]+)", text)
        if target and int(target.group(1), 16) < at:
            inside.append(sum(int(target.group(1), 16) <= access < at for access, _ in accesses))
    if not inside or any(count == 0 or count % 8 for count in inside):
        problems.append(f"{function}: accesses in the loops: {inside}, not eight or a multiple")
    if any(re.match(r"(LDL|STL)\b", text) for _, text in code):
        problems.append(f"{function}: registers are spilled")
    seen.add(function)


for line in open(sys.argv[1]):
    start = re.search(r"Function : (\S+)", line)
    if start:
        check()
        name = re.match(r"_Z8conflictILi(\d)ELi(\d)E", start.group(1))
        function, code = (int(name.group(1)), int(name.group(2))) if name else None, []
        continue
    row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z].*?);", line)
    if row and function is not None:
        code.append((int(row.group(1), 16), row.group(2) + " "))
check()
if seen != set(expected):
    problems.append(f"only {sorted(seen)} of nine kernels were found in order")
print("\n".join(problems) or "nine kernels have what they claim")
sys.exit(bool(problems))
END
