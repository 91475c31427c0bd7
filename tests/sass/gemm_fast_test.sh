#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of the variants `async` and `tensor` of `gemm`: a step's loop has the
# multiply-adds, matrix instructions, copies and loads that the law counts, and no others;
# what a thread loads from shared memory is 16 bytes wide; nothing is spilled; few
# multiply-adds wait for a register bank. Code for sm_90 without the "a" has no wgmma, and
# an empty kernel in its place.
set -u
: "${UBENCH_SOURCE:?}"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
disassembler=${NVDISASM:-$(command -v nvdisasm)}
command -v nvcc >/dev/null || { echo "SKIP: nvcc is not installed"; exit 77; }
[ -n "$disassembler" ] || { echo "SKIP: nvdisasm is not installed (NVDISASM names one)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kernel in async:90a tensor:90a tensor:90; do
    file=${kernel%:*} target=${kernel#*:}
    nvcc -std=c++17 -gencode="arch=compute_$target,code=sm_$target" -I"$UBENCH_SOURCE" -cubin -o "$work/kernel.cubin" \
        "$UBENCH_SOURCE/micro/gemm/$file.cu" || exit 1
    "$disassembler" -c "$work/kernel.cubin" >"$work/$file.$target" || exit 1
done
python3 - "$UBENCH_SOURCE/micro/gemm" "$work" <<'END'
import collections, re, sys
folder, work = sys.argv[1:]
faults = []

def constant(header, name):
    text = open(f"{folder}/{header}.h", encoding="utf-8").read()
    return int(re.search(rf"\b{name} = (\d+)", text)[1])

class Kernel:
    """Instructions of a kernel without addresses, and of its loop with most of the `work`."""
    def __init__(self, file, name, work_code):
        text = open(f"{work}/{file}", encoding="utf-8").read()
        found = [s for s in re.split(r"\.section\s+\.text\.", text)[1:] if s.split(",")[0].find(name) >= 0]
        self.name = f"{file} {name}"
        if len(found) != 1:
            faults.append(f"{self.name}: {len(found)} kernels of this name")
            found = [""]
        lines = [re.sub(r"/\*[0-9a-fx]+\*/", "", l).strip() for l in found[0].split("\n")]
        lines = [l for l in lines if l and (l.startswith(".L_") or not l.startswith("."))][1:]
        self.code = [re.sub(r"^@!?U?P\d+ +", "", l) for l in lines]
        labels = {l.rstrip(":"): i for i, l in enumerate(self.code) if l.startswith(".L_")}
        self.loop = []
        most = 0
        for i, l in enumerate(self.code):
            to = re.search(r"BRA.*`\((\.L_x_\d+)\)", l)
            first = labels.get(to[1], i) if to else i
            worth = sum(c.startswith(work_code) for c in self.code[first:i])
            if worth > most:
                most, self.loop = worth, self.code[first:i + 1]
        if any(c.startswith(("LDL", "STL")) for c in self.code):
            faults.append(f"{self.name}: registers are spilled")
    def expect(self, what, count, where="loop"):
        found = sum(re.match(rf"{what}\b", c) is not None for c in getattr(self, where))
        if found != count:
            faults.append(f"{self.name}: {found} {what} in its {where}, not {count}")

def waiting(loop):
    """Multiply-adds that ask one of the two register banks for more than one operand. An
    operand that the last one marked .reuse in the same place comes from the operand cache."""
    kept, late, all_of_them = {}, 0, 0
    for code in loop:
        if not code.startswith("FFMA"):
            continue
        operands = [o.strip() for o in code.rstrip(" ;").split(" ", 1)[1].split(",")][1:]
        numbers = [re.match(r"R(\d+)", o) for o in operands]
        read = [int(n[1]) for i, n in enumerate(numbers) if n and kept.get(i) != n[1]]
        all_of_them += 1
        late += max(collections.Counter(r % 2 for r in read).values(), default=0) > 1
        kept = {i: n[1] for i, n in enumerate(numbers) if n and ".reuse" in operands[i]}
    return late / max(all_of_them, 1)

k, n = constant("async", "GEMM_ASYNC_K"), constant("async", "GEMM_ASYNC_N")
for name, width in (("product_asyncILb1ELi4E", 4), ("product_asyncILb0ELi4E", 4), ("product_asyncILb0ELi1E", 1)):
    kernel = Kernel("async.90a", name, "FFMA")
    kernel.expect("FFMA", 128 * k)
    kernel.expect("LDS", 6 * k)
    kernel.expect("LDS.128", 6 * k)
    kernel.expect("LDGSTS", k // 2 + k * n // width // 256)
    kernel.expect("BAR", 1)
    kernel.expect("LDG", 0, "code")
    kernel.expect("STS", 0, "code")
    kernel.expect("STG", 128 // width, "code")
    late = waiting(kernel.loop)
    if late > (0.2 if width == 4 else 0.35):
        faults.append(f"{kernel.name}: {100 * late:.0f} % of the multiply-adds wait for a register bank")
for name, copies in (("product_wgmmaILb1E", 12), ("product_wgmmaILb0E", 0)):
    kernel = Kernel("tensor.90a", name, "HGMMA")
    kernel.expect("HGMMA.64x256x16.F32", constant("tensor", "GEMM_WGMMA_K") // 16)
    kernel.expect("LDGSTS", copies)
    kernel.expect("HMMA", 0, "code")
    kernel.expect("LDS", 0, "code")
    if any("HGMMA" in c and ".tnspB" not in c for c in kernel.code):
        faults.append(f"{kernel.name}: B is not turned")
for target in ("90a", "90"):
    for name, copies in (("product_mmaILb1E", 4), ("product_mmaILb0E", 0)):
        kernel = Kernel(f"tensor.{target}", name, "HMMA")
        kernel.expect("HMMA.16816.F32", 32)
        kernel.expect("LDSM", 12)
        kernel.expect("LDGSTS", copies)
        kernel.expect("LDS", 0, "code")
for name in ("product_wgmmaILb1E", "product_wgmmaILb0E"):
    kernel = Kernel("tensor.90", name, "HGMMA")
    kernel.expect("(LDG|STG|HMMA|HGMMA|BAR)", 0, "code")
print("\n".join(faults[:20]) or "the kernels are what they should be")
sys.exit(1 if faults else 0)
END
