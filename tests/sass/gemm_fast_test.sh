#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The machine code of the variants `async` and `tensor` of `gemm`: a step's loop has the
# multiply-adds, matrix instructions, copies and loads that the law counts, and no others;
# what a thread loads from shared memory is 16 bytes wide; nothing is spilled; few
# multiply-adds wait for a register bank. Code for sm_90 without the "a" has no wgmma, and
# an empty kernel in its place.
set -u
. "$(dirname "$0")/lib.sh"
compile_kernel micro/gemm/async.cu "$work/async.90a"
compile_kernel micro/gemm/tensor.cu "$work/tensor.90a"
compile_kernel micro/gemm/tensor.cu "$work/tensor.90" -arch=sm_90
python3 - "$UBENCH_SOURCE/micro/gemm" "$work" <<'END'
import collections, re, sass, sys
folder, work = sys.argv[1:]
faults = sass.Faults()

def constant(header, name):
    text = open(f"{folder}/{header}.h", encoding="utf-8").read()
    return int(re.search(rf"\b{name} = (\d+)", text)[1])

class Product:
    """One kernel of a file and, if there is one, its loop with most of the `work_code`."""
    def __init__(self, file, name, work_code):
        found = [kernel for kernel, _ in sass.kernels(f"{work}/{file}", name)]
        self.name = f"{file} {name}"
        if len(found) != 1:
            faults.add(self.name, f"{len(found)} kernels of this name")
        self.kernel = found[0] if found else sass.Kernel(name)
        self.loop = max(self.kernel.loops, key=lambda loop: self.kernel.count(work_code, loop), default=(0, -1))
        if self.kernel.spills:
            faults.add(self.name, "registers are spilled")
    def expect(self, what, count, span=None):
        # between asynchronous copies ptxas puts LDS that never run
        found = sum(not self.kernel.text[i].startswith("@!PT ") for i in self.kernel.at(what, span))
        faults.expect(self.name, f"{what} in its {'loop' if span else 'code'}", found, count)
    def in_loop(self, what, count):
        self.expect(what, count, self.loop)

def waiting(loop):
    """Multiply-adds that ask one of the two register banks for more than one operand. An
    operand that the last one marked .reuse in the same place comes from the operand cache."""
    kept, late, all_of_them = {}, 0, 0
    for code in loop:
        if not code.startswith("FFMA"):
            continue
        operands = [o.strip() for o in code.split(" ", 1)[1].split(",")][1:]
        numbers = [re.match(r"R(\d+)", o) for o in operands]
        read = [int(n[1]) for i, n in enumerate(numbers) if n and kept.get(i) != n[1]]
        all_of_them += 1
        late += max(collections.Counter(r % 2 for r in read).values(), default=0) > 1
        kept = {i: n[1] for i, n in enumerate(numbers) if n and ".reuse" in operands[i]}
    return late / max(all_of_them, 1)

k, n = constant("async", "GEMM_ASYNC_K"), constant("async", "GEMM_ASYNC_N")
for name, width in (("product_asyncILb1ELi4E", 4), ("product_asyncILb0ELi4E", 4), ("product_asyncILb0ELi1E", 1)):
    product = Product("async.90a", name, "FFMA")
    product.in_loop("FFMA.", 128 * k)
    product.in_loop("LDS.", 6 * k)
    product.in_loop("LDS.128.", 6 * k)
    product.in_loop("LDGSTS.", k // 2 + k * n // width // 256)
    product.in_loop("BAR.", 1)
    product.expect("LDG.", 0)
    product.expect("STS.", 0)
    product.expect("STG.", 128 // width)
    late = waiting(product.kernel.code[product.loop[0]:product.loop[1] + 1])
    if late > (0.2 if width == 4 else 0.35):
        faults.add(product.name, f"{100 * late:.0f} % of the multiply-adds wait for a register bank")
for name, copies in (("product_wgmmaILb1E", 12), ("product_wgmmaILb0E", 0)):
    product = Product("tensor.90a", name, "HGMMA")
    product.in_loop("HGMMA.64x256x16.F32.", constant("tensor", "GEMM_WGMMA_K") // 16)
    product.in_loop("LDGSTS.", copies)
    product.expect("HMMA.", 0)
    product.expect("LDS.", 0)
    if any(".tnspB" not in product.kernel.code[i] for i in product.kernel.at("HGMMA")):
        faults.add(product.name, "B is not turned")
for target in ("90a", "90"):
    for name, copies in (("product_mmaILb1E", 4), ("product_mmaILb0E", 0)):
        product = Product(f"tensor.{target}", name, "HMMA")
        product.in_loop("HMMA.16816.F32.", 32)
        product.in_loop("LDSM.", 12)
        product.in_loop("LDGSTS.", copies)
        product.expect("LDS.", 0)
for name in ("product_wgmmaILb1E", "product_wgmmaILb0E"):
    Product("tensor.90", name, "HGMMA").expect(("LDG.", "STG.", "HMMA.", "HGMMA.", "BAR."), 0)
faults.finish("the kernels are what they should be")
END
