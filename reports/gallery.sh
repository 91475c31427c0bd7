#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes what reports/ shows from the committed records: every chart (the commands stand in
# each GPU's README.md), the report, the contact sheet, and README.md here.
# usage: UBENCH=... CONTACT_SHEET=... reports/gallery.sh     (cmake --build build --target gallery)
set -eu
: "${UBENCH:?}" "${CONTACT_SHEET:?}"
cd "$(dirname "${BASH_SOURCE[0]}")"
export LC_ALL=C

# The finding that stands on top of a chart.
title() { # CHART.svg
    grep -A1 'font-size="17.33"' "$1" | sed -n 's:.*<text[^>]*>\(.*\)</text>.*:\1:p' | paste -s -d ' ' -
}

# The chart's row of the GPU's README.md: `NAME.svg` | `COMMAND`
commands() { # GPU
    sed -n 's:^| `\([^`]*\.svg\)` | `\(ubench plot [^`]*\)` |$:\1\t\2:p' "$1/README.md"
}

readme() {
    cat <<'END'
# Gallery

Every chart and page below is made from the records in this folder by one command, without a
GPU: `cmake --build build --target gallery`. `ubench check reports/*/*.json` computes every law,
verdict and statistic of the records again. The command below a chart draws it, in the GPU's folder.

| folder | what |
|---|---|
END
    local gpu name command
    for gpu in $gpus; do
        echo "| [$gpu]($gpu/README.md) | [report.html]($gpu/report.html): one page with verdicts, charts, tables and data; [contact sheet]($gpu/contact_sheet.svg) |"
    done
    if [ -d published ]; then
        echo '| published | figures that others published, each with its source: see [docs/published.md](../docs/published.md) |'
    fi
    for gpu in $gpus; do
        printf '\n## %s\n' "$(sed -n '1s/^# //p' "$gpu/README.md")"
        commands "$gpu" | while IFS=$'\t' read -r name command; do
            printf '\n![%s](%s/%s)\n\n`%s`\n' "$(title "$gpu/$name")" "$gpu" "$name" "$command"
        done
    done
}

gpus=
for folder in */; do
    folder=${folder%/}
    [ "$folder" = published ] || [ ! -e "$folder/README.md" ] || gpus="$gpus $folder"
done
for gpu in $gpus; do
    UBENCH=$UBENCH bash charts.sh "$gpu"
    pages=("$gpu"/*.json)
    [ ! -e "published/$gpu.json" ] || pages+=("published/$gpu.json")
    "$UBENCH" report "${pages[@]}" -o "$gpu/report.html" --force
    mapfile -t charts < <(commands "$gpu" | cut -f1 | sed "s:^:$gpu/:")
    "$CONTACT_SHEET" "$gpu/contact_sheet.svg" "${charts[@]}"
done
readme >README.md.part
mv README.md.part README.md
