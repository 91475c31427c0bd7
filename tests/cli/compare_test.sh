#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `ubench compare` as a user types it: runs of one card, cards, models, published figures,
# everything that can be wrong with its input, and that no text of a record does anything.
set -u
. "$(dirname "$0")/../lib.sh"
need python3
data=$UBENCH_SOURCE/tests/golden/compare
# expect STATUS WORDS ARGUMENT...: the status, and that WORDS are on stdout or stderr
expect() {
    local wanted=$1 words=$2 status
    shift 2
    "$UBENCH" compare "$@" >out 2>err
    status=$?
    if [ "$status" -ne "$wanted" ] || { [ -n "$words" ] && ! grep -q -F -e "$words" out err; }; then
        fail "compare $*: status $status (wanted $wanted), looked for \"$words\" in:"
        head -n 20 out err
    fi
}
# says EXPRESSION: python about `c`, the comparison in out
says() {
    python3 - "$1" <<'END' || fail "not so: $1"
import json, sys
c = json.load(open("out", encoding="utf-8"))
verdicts = [p["runs"][1]["verdict"] for p in c["points"]] if len(c["runs"]) > 1 else []
sys.exit(not eval(sys.argv[1]))
END
}
# change FROM TO STATEMENTS: python with `u`, the record
change() {
    python3 - "$1" "$2" "$3" <<'END' || fail "cannot change $1"
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
u = document["ubench"]
exec(sys.argv[3])
json.dump(document, open(sys.argv[2], "w", encoding="utf-8"))
END
}

# ---- two runs of one card: no false alarm; a rule that was made 3 % slower -------------

expect 0 "0 slower, 0 faster, 57 the same, 1 unsure" "$data/a.json" "$data/b.json"
expect 0 "" "$data/a.json" "$data/b.json" -f json --fail-on slower
says '"slower" not in verdicts and "faster" not in verdicts and len(verdicts) == 58'
expect 0 "" "$data/b.json" "$data/a.json" -f json
says '"slower" not in verdicts and "faster" not in verdicts'
for seed in 2 3 4 5 6 7; do
    expect 0 "0 slower, 0 faster" "$data/a.json" "$data/b.json" --seed $seed
done
expect 1 "13 slower" "$data/a.json" "$data/slow.json" --rule coalescing --fail-on slower
expect 1 "" "$data/a.json" "$data/slow.json" -f json --fail-on slower
says 'all(p["runs"][1]["verdict"] in ("slower", "unsure") for p in c["points"] if p["rule"] == "coalescing")'
says 'c["runs"][1]["slower"] == verdicts.count("slower") == 14'
says 'all(r["ratio"]["lo"] <= r["ratio"]["value"] <= r["ratio"]["hi"] for p in c["points"] for r in p["runs"][1:])'
expect 0 "13 faster" "$data/slow.json" "$data/a.json" --rule coalescing --fail-on slower
expect 1 "1 unsure" "$data/a.json" "$data/b.json" --fail-on unsure
expect 0 "13 the same" "$data/a.json" "$data/a.json" --rule coalescing --fail-on unsure
expect 0 "0 slower" "$data/a.json" "$data/slow.json" --rule coalescing --margin 5% --fail-on slower
expect 0 "in cycles" "$data/a.json" "$data/slow.json" --explain
expect 0 "Mann-Whitney p" "$data/a.json" "$data/slow.json" --explain -f md
expect 0 "would compare 58 points" "$data/a.json" "$data/b.json" --dry-run
expect 0 "B slower" "$data/a.json" "$data/b.json" "$data/slow.json"

# ---- outputs ------------------------------------------------------------------------------

expect 0 "" "$data/a.json" "$data/slow.json" -o said.md
grep -q '^| coalescing | command | stride=1 op=load | 467.0 us | 482.4 us | 0.968 | 0.967 to 0.968 | \*\*slower\*\* |  |$' said.md ||
    fail "said.md: $(grep -m 3 coalescing said.md)"
grep -q '^<details><summary>What is the same</summary>$' said.md || fail "said.md folds nothing"
expect 74 "said.md exists; --force overwrites it" "$data/a.json" "$data/slow.json" -o said.md
expect 0 "" "$data/a.json" "$data/slow.json" -o said.json
python3 -m json.tool said.json >/dev/null || fail "said.json is no JSON"
cp "$data/a.json" mine.json
ln -s mine.json mine.svg
expect 2 "mine.json is read as mine.json" mine.json "$data/b.json" -o mine.json --force
expect 2 "mine.svg is read as mine.json" "$data/b.json" mine.json --plot mine.svg --force
cmp -s mine.json "$data/a.json" || fail "a record was overwritten"
expect 74 "nowhere" "$data/a.json" "$data/b.json" -o nowhere/x.md
expect 2 "compare writes human, json or md, not csv" "$data/a.json" "$data/b.json" -f csv
expect 2 "compare writes human, json or md, not csv" "$data/a.json" "$data/b.json" -o x.csv
if [ -e /dev/full ]; then
    "$UBENCH" compare "$data/a.json" "$data/b.json" >/dev/full 2>err
    [ $? -eq 74 ] || fail "a full disk was not noticed"
fi

# ---- models and cards ------------------------------------------------------------------------

expect 0 "by the laws" "$data/a.json" model:a100
expect 0 "PREDICTED for NVIDIA A100-SXM4-80GB" "$data/a.json" model:a100
expect 0 "" "$data/a.json" model:a100 -f json
says 'set(verdicts) == {"not-tested"} and not c["one_card"] and c["runs"][1]["source"] == "predicted"'
says 'all(p["runs"][1]["predicted_ratio"] is not None for p in c["points"] if p["rule"] == "coalescing")'
says '[k for k in c["constants"] if k["name"] == "dram_load_ceiling"][0]["runs"][1]["origin"].startswith("assumed")'
expect 0 "PREDICTED for NVIDIA H200" model:h200 "$data/a.json"
expect 0 "C a100 pred. / A" model:h200 model:h100 model:a100 --rule bank_conflict
expect 2 "there is no such card" "$data/a.json" model:a1000
expect 2 "did you mean coalescing?" model:h200 model:a100 --rule colescing
expect 2 "only measured times can be tested" "$data/a.json" model:h200 --fail-on slower
change "$data/a.json" other.json 'u["device"]["name"] = "NVIDIA A40"; u["device"]["slug"] = "a40"'
expect 2 "the runs are of different cards" "$data/a.json" other.json --fail-on slower
expect 0 "the cards differ, so no word is a test of a change" "$data/a.json" other.json
expect 0 "B of its ceiling" "$data/a.json" other.json

# ---- published figures -----------------------------------------------------------------------

expect 0 "published figures, and what the model says" "$UBENCH_SOURCE/reports/published/a100.json"
expect 0 "of the published" "$UBENCH_SOURCE/reports/published/h200.json" "$data/a.json"
expect 0 "" model:a100 "$UBENCH_SOURCE/reports/published/a100.json" -f json
says 'all(f["published_by"] and f["kind"] and f["error"] is not None and f["rests_on"] for f in c["published"])'
says 'all(abs(f["predicted"] / f["published"] - 1 - f["error"]) < 1e-9 for f in c["published"])'
expect 65 "published figures to compare with, which are no runs and cannot be drawn" "$data/a.json" \
    "$UBENCH_SOURCE/reports/published/h200.json" --plot figures.svg
expect 65 "no published figure of the rule divergence" "$UBENCH_SOURCE/reports/published/a100.json" --rule divergence
UBENCH=$UBENCH "$UBENCH_SOURCE/reports/published.sh" >published.md || fail "reports/published.sh"
diff published.md "$UBENCH_SOURCE/docs/published.md" >/dev/null ||
    fail "docs/published.md is not what reports/published.sh prints: write it again"

# ---- wrong on the command line ---------------------------------------------------------------

expect 2 "compare what? write: ubench compare A.json B.json..."
expect 2 "compare takes two runs or more" "$data/a.json"
# shellcheck disable=SC2046
expect 2 "at most 16 runs" $(for _ in $(seq 17); do echo "$data/a.json"; done)
for margin in 2 0.02 -1% 51% % x% 1%% "" "2% 3%" 1e999% nan% inf%; do
    expect 2 "--margin" "$data/a.json" "$data/b.json" --margin="$margin"
done
expect 2 "slower|unsure" "$data/a.json" "$data/b.json" --fail-on faster
expect 2 "did you mean --margin" "$data/a.json" "$data/b.json" --margn 2%
expect 65 "none.json: cannot open" "$data/a.json" none.json
expect 65 "cannot open" "$data/a.json" ""

# ---- wrong in the files --------------------------------------------------------------------------

hostile=$UBENCH_SOURCE/tests/golden/hostile
expect 65 "this is a file of Google Benchmark" "$data/a.json" "$hostile/google_benchmark.json"
expect 65 "this is a file of nvbench" "$hostile/nvbench.json" "$data/a.json"
expect 65 "was written by a newer ubench: schema" "$data/a.json" "$hostile/higher_schema.json"
for file in "$hostile"/*; do
    "$UBENCH" compare "$data/a.json" "$file" >out 2>err
    status=$?
    [ $status -eq 65 ] && [ -s err ] || fail "$file: status $status, $(cat err)"
done
change "$data/a.json" none.json 'u["points"] = []; u["warnings"] = []'
expect 65 "nothing to compare: no point has a result in both" "$data/a.json" none.json
change "$data/a.json" cold.json 'for p in u["points"]: p["cache"] = "cold"'
expect 65 "same rule, axes, data and cache" "$data/a.json" cold.json
change "$data/a.json" size.json 'for p in u["points"]:
    if "size" in p["axes"]: p["axes"]["size"] = 2**30'
expect 0 "not in size.json" "$data/a.json" size.json
expect 65 "no point has a result in both" "$data/a.json" size.json --rule coalescing
change "$data/a.json" lost.json 'for p in u["points"][:3]: p["time_ns"] = None; p["status"] = "failed"; p["reason"] = "a wrong sum"'
expect 0 "failed: a wrong sum" "$data/a.json" lost.json
change "$data/a.json" untimed.json 'for p in u["points"]: p["time_ns"] = None'
expect 0 "no time" "$data/a.json" untimed.json
expect 0 "58 not tested" "$data/a.json" untimed.json
expect 65 "no point could be tested in untimed.json" "$data/a.json" untimed.json --fail-on slower
change "$data/a.json" zero.json 'for p in u["points"]:
    if p["time_ns"]: p["time_ns"].update(median=0, ci_lo=0, ci_hi=0, samples=[0.0] * len(p["time_ns"]["samples"]))'
expect 0 "a time of zero" "$data/a.json" zero.json
change "$data/a.json" one.json 'u["points"] = u["points"][:1]; u["warnings"] = []'
expect 0 "of 1 points" one.json "$data/b.json"
change "$data/a.json" single.json 'for p in u["points"]:
    t = p["time_ns"]
    if t: t.update(n=1, samples=t["samples"][:1], clock_mhz=None, flags=[], ci_lo=None, ci_hi=None)'
expect 0 "58 unsure" single.json single.json
expect 0 "fewer than 6 samples have no interval" single.json single.json
expect 65 "no point could be tested in single.json: fewer than 6 samples" "$data/a.json" single.json --fail-on slower
expect 65 "no point could be tested in single.json" "$data/a.json" "$data/b.json" single.json --fail-on slower
expect 1 "58 unsure" "$data/a.json" single.json --fail-on unsure
change "$data/a.json" brief.json 'for p in u["points"]:
    t = p["time_ns"]
    if t: t.update(samples=None, clock_mhz=None, flags=None)'
expect 0 "interval of the medians" brief.json brief.json
change "$data/a.json" clock.json 'for p in u["points"]:
    t = p["time_ns"]
    if t and t["clock_mhz"]:
        t.update(median=t["median"] * 1.1, ci_lo=t["ci_lo"] * 1.1, ci_hi=t["ci_hi"] * 1.1,
                 samples=[s * 1.1 for s in t["samples"]], clock_mhz=[c / 1.1 for c in t["clock_mhz"]])'
expect 0 "by the clock alone: as many cycles as before" "$data/a.json" clock.json --fail-on slower
h200=$UBENCH_SOURCE/reports/h200/null.json
change "$h200" off.json 'for p in u["points"]:
    if p["time_ns"]: p["time_ns"]["median"] *= 1.5'
expect 0 "off.json does not pass ubench check: " "$h200" off.json
grep -q "null.json does not pass" err && fail "a sound record is suspected"
expect 0 "" "$h200" off.json -q
[ -s err ] && fail "-q is not quiet: $(cat err)"
expect 0 "" "$h200" model:a100
[ -s err ] && fail "a sound record and a model: $(cat err)"
change "$data/a.json" half.json 'u["run"]["complete"] = False'
expect 0 "INCOMPLETE" "$data/a.json" half.json

# ---- hostile texts: in every field, in every output ------------------------------------------------

cat >hostile.py <<'END'
import json, sys
text, out = sys.argv[1], sys.argv[2]
document = json.load(open(sys.argv[3], encoding="utf-8"))
u = document["ubench"]
u["device"].update(name=text, slug=text, driver=text)
u["run"].update(version=text, started=text)
for c in u["constants"]:
    c["origin"] = text[:150]
for p in u["points"]:
    p["rule"] = text + p["rule"]
    p["sweep"] = text
    p["data"] = p["cache"] = text
    p["axes"] = {text + k: text + str(v) for k, v in p["axes"].items()}
    p["reason"] = text
    for m in p["metrics"].values():
        m["unit"] = text
json.dump(document, open(out, "w", encoding="utf-8"))
END
texts=('<script>alert(1)</script>' '`touch hacked`' "'; system('touch hacked'); print '" '@everyone **bold** | cell |' '=cmd()|x!A1'
    '$(touch hacked)' '%s%n%d' "$(printf '\033[31mred\a\r\nline')" '" \ ] } EOD' "$(printf 'x%.0s' $(seq 300))" '﷽‮abc😀')
for text in "${texts[@]}"; do
    python3 hostile.py "$text" x.json "$data/a.json"
    python3 hostile.py "$text" y.json "$data/slow.json"
    expect 0 "slower" x.json y.json
    grep -q "$(printf '\033')" out && fail "an escape code reached the terminal"
    expect 0 "slower" x.json y.json -f md
    grep -q '<script>' out && fail "HTML in markdown"
    grep -q -F '@everyone' out && fail "a mention in markdown"
    awk '/^\|/ {gsub(/\\\|/, ""); if (n && gsub(/\|/, "") != n) bad = 1} !/^\|/ {n = 0} /^\|[-:|]*$/ {n = gsub(/\|/, "")} END {exit bad}' out ||
        fail "a cell of markdown broke for $text"
    [ "$(wc -c <out)" -le 60000 ] || fail "the comment has $(wc -c <out) bytes"
    expect 0 "" x.json y.json -f json
    says 'c["runs"][0]["device"] is not None and len(c["points"]) == 58'
    if command -v gnuplot >/dev/null; then
        expect 0 "chart in" x.json y.json --plot "chart.svg" --force
        python3 - <<'END' || fail "chart of $text"
import xml.etree.ElementTree as ET
root = ET.parse("chart.svg").getroot()
assert not [e for e in root.iter() if e.tag.endswith("script")], "a script"
END
    fi
    [ -e hacked ] && { fail "$text was run"; rm -f hacked; }
done

# ---- a locale with a decimal comma; widths ------------------------------------------------------------

"$UBENCH" compare "$data/a.json" "$data/slow.json" -f json >plain
"$UBENCH" compare "$data/a.json" "$data/slow.json" >plain.txt
for locale in $(locale -a 2>/dev/null | grep -i -E '^(de_DE|fr_FR|pt_BR)' | head -n 2); do
    LC_ALL=$locale "$UBENCH" compare "$data/a.json" "$data/slow.json" -f json | cmp -s - plain || fail "$locale: other JSON"
    LC_ALL=$locale expect 0 "0.968" "$data/a.json" "$data/slow.json" --margin 2.5%
done

# ---- many points -------------------------------------------------------------------------------------

change "$data/slow.json" many.json 'import copy
points = [p for p in u["points"] if p["rule"] == "coalescing"]
u["points"] = []
for k in range(77):
    for p in points:
        q = copy.deepcopy(p)
        q["axes"]["offset"] = k
        u["points"].append(q)
u["warnings"] = []'
change many.json less.json 'for p in u["points"]: p["time_ns"]["samples"] = [s / 1.1 for s in p["time_ns"]["samples"]]; p["time_ns"]["median"] /= 1.1'
expect 0 "of 1001 points 1001 slower" less.json many.json
expect 0 "and " less.json many.json -f md
[ "$(wc -c <out)" -le 60000 ] || fail "a comment of $(wc -c <out) bytes"
grep -q '^and [0-9]* more$' out || fail "the comment does not say what it leaves out"
expect 0 "and 1001 points that are the same; -v shows each" many.json many.json
expect 0 "stride=32 offset=76" many.json many.json -v

# ---- the chart ------------------------------------------------------------------------------------------

if command -v gnuplot >/dev/null; then
    for ending in svg png pdf txt; do
        expect 0 "chart in c.$ending" "$data/a.json" "$data/slow.json" --plot c.$ending
        [ -s c.$ending ] || fail "no c.$ending"
    done
    for words in "14 of 58 points are slower, 13 of them of coalescing" "95 % bootstrap interval" "grey: ±2 %" \
        "0.968  [0.967, 0.968]" ">slower<" ">unsure<" ">same<" "coalescing: stride=8 op=load"; do
        grep -q -F -e "$words" c.svg || fail "c.svg lacks $words"
    done
    expect 0 "chart in m.svg" "$data/a.json" model:a100 --plot m.svg
    grep -q -F "A100-SXM4-80GB against H200" m.svg && grep -q "what the laws say" m.svg || fail "m.svg"
    expect 0 "chart in n.svg" model:h200 model:h100 model:b200 --plot n.svg --keep-script --dark
    grep -q "C B200" n.svg && [ -s n.gp ] || fail "n.svg"
    expect 0 "Nothing changed" "$data/a.json" "$data/b.json" --plot - --term dumb
    expect 74 "c.svg exists; --force" "$data/a.json" "$data/b.json" --plot c.svg
    expect 2 "the ending" "$data/a.json" "$data/b.json" --plot c.gif
    expect 65 "nothing to draw" "$data/a.json" untimed.json --plot u.svg
else
    echo "gnuplot is not installed: no chart was drawn"
fi

finish
