#!/usr/bin/env bash
# Draws every chart of reports/<gpu>/README.md again: runs the `ubench plot` commands of
# its table, in that folder. usage: reports/charts.sh [GPU...]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
for gpu in "${@:-h200}"; do
    (
        cd "$gpu"
        grep -o '`ubench plot [^`]*`' README.md | tr -d '`' | while read -ra command; do
            "${UBENCH:-ubench}" "${command[@]:1}" --force
        done
    )
done
