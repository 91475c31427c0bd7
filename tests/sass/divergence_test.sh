#!/usr/bin/env bash
# The machine code of `divergence` has what the rule claims: a branch round each path, a
# select where the textbook has an if, look-ups that stay in their loop, no spill.
set -eu
: "${UBENCH:?}"
command -v cuobjdump >/dev/null || { echo "SKIP: cuobjdump is not installed"; exit 77; }
command -v nvdisasm >/dev/null || { echo "SKIP: nvdisasm is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cuobjdump -sass "$UBENCH" >"$work/sass" 2>/dev/null || { echo "SKIP: the program has no machine code of a GPU"; exit 77; }
python3 - "$work/sass" <<'END'
import re, sys

PARTS = ("branches", "switches", "loops", "tables", "constants", "selects")
functions, code, arch = {}, None, ""
for line in open(sys.argv[1]):
    if found := re.search(r"arch = (sm_\d+)", line):
        arch = found.group(1)
    if found := re.search(r"Function : (\S+)", line):
        name = re.match(r"_Z\d+([a-z]+)19divergence_geometry", found.group(1))
        code = functions.setdefault((arch, name.group(1)), []) if name else None
    elif code is not None and (found := re.search(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)):
        code.append((int(found.group(1), 16), found.group(2)))
archs = sorted({arch for arch, _ in functions})
if not archs:
    print("SKIP: no kernel of the rule in the program (built without nvcc, or with PTX only)")
    sys.exit(77)

def count(code, pattern):
    return sum(bool(re.search(pattern, text)) for _, text in code)

def branches(code):
    """Conditional branches as (place, target)."""
    for place, text in code:
        if found := re.match(r"@!?U?P\d\s+BRA.*?0x([0-9a-f]+)", text):
            yield place, int(found.group(1), 16)

def loops(code):
    """What each loop without a loop inside consists of."""
    back = [(target, place) for place, target in branches(code) if target < place]
    for first, last in back:
        if not any(first <= f and l <= last and (f, l) != (first, last) for f, l in back):
            yield [text for place, text in code if first <= place <= last]

for arch in archs:
    of = {part: functions[arch, part] for part in PARTS}
    for part, code in of.items():
        assert count(code, r"\b(LDL|STL)\b") == 0, f"{arch} {part}: spills"
        steps = {"constants": r"LDC.*c\[0x3\]", "selects": r"\b(FSEL|SEL)\b"}.get(part, r"\bFFMA\b")
        bodies = list(loops(code))
        assert len(bodies) == (32 if part in ("branches", "switches") else 1), f"{arch} {part}: {len(bodies)} loops"
        for body in bodies:
            assert sum(bool(re.search(steps, text)) for text in body) == 32, f"{arch} {part}: not 32 steps a trip"
    chain = of["branches"]
    around = [p for p, t in branches(chain) if t > p and 32 <= count([c for c in chain if p < c[0] < t], r"\bFFMA\b") < 64]
    assert len(around) == 32, f"{arch}: {len(around)} branches round one path each"
    for part in "selects", "constants":
        assert sum(1 for _ in branches(of[part])) == 1, f"{arch} {part}: a branch besides its loop"
    lengths = {len(body) for part in ("branches", "loops", "tables") for body in loops(of[part])}
    assert len(lengths) == 1, f"{arch}: the loops of the paths differ: {lengths} instructions"
    print(f"{arch}: 32 branches round 32 paths, selects and look-ups in their loops, trips of {lengths.pop()} instructions")
END
