#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of latency: between the two readings of the clock stand the links that
# the rule claims, of the width that it claims, each with the result of the one before,
# and nothing else that takes longer than a link hides; nothing is spilled. Needs
# cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
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

# Of each kernel: the link, how many stand between which two readings of the clock.
kernels = {
    "_Z12chase_globalIL3how0E": ("LDG.E.64", [16]),
    "_Z12chase_globalIL3how1E": ("LDG.E.64.STRONG.GPU", [16]),
    "_Z12chase_globalIL3how2E": ("ATOMG.E.ADD.64.STRONG.GPU", [16]),
    "_Z12chase_sharedILi1E": ("LDS", [16]),
    "_Z12chase_sharedILi2E": ("LDS.64", [16]),
    "_Z12chase_sharedILi4E": ("LDS.128", [16]),
    "_Z14chase_constant": ("LDC", [16]),
    "_Z11chase_local": ("LDL", [16]),
    "_Z10arithmeticILi1EEv16latency_geometry": ("FFMA", [128, 64]),
    "_Z10arithmeticILi2EEv16latency_geometry": ("FADD", [128, 64]),
    "_Z10arithmeticILi3EEv16latency_geometry": ("IMAD", [128, 64]),
    "_Z10arithmeticILi4EEv16latency_geometry": ("DFMA", [128, 64]),
    "_Z7shuffle16latency_geometry": ("SHFL.IDX", [16]),
    "_Z13shared_atomic16latency_geometry": ("ATOMS.ADD", [16]),
}
# What else may stand there: the loop's counter and jump, the arguments before the loop,
# the shuffle that hides the jump.
harmless = re.compile(r"(UIADD3|ISETP|BRA|UMOV|ULDC|LDC|MOV|IMAD\.MOV\S*|UISETP|PLOP3|NOP|BSYNC|BSSY|WARPSYNC\S*)\b")
seen, problems, name, code = set(), [], None, []


def registers(text):
    """The first register that an instruction writes, and all that it reads."""
    found = re.findall(r"\b(R\d+)\b", text)
    return (found[0], found[1:]) if found else (None, [])


def check_section(section, link, count):
    chain = [text for _, text in section if text.split()[0] == link]
    # ptxas may unroll a loop: then all of it is there several times
    if not chain or len(chain) % count:
        problems.append(f"{name}: {len(chain)} {link} between two clocks, not {count}")
        return
    for before, after in zip(chain, chain[1:]):
        if registers(before)[0] not in registers(after)[1]:
            problems.append(f"{name}: '{after}' does not need the result of '{before}'")
            return
    for _, text in section:
        word = text.split()[0]
        hides = word == "SHFL.IDX" and count > 16
        if word != link and not hides and not harmless.match(word):
            problems.append(f"{name}: {word} between two clocks")
    jumps = [int(t.group(1), 16) for at, text in section if (t := re.search(r"\bBRA\b.*?0x([0-9a-f]+)", text)) and int(t.group(1), 16) < at]
    if len(jumps) != 1:
        problems.append(f"{name}: {len(jumps)} loops between two clocks, not one")
        return
    inside = sum(at >= jumps[0] and text.split()[0] == link for at, text in section)
    if inside != len(chain):
        problems.append(f"{name}: {inside} of {len(chain)} {link} are in the loop")
    if "IMAD.MOV" in " ".join(text for at, text in section if at >= jumps[0]) and link != "IMAD":
        problems.append(f"{name}: a result is moved within the loop")


def check():
    if name is None:
        return
    link, counts = kernels[name]
    clocks = [i for i, (_, text) in enumerate(code) if "SR_CLOCKLO" in text]
    if len(clocks) != 2 * len(counts):
        problems.append(f"{name}: {len(clocks)} readings of the clock")
        return
    for i, count in enumerate(counts):
        check_section(code[clocks[2 * i] + 1 : clocks[2 * i + 1]], link, count)
    if "local" not in name and any(re.match(r"(LDL|STL)\b", text) for _, text in code):
        problems.append(f"{name}: registers are spilled")
    seen.add(name)


for line in open(sys.argv[1]):
    start = re.search(r"Function : (\S+)", line)
    if start:
        check()
        name, code = next((k for k in kernels if start.group(1).startswith(k)), None), []
        continue
    row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z].*?);", line)
    if row and name is not None:
        code.append((int(row.group(1), 16), row.group(2) + " "))
check()
if seen != set(kernels):
    problems.append(f"not found in order: {sorted(set(kernels) - seen)}")
print("\n".join(problems) or f"{len(kernels)} kernels have the chains that they claim")
sys.exit(bool(problems))
END
