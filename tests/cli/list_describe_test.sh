#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench list` and `ubench describe`: they show what the tables of a rule have, for
# people within the width of a page, for programs as JSON.
set -u
. "$(dirname "$0")/../lib.sh"

has() { # FILE TEXT...
    local file=$1 text
    shift
    for text in "$@"; do
        grep -q -F -e "$text" "$file" || fail "$file lacks \"$text\""
    done
}

"$UBENCH" list >list || fail "list: $?"
has list "  null " "  coalescing " "ubench describe RULE"
"$UBENCH" describe fusion | tr -s ' \n' ' ' >shares
has shares "it may be more than 100 %"
"$UBENCH" list --json >list.json || fail "list --json: $?"
python3 - >rules <<'END' || fail "list --json: $(cat rules)"
import json
rules = {rule["name"]: rule for rule in json.load(open("list.json"))["rules"]}
assert list(rules)[:2] == ["null", "coalescing"], list(rules)
axes = {axis["name"]: axis for axis in rules["coalescing"]["axes"]}
assert axes["stride"]["minimum"] == 1 and axes["stride"]["maximum"] == 1024, axes["stride"]
assert axes["op"]["words"] == ["load", "store", "copy"], axes["op"]
assert axes["size"]["zero_word"] == "auto", axes["size"]
assert axes["stride"]["default"] == "1", axes["stride"]
assert "global_load_sectors" in rules["coalescing"]["counters"]
assert any("default" in sweep["suites"] for sweep in rules["coalescing"]["sweeps"])
for name, rule in rules.items():
    assert rule["rule"] and rule["metrics"] and rule["sweeps"], name
END

# Every rule of the list can be described; nothing is wider than the page.
for rule in $(python3 -c 'import json; print(*[r["name"] for r in json.load(open("list.json"))["rules"]])'); do
    "$UBENCH" describe "$rule" >describe || fail "describe $rule: $?"
    has describe Law "Where it breaks" "What follows" "Folk claims" Axes Sweeps Metrics Sources
    awk 'length($0) > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' describe || fail "$rule: wider than 80"
    grep -q ' $' describe && fail "$rule: blanks at the end of a line"
    grep -q $'\033' describe && fail "$rule: colours in a file"
done
"$UBENCH" describe coalescing >describe
tr -s ' \n' ' ' <describe >flat # without the breaks of lines
has flat "--stride 1..1024" "--op load|store|copy" "default load" "64 points; suites default" "dram_load_ceiling" \
    "useful_bandwidth at op=load"
grep -q "global_load_sectors  *structural; " describe || fail "no class for global_load_sectors"
grep -q "dram_read_bytes  *estimate; " describe || fail "no class for dram_read_bytes"
grep -q "no law" describe && fail "a counter without a law: $(grep "no law" describe)"

# Colours where they are asked for, and only there.
"$UBENCH" describe null --color always | grep -q $'\033\[1mLaw' || fail "--color always: no bold heading"
CLICOLOR_FORCE=1 "$UBENCH" describe null | grep -q $'\033' || fail "CLICOLOR_FORCE: no colours"
NO_COLOR=1 CLICOLOR_FORCE=1 "$UBENCH" describe null | grep -q $'\033' && fail "NO_COLOR: colours"
NO_COLOR=1 "$UBENCH" describe null --color always | grep -q $'\033' || fail "--color does not win over NO_COLOR"

# On a terminal the page follows its width.
if command -v script >/dev/null; then
    TERM=dumb script -qec "stty cols 50; '$UBENCH' describe null" /dev/null </dev/null >narrow 2>&1
    tr -d '\r' <narrow | awk 'length($0) > 50 { print; bad = 1 } END { exit bad }' || fail "wider than the terminal"
    grep -q Law narrow || fail "describe on a terminal: $(head -5 narrow)"
fi

finish
