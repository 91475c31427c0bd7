#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# ubench report as a user types it: names, streams, exit codes, records read back, hostile
# strings, no gnuplot.
set -u
. "$(dirname "$0")/../lib.sh"
need python3
check_page=$UBENCH_SOURCE/tests/report/check_page.py
# expect STATUS WORDS ARGUMENT...: exit status, and words on standard error or output
expect() {
    local status=$1 words=$2
    shift 2
    "$UBENCH" "$@" >out 2>err
    local got=$?
    [ $got -eq "$status" ] || fail "ubench $*: exit $got, not $status: $(head -c 400 err)"
    [ -z "$words" ] || grep -qF -- "$words" err out || fail "ubench $*: '$words' is not in: $(head -c 400 err)"
}
page() { # PAGE [TEXT]... [--charts N]
    "$python" "$check_page" "$@" 2>&1 | tail -n 5 | grep . && fail "$*"
}
gnuplot=0
command -v gnuplot >/dev/null && gnuplot=1
charts() { # how many charts there must be, of those that gnuplot would draw
    echo $(($1 * gnuplot))
}

expect 0 "" run coalescing bank_conflict --device model:h200 -f json -o pred.json -q
expect 0 "" run coalescing --stride 1..8 --device model:a100 -f json -o a100.json -q
h200=$UBENCH_SOURCE/reports/h200
null=$h200/null.json

# Names and files.
cp "$null" run.json
expect 0 "wrote run.html" report run.json
page run.html "NVIDIA H200: 1 of 1 law holds" "64 of 64 exact counters equal the laws’ integers, 9 of 9 times" "proves neither the text" "Method" "Ceilings" "measured in this run" --charts "$(charts 2)"
expect 74 "run.html exists; --force overwrites it" report run.json
expect 0 "wrote run.html" report run.json --force
expect 0 "would write a report of 2 records to report.html" report run.json a100.json --dry-run
[ -e report.html ] && fail "--dry-run wrote a file"
expect 0 "wrote report.html" report run.json a100.json
page report.html "Predicted, not measured." "Laws assumed."
expect 0 "" report run.json -o - -q
cmp -s out run.html || fail "-o - is not the page"
expect 0 "" report run.json -o quiet.html -q
[ -s err ] && [ $gnuplot = 1 ] && fail "-q is not quiet: $(cat err)"
expect 2 "report what?" report
expect 65 "missing.json: cannot open" report missing.json
expect 65 "this is not a JSON record" report "$check_page" -o x.html
expect 74 "No such file or directory" report run.json -o none/a.html
expect 74 "No space left" report run.json -o /dev/full
expect 2 "report takes no --suite" report run.json --suite quick
[ "$(ls -- *.tmp* x.html 2>/dev/null)" = "" ] || fail "left behind: $(ls)"

# What is written is none of what is read, whatever its name.
ln -s run.json alias.json
ln run.json other.html
cp run.json kept.json
expect 2 "run.json is read as run.json: give what is written another name" report run.json -o run.json --force
expect 2 "run.json is read as alias.json" report a100.json alias.json -o run.json --force
expect 2 "other.html is read as run.json" report run.json -o other.html --force
expect 2 "run.html is read as run.html#1" report 'run.html#1' -o run.html --force
expect 2 "alias.json is read as run.json" plot run.json --term svg -o alias.json --force
cmp -s run.json kept.json || fail "a record was overwritten by what was made of it"
rm other.html

# A page is a record again.
expect 0 "16 points, measured; 64 exact counters tested, 0 broken" check run.html
expect 0 "" report run.html -o again.html -q
cmp -s run.html again.html || fail "a page of a page differs"
expect 0 "" show run.html -f json
"$UBENCH" show run.json -f json >plain.json
"$python" - <<'END' || fail "the record of a page differs from the record"
import json
plain, page = json.load(open("plain.json")), json.load(open("out"))
for point in plain["ubench"]["points"]:
    if point["time_ns"]:
        point["time_ns"].update(samples=None, clock_mhz=None, flags=None)
for point in page["ubench"]["points"]:
    if point["time_ns"]:
        assert point["time_ns"].pop("mean_clock_mhz", 1980) > 1000
assert json.dumps(plain) == json.dumps(page)
END
expect 0 "report.html#2: " check report.html
expect 65 "holds 2 records; write report.html#NUMBER" show report.html
expect 0 "PREDICTED for NVIDIA A100" show 'report.html#2'
expect 65 "it holds 2 records: there is no #3" show 'report.html#3'
expect 65 "#1 is for a report" show 'run.json#1'
echo '<html><body>no</body></html>' >other.html
expect 65 "this is a page, but no report of ubench" report other.html -o x.html
if [ $gnuplot = 1 ]; then
    expect 0 "wrote report.svg" plot 'report.html#2'
    expect 0 "wrote both.svg" plot pred.json a100.json --stride 1..8 --op load --bytes 4 -o both.svg
    grep -q "NVIDIA A100-SXM4-80GB (predicted)" both.svg || fail "both.svg does not name its runs"
    expect 2 "a chart shows 1 to 6 runs" plot pred.json{,,,,,,} -o x.svg
    expect 2 "this record has no points of the rule null" plot run.json a100.json -o x.svg
fi

# All records that the project shows: small enough to send to somebody.
expect 0 "" report "$h200"/*.json -o all.html -q
page all.html "NVIDIA H200"
[ $gnuplot = 0 ] || ! grep -q "No chart" all.html || fail "all.html lacks a chart: $(grep -m1 -o 'No chart:[^.]*' all.html)"
[ $gnuplot = 0 ] || expect 0 "wrote picked.svg" plot all.html --rule divergence -o picked.svg
expect 2 "holds no run of the rule nothing" plot all.html --rule nothing -o x.svg
expect 2 "write all.html#NUMBER for one of them, or --rule: #1 " plot all.html -o x.svg
head -c 1000000 all.html >cut.html
expect 65 "cut.html: this page is cut off" check cut.html
size=$(wc -c <all.html)
records=("$h200"/*.json) # charts, tables, data and sources of a rule
[ "$size" -lt $((${#records[@]} * 360448)) ] || fail "the page of reports/h200 has $size bytes"
expect 0 "" check all.html

# Figures of others are a third kind, beside what is predicted and measured.
published=$UBENCH_SOURCE/reports/published
expect 0 "" report "$h200"/coalescing.json "$published"/h200.json -o third.html -q
page third.html "Figures that others published" "model is off by" "measured here" "the model rests on"
expect 0 "published by others" check third.html
expect 0 "" report third.html -o again.html --force -q
cmp -s third.html again.html || fail "a page of a page with published figures differs"
expect 0 "" report "$published"/a100.json -o only.html -q
page only.html "(published): " "none tested"

page third.html "1 record, " ", and 1 of published figures"
page only.html "1 record of published figures"
expect 0 "alias.json is given twice and taken once" report run.json alias.json -o once.html
cmp -s run.html once.html || fail "a record that is given twice counts twice"

# Warnings come first, a line a kind; what repeats is folded, numbers have no more digits than matter.
"$python" - <<'END'
import json
record = json.load(open("run.json"))
u = record["ubench"]
u["device"]["throttle_reasons"] = "software power cap"
u["warnings"] = [{"code": "throttled", "point": None, "text": "the clock is held down: software power cap"}] + [
    {"code": "two-modes", "point": p, "text": "round 2.14043e+06, 67497.53 and 0.0312345678 ns, not 12.4.131"} for p in (1, 2)]
json.dump(record, open("warned.json", "w"))
END
expect 0 "" report warned.json -o warned.html -q
page warned.html "two-modes 2 times" "round 2140430, 67498 and 0.03123 ns, not 12.4.131"
[ "$(grep -ci "throttled</strong>\|throttled.</strong>" warned.html)" -eq 1 ] || fail "warned.html says throttled twice"

# No verdict that the check does not find again: what a record says of itself is not enough.
"$python" - <<'END'
import json
def change(name, edit):
    record = json.load(open("run.json"))
    for point in record["ubench"]["points"]:
        edit(point)
    json.dump(record, open(name, "w"))
def zero(p):
    if p["time_ns"]:
        p["time_ns"].update({k: 0 for k, v in p["time_ns"].items() if k in ("median", "ci_lo", "ci_hi", "min", "p05", "p95")})
        p["time_ns"]["samples"] = [0.0] * len(p["time_ns"]["samples"])
def stale(p):
    if p["time_ns"]:
        for k in ("median", "ci_lo", "ci_hi", "min", "p05", "p95", "mad"):
            p["time_ns"][k] *= 1.5
        p["time_ns"]["samples"] = [1.5 * s for s in p["time_ns"]["samples"]]
change("zero.json", zero)
change("stale.json", stale)
change("untimed.json", lambda p: p.update(time_ns=None))
change("unknown.json", lambda p: p.update(rule="nill"))
unknown = open("unknown.json").read() # constants that its points measured go with them
open("unknown.json", "w").write(unknown.replace("measured in this run: null", "measured in this run: nill"))
END
for record in zero stale untimed; do
    expect 1 "problem" check $record.json
    expect 0 "" report $record.json -o $record.html -q
    page $record.html "NVIDIA H200: 0 of 1 law holds, 1 contradicts itself" "contradicts itself null"
    grep -q "holds</strong>" $record.html && fail "$record.html: a green verdict"
done
expect 0 "" report unknown.json -o unknown.html -q
page unknown.html "NVIDIA H200: 0 of 1 law holds, 1 is not checked" "not checked nill" "this build has no rule"
grep -q "holds</strong>" unknown.html && fail "unknown.html: a green verdict"
grep -q "contradicts itself\|not checked" run.html && fail "run.html: a sound record is suspected"

# Without gnuplot every table is there, and the page says what is missing.
UBENCH_GNUPLOT=/nonexistent expect 0 "charts are missing: charts need gnuplot" report run.json -o plain.html
page plain.html "Charts are missing." "apt install gnuplot-nox" "Table of 11 points" --charts 0

# A signal while gnuplot hangs ends all of it and leaves nothing behind.
mkdir hang
cat >hang/gnuplot <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "gnuplot 5.4 patchlevel 4"; exit; }
echo $$ >"$STARTED"
exec sleep 300
END
chmod +x hang/gnuplot
mkfifo started
exec 3<>started
STARTED=$PWD/started TMPDIR=$PWD/hang UBENCH_GNUPLOT=$PWD/hang/gnuplot "$UBENCH" report run.json -o hung.html 2>err &
drawing=$!
read -rt 60 child <&3 || fail "gnuplot was not started: $(cat err)"
kill -TERM $drawing
wait $drawing 2>/dev/null
[ $? -eq 143 ] || fail "SIGTERM: another exit"
for ((try = 0; try < 200; try++)); do # it is killed, but dies when it is its turn
    state=$(ps -o stat= -p "$child" | cut -c1 | tr -d Z)
    [ -z "$state" ] && break
done
[ -z "$state" ] || { fail "SIGTERM: gnuplot lives on"; kill -9 "$child"; }
[ "$(ls hang)" = gnuplot ] || fail "SIGTERM: left among temporary files: $(ls hang)"
[ -z "$(ls -- *hung* 2>/dev/null)" ] || fail "SIGTERM: left behind: $(ls)"
exec 3>&-

# Redaction takes names out of the text as well as out of the data.
sed 's|"uuid": null|"uuid": "GPU-1234"|; s|"ubench", "run"|"/srv/secret/ubench", "run"|' run.json >named.json
expect 0 "" report named.json -o named.html -q
grep -q 'GPU-1234' named.html && grep -q '/srv/secret' named.html || fail "the test does not see names"
expect 0 "" report named.json -o redacted.html --redact -q
grep -q 'GPU-1234\|/srv/secret' redacted.html && fail "--redact leaves names"

# Strings that would do something, were they ever more than text.
"$python" - <<'END'
import json
record = json.load(open("run.json"))
u = record["ubench"]
evil = ["<script>alert(1)</script>", "`touch hacked`", "$(touch hacked)", "</script><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>", "' onmouseover='alert(1)", "-->]]>", "{{x}}", "=cmd|' /C calc'!A0", "\u202egnp",
        "G" * 300, "&lt;&amp;", "%s%n%zu", "\x1b[31m", "file:///etc/passwd", "javascript:alert(1)"]
for number, text in enumerate(evil):
    u["device"].update(name=text, chip=text, driver=text, vbios=text, throttle_reasons=text, uuid=text)
    u["run"].update(argv=[text, "x'y"], version=text, started=text, id=text, counters=text)
    u["run"]["build"].update(nvcc=text, archs=text, code_hash=text)
    u["constants"][0].update(origin=text[:100])
    u["warnings"] = [{"code": text, "point": 3, "text": text}, {"code": text, "point": None, "text": text}]
    point = u["points"][5]
    point.update(status="failed", reason=text, level=text, cache=text, data=text, time_ns=None, metrics={})
    point["law"]["time"].update(note=text, bottleneck=text)
    for counter in u["points"][4]["counters"].values():
        counter.update(raw=text, reason=text, unit=text)
    json.dump(record, open("evil%d.json" % number, "w"))
    other = json.loads(json.dumps(record))
    for p in other["ubench"]["points"]:
        p.update(rule=text, sweep=text, axes={text: text})
    json.dump(other, open("foreign%d.json" % number, "w"))
END
for record in evil*.json foreign*.json; do
    expect 0 "" report "$record" -o "${record%.json}.html" -q
    page "${record%.json}.html"
    expect 0 "" report "${record%.json}.html" -o twice.html --force -q
    page twice.html
done
[ -z "$(find . -name '*hacked*')" ] || fail "text of a record was run"

# The page's own test sees what it looks for.
for bad in '<img src="http://x/y.png"/>' '<p onclick="x()">x</p>' '<a href="http://x/">x</a>' '<h4>x</h4>' \
    '<p id="rules">x</p>' '<script>x()</script>' '<table><tr><td>x</td></tr></table>' '<style>p{background:url(x)}</style>' \
    '<svg role="img"></svg>' '<p aria-labelledby="none">x</p>' '<p>'; do
    awk -v bad="$bad" '{print} /^<main>/ {print bad}' run.html >bad.html
    "$python" "$check_page" bad.html >/dev/null 2>&1 && fail "the test itself is broken: it does not see $bad"
done

# A decimal comma changes nothing.
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >/dev/null 2>&1; then
    LOCPATH=$scratch LC_ALL=de_DE.UTF-8 "$UBENCH" report run.json -o comma.html -q 2>err || fail "locale de_DE: $(cat err)"
    cmp -s run.html comma.html || fail "the page differs in the locale de_DE"
fi
finish "pages of $(ls -- *.json | wc -l) records looked at; reports/h200 is $size bytes"
