#!/usr/bin/env bash
# The machine code of `block_size` is what its text says: a thread has two loads, both on
# their way before the first is waited for, one store, no loop; an empty kernel is empty;
# no kernel has more than the 32 registers that the law takes.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/block_size/kernel.cu "$work/kernel.sass" -Xptxas -v
python3 - "$work/kernel.sass" <<'END'
import sass, sys
faults, found = sass.Faults(), 0
for name, registers in sass.used_registers(sys.argv[1]).items():
    if registers > 32:
        faults.add(name, f"{registers} registers")
for kernel, kind in sass.kernels(sys.argv[1], r"3addI(j|5uint4)E|7nothingv"):
    found += 1
    fault = faults.of(kernel.name)
    code = (0, kernel.at("EXIT")[-1]) # behind it stands padding
    memory = [kernel.opcode[i] for i in kernel.at(("LD", "ST", "ATOM", "RED"), code) if kernel.family[i] != "LDC"]
    width, words = (".128", 4) if kind[1] == "5uint4" else ("", 1)
    wanted = [f"LDG.E{width}.CONSTANT"] * 2 + [f"STG.E{width}"] if kind[1] else []
    if memory != wanted:
        fault(f"{memory} instead of {wanted}")
        continue
    if kernel.at(("BRA", "BSSY", "CALL"), code):
        fault("a branch")
    if not kind[1]:
        if code[1] > 1:
            fault(f"{kernel.opcode[:code[1] + 1]}")
        continue
    one, two = kernel.at("LDG", code)
    loaded, *used = [r for text in kernel.text[one:two + 1] for r in sass.registers(text)]
    if kernel.text[one].startswith("@") or any(loaded <= r < loaded + words for r in used):
        fault("the first load is waited for before the second is on its way")
if found != 3:
    faults.add("kernels", f"{found} found instead of 3")
faults.finish(f"{found} kernels are what they should be")
END
