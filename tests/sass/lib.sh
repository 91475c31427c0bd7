# SPDX-License-Identifier: MIT
#
# Shared by the tests of machine code: makes the listings that sass.py reads, in a scratch
# folder, $work. Where a tool is missing the test is skipped (77) and says which one.
PATH=$PATH:/usr/local/cuda/bin
PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 # nothing is left in the source
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "SKIP: $1"
    exit 77
}

need() { # TOOL...
    local tool
    for tool; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

# The code of one file, a path in the source, for sm_90a where no -arch= among the options names
# another. What nvcc says goes to LISTING.log, where sass.used_registers() finds it (-Xptxas -v).
compile_kernel() { # FILE.cu LISTING [nvcc option]...
    local file=$1 listing=$2
    shift 2
    need nvcc python3
    # one that NVDISASM names must be there
    [ -n "${NVDISASM:-}" ] || command -v nvdisasm >/dev/null || skip "nvdisasm is not installed (NVDISASM names one)"
    [[ " $*" == *" -arch="* ]] || set -- -arch=sm_90a "$@"
    (cd "${UBENCH_SOURCE:?the folder of the source}" &&
        nvcc -std=c++17 -I. "$@" -cubin -o "$listing.cubin" "$file") >"$listing.log" 2>&1 || {
        cat "$listing.log"
        exit 1
    }
    "${NVDISASM:-nvdisasm}" -c "$listing.cubin" >"$listing" || exit 1
}

# The code that the program carries, of every architecture.
dump_program() { # LISTING
    local named
    # cuobjdump calls nvdisasm
    named=$(command -v "${NVDISASM:-}") && PATH=$(dirname "$named"):$PATH
    need cuobjdump nvdisasm python3
    cuobjdump -sass "${UBENCH:?the program to test}" >"$1" 2>"$1.log" || skip "$(head -n 1 "$1.log")"
    grep -q "Function :" "$1" || skip "no machine code in $UBENCH (built without nvcc?)"
}
