#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Keeps DESIGN's picture of the source true: which folder may include which, that
# nothing but the law and the kernel sees a rule's access.h (what checks an access
# pattern must not share its mistakes), that each rule is in micro/list.h, and that
# no file names a place on somebody's disk. The checks first have to find the faults
# of a small tree made for the purpose.
set -u
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# folder -> folders of harness/, plots/, micro/, cupti/ whose headers it may include
may_include() {
    case $1 in
    harness/contract) echo "harness/contract" ;;
    harness/model) echo "harness/contract harness/model" ;;
    harness/io) echo "harness/contract harness/model harness/io" ;;
    harness/cuda) echo "harness/contract harness/cuda" ;;
    harness/engine) echo "harness/contract harness/model harness/io harness/cuda harness/engine" ;;
    plots) echo "harness/contract harness/model harness/engine plots" ;;
    report | report/tools) echo "harness/contract harness/model harness/io harness/engine plots report" ;;
    harness/cli) echo "harness/contract harness/model harness/io harness/cuda harness/engine plots report harness/cli" ;;
    micro) echo "harness/contract harness/model micro" ;;
    micro/*) echo "harness/contract harness/model $1" ;;
    cupti) echo "harness/contract cupti" ;;
    *) echo "" ;;
    esac
}

# Prints FILE HEADER for each include by quotes of the C and CUDA files under the given folders.
includes() {
    find "$@" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -exec \
        sed -n -E 's|^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*|\1|;T;F;p' {} + | paste - -
}

check_arrows() {
    includes harness micro cupti plots report | while IFS=$'\t' read -r file header; do
        [ "$header" = ub_version.h ] && continue # generated
        allowed=$(may_include "$(dirname "$file")")
        case " $allowed " in
        *" $(dirname "$header") "*) ;;
        *) echo "$file includes $header: only headers of {${allowed}} are below it" ;;
        esac
    done
}

# Tests may: they play the kernel, and prove the law's period by replaying every warp.
check_access() {
    includes harness micro cupti plots report | while IFS=$'\t' read -r file header; do
        [ "$(basename "$header")" = access.h ] || continue
        folder=$(dirname "$header")
        case $file in
        "$folder"/law.c | "$folder"/law_*.c | "$folder"/*.cu) ;;
        *) echo "$file includes $header: only the law and the kernel share the access pattern" ;;
        esac
    done
}

check_list() {
    for rule in micro/*/rule.c; do
        [ -e "$rule" ] || continue
        name=$(basename "$(dirname "$rule")")
        grep -q "^UB_RULE($name)" micro/list.h || echo "$rule: no line UB_RULE($name) in micro/list.h"
    done
    sed -n -E 's/^UB_RULE\(([^)]*)\).*/\1/p' micro/list.h | while read -r name; do
        [ -e "micro/$name/rule.c" ] || echo "micro/list.h: UB_RULE($name) has no micro/$name/rule.c"
    done
}

# Tests of --redact need such a path as their input.
check_places() {
    find . -type d \( -name .git -o -name 'build*' -o -path ./tests \) -prune -o -type f -print |
        while read -r file; do
            grep -I -n -E '(^|[^A-Za-z0-9_./$}~-])/(home|root|Users)/[A-Za-z0-9_]' "$file" |
                sed "s|^|$file:|;s|\$|: a place on somebody's disk|"
        done
}

check_tree() {
    (cd "$1" && check_arrows && check_access && check_list && check_places)
}

# ---- the checks find what they look for -------------------------------------
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad="$scratch/bad tree"
mkdir -p "$bad"/harness/{engine,model,contract} "$bad"/micro/{one,two} "$bad"/{cupti,plots,report,tests}
echo '#include "cupti/session.h"' >"$bad/harness/engine/a.c"
echo '#include "harness/engine/law.h"' >"$bad/harness/model/b.c"
echo '  #  include "micro/two/access.h"' >"$bad/micro/one/rule.c"
echo '#include "micro/two/access.h"' >"$bad/micro/two/verify.c"
printf '#include "harness/contract/micro.h"\n#include "micro/two/access.h"\n' >"$bad/micro/two/law.c"
printf 'UB_RULE(three)\n' >"$bad/micro/list.h"
printf 'out = open("/%s/someone/x.json")\n' home >"$bad/plots/script.py"
expected='harness/engine/a.c includes cupti/session.h
harness/model/b.c includes harness/engine/law.h
micro/one/rule.c includes micro/two/access.h: only headers
micro/one/rule.c includes micro/two/access.h: only the law
micro/two/verify.c includes micro/two/access.h
micro/one/rule.c: no line UB_RULE(one)
micro/list.h: UB_RULE(three) has no
./plots/script.py:1:'
found=$(check_tree "$bad")
status=0
while read -r line; do
    if ! grep -q -F "$line" <<<"$found"; then
        echo "the test itself is broken: it does not see \"$line\""
        status=1
    fi
done <<<"$expected"
if [ "$(wc -l <<<"$found")" -ne "$(wc -l <<<"$expected")" ]; then
    printf 'the test itself is broken: it sees too much:\n%s\n' "$found"
    status=1
fi

# ---- the source ---------------------------------------------------------------
faults=$(check_tree "$source_root")
if [ -n "$faults" ]; then
    printf '%s\n' "$faults"
    status=1
fi
exit $status
