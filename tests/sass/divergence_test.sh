#!/usr/bin/env bash
# The machine code of `divergence` has what the rule claims: a branch round each path, a
# select where the textbook has an if, look-ups that stay in their loop, no spill.
set -u
. "$(dirname "$0")/lib.sh"
dump_program "$work/program.sass"
python3 - "$work/program.sass" <<'END'
import re, sass, sys

PARTS = ("branches", "switches", "loops", "tables", "constants", "selects")
faults, lines = sass.Faults(), []
kernels = {(kernel.arch, name[1]): kernel
           for kernel, name in sass.kernels(sys.argv[1], r"^_Z\d+([a-z]+)19divergence_geometry")}
archs = sorted({arch for arch, _ in kernels})
if not archs:
    print("SKIP: no kernel of the rule in the program (built without nvcc, or with PTX only)")
    sys.exit(77)

def branches(kernel):
    """Conditional ones as (place, target)."""
    return [(place, target) for place, target in kernel.branches if re.match(r"@!?U?P\d\s", kernel.text[place])]

def loops(kernel):
    """Loops without a loop inside."""
    return sass.innermost((target, place) for place, target in branches(kernel) if target < place)

for arch in archs:
    of = {part: kernels[arch, part] for part in PARTS if (arch, part) in kernels}
    if len(of) != len(PARTS):
        faults.add(arch, f"only {', '.join(of)} found")
        continue
    for part, kernel in of.items():
        fault = faults.of(f"{arch} {part}")
        if kernel.spills:
            fault("spills")
        steps = {"constants": r"U?LDC.*c\[0x3\]", "selects": r"F?SEL\b"}.get(part, r"FFMA\b")
        found = loops(kernel)
        if len(found) != (32 if part in ("branches", "switches") else 1):
            fault(f"{len(found)} loops")
        for first, last in found:
            if sum(bool(re.match(steps, code)) for code in kernel.code[first:last + 1]) != 32:
                fault("not 32 steps a trip")
    chain = of["branches"]
    around = [p for p, t in branches(chain) if t > p and 32 <= chain.count("FFMA", (p + 1, t - 1)) < 64]
    if len(around) != 32:
        faults.add(arch, f"{len(around)} branches round one path each")
    for part in "selects", "constants":
        faults.expect(f"{arch} {part}", "branches, that of its loop among them", len(branches(of[part])), 1)
    lengths = {last - first + 1 for part in ("branches", "loops", "tables") for first, last in loops(of[part])}
    if len(lengths) != 1:
        faults.add(arch, f"the loops of the paths differ: {lengths} instructions")
    lines.append(f"{arch}: 32 branches round 32 paths, selects and look-ups in their loops, "
                 f"trips of {max(lengths, default=0)} instructions")
faults.finish("\n".join(lines))
END
