#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The GPU tests, on a machine that has the program and this folder but no build tree
# (elsewhere: ctest -L gpu). A line a test; what each printed is in LOGS/NAME.log.
# usage: UBENCH=PROGRAM run_all.sh LOGS [NAME[:PATTERN]]...   none named: all
#   run_all.sh logs gemm sanitizer:^gemm ncu:^gemm
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 0 ] || ! [ -x "${UBENCH:-}" ]; then
    echo "usage: UBENCH=PROGRAM $0 LOGS [NAME[:PATTERN]]...   (UBENCH is ${UBENCH:-not set})"
    exit 2
fi
UBENCH=$(readlink -f "$UBENCH")
UBENCH_SOURCE=$(cd "$here/../.." && pwd)
export UBENCH UBENCH_SOURCE
PATH=$PATH:/usr/local/cuda/bin
logs=$1
shift
mkdir -p "$logs" || exit 1
[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *_test.sh | sed 's/_test\.sh$//')
failures=0
for test in "$@"; do
    name=${test%%:*}
    pattern=()
    [ "$name" = "$test" ] || pattern=("${test#*:}")
    log=$logs/$(printf '%s' "$test" | tr -c 'A-Za-z0-9_.-' '_').log
    start=$SECONDS
    bash "$here/${name}_test.sh" "${pattern[@]}" >"$log" 2>&1
    case $? in
    0) verdict=passed ;;
    77) verdict=skipped ;;
    *) verdict=FAILED failures=$((failures + 1)) ;;
    esac
    echo "$test: $verdict, $((SECONDS - start)) s: $(tail -n 1 "$log")"
done
[ "$failures" -eq 0 ]
