#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# clang-format decides on the form of C and CUDA files. Versions differ in small
# things, so that only the one that the files were formatted with is asked.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
wanted=14

formatter=
for name in "clang-format-$wanted" clang-format; do
    version=$("$name" --version 2>/dev/null | sed -n -E 's/.*version ([0-9]+).*/\1/p')
    if [ "$version" = "$wanted" ]; then
        formatter=$name
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "SKIP: clang-format $wanted is not installed"
    exit 77
fi

files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -z -- '*.c' '*.h' '*.cu' '*.cuh'
    else
        find . -type d -name 'build*' -prune -o -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0
    fi
}

files | xargs -0 -r "$formatter" --dry-run --Werror --style=file
