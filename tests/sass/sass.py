# SPDX-License-Identifier: MIT
"""Reads listings of machine code for the tests beside it.

Two tools write them: `nvdisasm -c` has sections and labels, `cuobjdump -sass` has functions,
architectures and addresses. A Kernel is the same from both: instructions are counted from 0
without labels, and a span of them is (first, last), both ends of it.
"""
import re
import sys

START = re.compile(r"\s*(?:\.section\s+\.text\.|Function : )([^\s,]+)")
ARCH = re.compile(r"(?:arch =|\s*\.target)\s+(sm_\w+)")
LABEL = re.compile(r"(\.L\w+):")
ROW = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(\S[^;]*?)\s*;")
PREDICATE = re.compile(r"^@!?U?P\w+\s+")
BRANCH = re.compile(r"BRA\b.*?(?:`\((\.L\w+)\)|\b0x([0-9a-f]+))")


class Kernel:
    """text: instructions with their predicates; code: without. opcode: LDG.E.128; family: LDG.
    branches: (place, target); loops: what the backward ones of them close, in their order."""

    def __init__(self, name, arch="", lines=()):
        self.name, self.arch, self.text = name, arch, []
        places = {}  # of addresses and labels
        for line in lines:
            if row := ROW.match(line):
                places[int(row[1], 16)] = len(self.text)
                self.text.append(row[2])
            elif label := LABEL.match(line):
                places[label[1]] = len(self.text)
        self.code = [PREDICATE.sub("", text) for text in self.text]
        self.opcode = [code.split()[0] for code in self.code]
        self.family = [opcode.split(".")[0] for opcode in self.opcode]
        jumps = ((i, BRANCH.match(code)) for i, code in enumerate(self.code))
        jumps = ((i, places.get(to[1] or int(to[2], 16))) for i, to in jumps if to)
        self.branches = [(i, target) for i, target in jumps if target is not None]
        # what jumps to itself, behind the end of the code, is no loop
        self.loops = [(target, i) for i, target in self.branches if target < i]

    def at(self, prefix, span=None):
        """Where opcodes begin with the prefix, or one of a tuple of them. "LDS" finds LDSM too;
        with a point behind it, "LDS.", it is a whole word and finds LDS and LDS.128 only."""
        first, last = span or (0, len(self.opcode) - 1)
        return [i for i in range(first, last + 1) if (self.opcode[i] + ".").startswith(prefix)]

    def count(self, prefix, span=None):
        return len(self.at(prefix, span))

    def around(self, places):
        """Loops that hold all of these places; none if there are none."""
        return [(a, b) for a, b in self.loops if places and a <= min(places) and max(places) < b]

    @property
    def spills(self):
        return self.at(("LDL", "STL"))

    @property
    def clocks(self):
        return [i for i, code in enumerate(self.code) if "SR_CLOCKLO" in code]


def sections(path):
    """(name, architecture, lines) of each kernel of a listing."""
    section, arch = None, ""
    with open(path, encoding="utf-8") as listing:
        for line in listing:
            if start := START.match(line):
                if section:
                    yield section
                section = start[1], arch, []
            elif found := ARCH.match(line):
                arch = found[1]
            elif section:
                section[2].append(line)
    if section:
        yield section


def kernels(path, pattern=""):
    """The kernels of a listing whose names have the pattern, each with the match."""
    for name, arch, lines in sections(path):
        if match := re.search(pattern, name):
            yield Kernel(name, arch, lines), match


def innermost(loops):
    """Those that hold no other one."""
    loops = list(loops)
    return [(a, b) for a, b in loops if not any(a <= c and d <= b and (c, d) != (a, b) for c, d in loops)]


def registers(code):
    """The numbers of the registers of an instruction as they stand there: mostly the one written, then those read."""
    return [int(number) for number in re.findall(r"\bR(\d+)\b", code)]


def used_registers(listing):
    """How many registers each kernel has, as ptxas said when the listing was made."""
    with open(f"{listing}.log", encoding="utf-8") as log:
        found = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", log.read(), re.S)
    if not found:
        sys.exit("ptxas did not say how many registers the kernels have")
    return {name: int(number) for name, number in found}


class Faults:
    """What a test has found; finish() ends it."""

    def __init__(self):
        self.found = []

    def add(self, who, what):
        self.found.append(f"{who}: {what}")

    def of(self, who):
        """A function that adds one of these."""
        return lambda what: self.add(who, what)

    def expect(self, who, what, got, wanted):
        if got != wanted:
            self.add(who, f"{what}: {got} instead of {wanted}")

    def finish(self, success):
        print("\n".join(self.found[:20]) or success)
        if len(self.found) > 20:
            print(f"and {len(self.found) - 20} more")
        sys.exit(1 if self.found else 0)
