#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of coalescing: each kernel has as many loads and stores as its access
# numbers, of the one width that it claims (a 16-byte access is one instruction), loads
# none that is dropped; a load-only kernel has the one store that is never reached; and
# nothing is spilled. Needs cuobjdump (and nvdisasm, which it calls) of the CUDA Toolkit.
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

WIDTHS = {0: ".U8", 1: ".U16", 2: "", 3: ".64", 4: ".128"}  # by log2 of the bytes
LOAD, STORE = 0, 1
AOS, SOA = 4, 5
functions = {}
code = None
for line in open(sys.argv[1]):
    if found := re.search(r"Function : (\S+)", line):
        kernel = re.search(r"coalesceILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E", found.group(1))
        code = functions.setdefault(tuple(map(int, kernel.groups())), []) if kernel else None
    elif code is not None and (found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+ )?(\S+)", line)):
        code.append(found.group(1).rstrip(";"))

problems = []
for (log2_bytes, op, pattern, per_thread), code in functions.items():
    name = f"{1 << log2_bytes} bytes, op {op}, pattern {pattern}, {per_thread} a thread"
    for what, mnemonic in (("loads", "LDG"), ("stores", "STG")):
        seen = [text for text in code if text.split(".")[0] == mnemonic]
        wrong = {text for text in seen if not text.startswith(f"{mnemonic}.E{WIDTHS[log2_bytes]}")
                 or (log2_bytes == 2 and re.search(r"\.(U8|U16|S8|S16|64|128)\b", text))}
        # the fields of a structure are a loop, which the compiler may unroll
        wanted = per_thread
        if what == "loads" and op == STORE:
            wanted = 0
        if what == "stores" and op == LOAD:
            wanted = 1
        loop = pattern in (AOS, SOA) and wanted == per_thread and not (what == "stores" and op == LOAD)
        enough = len(seen) == wanted or (loop and seen and len(seen) % per_thread == 0)
        if wrong or not enough:
            problems.append(f"{name}: {len(seen)} {what}, expected {wanted}; of another width: {sorted(wrong)}")
    if any(text.split(".")[0] in ("LDL", "STL") for text in code):
        problems.append(f"{name}: registers are spilled")
print("\n".join(problems[:20]))
if len(functions) < 100:
    sys.exit(f"only {len(functions)} kernels found")
if problems:
    sys.exit(f"{len(problems)} problems in {len(functions)} kernels")
print(f"{len(functions)} kernels have the accesses that they claim, and no spill")
END
