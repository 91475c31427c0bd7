#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of latency: between the two readings of the clock stand the links that
# the rule claims, of the width that it claims, each with the result of the one before,
# and nothing else that takes longer than a link hides; nothing is spilled. Needs
# cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import re, sass, sys

# Of each kernel: the link, how many stand between which two readings of the clock.
links = {
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
seen, faults = set(), sass.Faults()


def check_section(kernel, fault, start, end, link, count):
    """What lies between the readings of the clock at `start` and `end`."""
    inside = range(start + 1, end)
    chain = [i for i in inside if kernel.opcode[i] == link]
    # ptxas may unroll a loop: then all of it is there several times
    if not chain or len(chain) % count:
        return fault(f"{len(chain)} {link} between two clocks, not {count}")
    for before, after in zip(chain, chain[1:]):
        result = sass.registers(kernel.code[before])[:1]
        if not result or result[0] not in sass.registers(kernel.code[after])[1:]:
            return fault(f"'{kernel.code[after]}' does not need the result of '{kernel.code[before]}'")
    for i in inside:
        word = kernel.opcode[i]
        hides = word == "SHFL.IDX" and count > 16
        if word != link and not hides and not harmless.match(word):
            fault(f"{word} between two clocks")
    loops = [loop for loop in kernel.loops if loop[1] in inside]
    if len(loops) != 1:
        return fault(f"{len(loops)} loops between two clocks, not one")
    first, last = loops[0]
    if loops[0] not in kernel.around(chain):
        fault(f"{sum(first <= i < last for i in chain)} of {len(chain)} {link} are in the loop")
    if link != "IMAD" and any("IMAD.MOV" in kernel.code[i] for i in inside if i >= first):
        fault("a result is moved within the loop")


for kernel, name in sass.kernels(sys.argv[1], "^(" + "|".join(links) + ")"):
    fault = faults.of(f"{kernel.arch} {name[1]}")
    link, counts = links[name[1]]
    clocks = kernel.clocks
    if len(clocks) != 2 * len(counts):
        fault(f"{len(clocks)} readings of the clock")
        continue
    for start, end, count in zip(clocks[::2], clocks[1::2], counts):
        check_section(kernel, fault, start, end, link, count)
    if "local" not in name[1] and kernel.spills:
        fault("registers are spilled")
    seen.add(name[1])
if seen != set(links):
    faults.add("not found in order", sorted(set(links) - seen))
faults.finish(f"{len(links)} kernels have the chains that they claim")
END
