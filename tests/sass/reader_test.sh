#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# sass.py, by which the other tests here read machine code, makes the same of a kernel in either
# form of listing, keeps kernels and architectures apart, and fails where a fault was added.
set -u
. "$(dirname "$0")/lib.sh"
need python3
cat >"$work/labels" <<'END'
	.target	sm_90a
//--------------------- .text._Z1fv --------------------------
	.section	.text._Z1fv,"ax",@progbits
_Z1fv:
.text._Z1fv:
        /*0000*/                   S2UR UR4, SR_CLOCKLO ;
        /*0010*/                   BSSY B0, `(.L_x_0) ;
.L_x_2:
        /*0020*/                   LDS.128 R4, [R2] ;
.L_x_1:
        /*0030*/                   LDSM.16.M88 R8, [R3] ;
        /*0040*/               @P0 BRA `(.L_x_1) ;
        /*0050*/             @!UP1 STL.64 [R1+0x8], R4 ;
        /*0060*/               @P1 BRA `(.L_x_0) ;
        /*0070*/              @!PT LDS RZ, [RZ] ;
        /*0080*/                   BRA `(.L_x_2) ;
.L_x_0:
        /*0090*/                   EXIT ;
.L_x_3:
        /*00a0*/                   BRA `(.L_x_3);
        /*00b0*/                   NOP;
.L_x_4:
	.section	.text._Z1gv,"ax",@progbits
        /*0000*/                   EXIT ;
END
cat >"$work/addresses" <<'END'
Fatbin elf code:
================
arch = sm_80
	code for sm_80
		Function : _Z1fv
        /*0000*/                   EXIT ;                        /* 0x000000000000794d */
                                                                 /* 0x000fea0003800000 */
Fatbin elf code:
================
arch = sm_90a
	code for sm_90a
	.target	sm_90a
		Function : _Z1fv
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   S2UR UR4, SR_CLOCKLO ;        /* 0x0000000000047805 */
                                                                 /* 0x000fe20000015000 */
        /*0010*/                   BSSY B0, 0x90 ;               /* 0x0000840000047ab9 */
        /*0020*/                   LDS.128 R4, [R2] ;            /* 0x0000000402007210 */
        /*0030*/                   LDSM.16.M88 R8, [R3] ;        /* 0x0000000105047824 */
        /*0040*/               @P0 BRA 0x30 ;                    /* 0xfffffffc00e88947 */
        /*0050*/             @!UP1 STL.64 [R1+0x8], R4 ;         /* 0x0000000400007c0c */
        /*0060*/               @P1 BRA 0x90 ;                    /* 0xfffffffc00e88947 */
        /*0070*/              @!PT LDS RZ, [RZ] ;                /* 0x0000000400007c0c */
        /*0080*/                   BRA 0x20 ;                    /* 0x0000000000007918 */
        /*0090*/                   EXIT ;                        /* 0x000000000000794d */
        /*00a0*/                   BRA 0xa0;                     /* 0xfffffffc00fc7947 */
        /*00b0*/                   NOP;                          /* 0x0000000000007918 */
		Function : _Z1gv
        /*0000*/                   EXIT ;                        /* 0x000000000000794d */
END
cat >"$work/labels.log" <<'END'
ptxas info    : Compiling entry function '_Z1fv' for 'sm_90a'
ptxas info    : Function properties for _Z1fv
    8 bytes stack frame, 8 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers
END
cat >"$work/faulty.py" <<'END'
import sass, sys
faults = sass.Faults()
for number in range(int(sys.argv[1])):
    faults.expect("f", number, "this", "that")
faults.expect("f", "equal", 1, 1)
faults.finish("none")
END
python3 - "$work/labels" "$work/addresses" <<'END' || exit 1
import sass, sys
labels, addresses = ([(k.arch, k.name, k) for k, _ in sass.kernels(path)] for path in sys.argv[1:])
assert [k[:2] for k in labels] == [("sm_90a", "_Z1fv"), ("sm_90a", "_Z1gv")]
assert [k[:2] for k in addresses] == [("sm_80", "_Z1fv"), ("sm_90a", "_Z1fv"), ("sm_90a", "_Z1gv")]
assert [match[1] for _, match in sass.kernels(sys.argv[2], "_Z1(f)v")] == ["f", "f"]
one, other = labels[0][2], addresses[1][2]
for kernel in one, other:
    assert kernel.opcode == ["S2UR", "BSSY", "LDS.128", "LDSM.16.M88", "BRA", "STL.64", "BRA", "LDS", "BRA", "EXIT", "BRA", "NOP"]
    assert kernel.family[3:6] == ["LDSM", "BRA", "STL"]
    assert kernel.text[5] == "@!UP1 STL.64 [R1+0x8], R4" and kernel.code[5] == "STL.64 [R1+0x8], R4"
    assert kernel.branches == [(4, 3), (6, 9), (8, 2), (10, 10)]
    assert kernel.loops == [(3, 4), (2, 8)]
    assert kernel.around([3]) == kernel.loops and kernel.around([2, 3]) == [(2, 8)]
    assert kernel.around([1, 3]) == [] and kernel.around([]) == []
    assert kernel.at("LDS") == [2, 3, 7] and kernel.at("LDS.") == [2, 7] and kernel.at("LDS.128") == [2]
    assert kernel.at(("LDSM", "STL"), (3, 4)) == [3] and kernel.count("LDS", (2, 3)) == 2
    assert kernel.spills == [5] and kernel.clocks == [0]
assert sass.innermost(one.loops) == [(3, 4)]
assert sass.registers("FFMA R4, R4.reuse, UR5, -R10") == [4, 4, 10] and sass.registers("LDS RZ, [RZ]") == []
assert sass.used_registers(sys.argv[1]) == {"_Z1fv": 10}
END
if ! out=$(python3 "$work/faulty.py" 0) || [ "$out" != none ]; then
    echo "no fault: $out"
    exit 1
fi
if out=$(python3 "$work/faulty.py" 22) || [ "$(head -n 1 <<<"$out")" != "f: 0: this instead of that" ] ||
    [ "$(tail -n 1 <<<"$out")" != "and 2 more" ] || [ "$(wc -l <<<"$out")" -ne 21 ]; then
    printf '22 faults:\n%s\n' "$out"
    exit 1
fi
echo "both forms are read alike"
