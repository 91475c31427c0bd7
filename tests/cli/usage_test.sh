#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The command line of the built program: exit codes, messages, what goes to stdout
# and what to stderr, and what happens to output that cannot be written.
set -u
. "$(dirname "$0")/../lib.sh"
card=(--device model:h200)

show_output() {
    echo "--- stdout"
    head -c 2000 out
    echo "--- stderr"
    head -c 2000 err
}

# expect STATUS TEXT ARGUMENT...: the status; TEXT on stderr, or on stdout where the
# status is 0; nothing on stdout of a usage error, and the hint after it.
expect() {
    local wanted=$1 text=$2 status stream=err
    shift 2
    "$UBENCH" "$@" >out 2>err
    status=$?
    [ "$wanted" -eq 0 ] && stream=out
    if [ "$status" -ne "$wanted" ] || ! grep -q -F -e "$text" $stream; then
        fail "ubench $*: status $status (wanted $wanted), looked for \"$text\""
        show_output
    fi
    if [ "$wanted" -eq 2 ]; then
        [ ! -s out ] || fail "ubench $*: a usage error wrote to stdout"
        grep -q "^try: ubench help" err || fail "ubench $*: no hint"
        [ "$(grep -c "^ubench: " err)" -ge 1 ] || fail "ubench $*: no message"
    fi
}

# ---- the command line ---------------------------------------------------------

expect 2 "no verb given"
expect 2 "unknown verb 'rnu'; did you mean run?" rnu
expect 2 "coalescing is a rule, not a verb; did you mean ubench run coalescing?" coalescing
expect 2 "run what?" run
expect 2 "unknown rule 'colaescing'; did you mean coalescing?" run colaescing "${card[@]}"
expect 2 "did you mean coalescing?" describe coalescin
expect 2 "run has no option --strid; did you mean --stride?" run coalescing --strid 1..32
expect 2 "null has no axis --stride" run null --stride 1..4 "${card[@]}"
expect 2 "--stride given twice" run coalescing --stride 1 --stride 2
expect 2 "--output given twice" run coalescing -o a -o b
expect 2 "--cold and --hot exclude each other" run coalescing --cold --hot
expect 2 "list takes no --device" list --device 0
expect 2 "there is no help on 'rnages'; did you mean ranges?" help rnages
expect 2 "did you mean model:h200?" run coalescing --device model:h20

# ---- ranges -------------------------------------------------------------------

while IFS='|' read -r range message; do
    expect 2 "$message" run coalescing --stride "$range" "${card[@]}"
done <<'END'
0|0 is below this axis's limit of 1
1..|the upper end is missing
..8|the lower end is missing
8..1..2|a range has two ends
1..32:0|the step must not be 0
-3|-3 is below this axis's limit of 1
1e9|write 1000000000
12345678901234567890|is above this axis's limit of 1024
abc|'abc' is not a whole number
|a value is missing
64K|write 64Ki (65536) or 64k (64000)
1..2048|2048 is above this axis's limit of 1024
END
expect 2 "'laod' is not a value of this axis; did you mean load?" run coalescing --op laod "${card[@]}"
expect 2 "--force allows more" run coalescing --stride 1..1024 --offset 0..127 "${card[@]}"
expect 2 "--size takes auto or" run coalescing --size 0..1000000000000000000 "${card[@]}"

# The caret stands below the place, in a message that shows the text.
"$UBENCH" run coalescing --stride 1..32:0 "${card[@]}" 2>err
grep -A 2 -F -e "--stride 1..32:0: the step must not be 0" err | sed 1d >place
printf '  1..32:0\n        ^\n' | cmp -s - place || fail "the caret is not where it should be: $(cat place)"

# --dry-run stands anywhere and writes nothing.
for line in "--dry-run run coalescing --stride 1..3" "run --dry-run coalescing --stride 1..3" \
    "run coalescing --stride 1..3 --dry-run"; do
    # shellcheck disable=SC2086
    expect 0 "stride=3" $line "${card[@]}"
done
rm -f out err place
[ -z "$(ls)" ] || fail "--dry-run left files: $(ls)"

# ---- help, version ------------------------------------------------------------

expect 0 "ubench run coalescing --stride 1..32" help
expect 0 "ubench run coalescing --stride 1..32" --help
for verb in run list describe show plot check devices metrics occupancy doctor; do
    expect 0 "ubench $verb" help $verb
    expect 0 "ubench $verb" $verb --help
    "$UBENCH" help | grep -q "^  $verb" || fail "help does not name $verb"
    "$UBENCH" help $verb | awk -v most=80 'length($0) > most { print; bad = 1 } END { exit bad }' ||
        fail "help $verb is wider than 80 columns"
done
"$UBENCH" help | grep -q __worker && fail "help names a hidden verb"
expect 0 "1..1024:x2" help ranges
expect 0 "structural" help counters
expect 0 "global_load_sectors" help counters
expect 0 "openmetrics" help formats
expect 0 "UBENCH_TIME_LIMIT" help environment
for code in 0 1 2 3 4 5 6 65 69 70 74 "130, 143"; do
    expect 0 "  $code " help exit
done
expect 0 "distinct 32-byte sectors" help coalescing
expect 0 "ubench 0." --version
expect 0 "kernels " --version

# ---- environment --------------------------------------------------------------

UBENCH_DEVICE=model:a100 UBENCH_FORMAT=json "$UBENCH" run coalescing --stride 1 >out 2>err
grep -q '"NVIDIA A100' out || fail "UBENCH_DEVICE is not heard"
UBENCH_DEVICE=model:a100 UBENCH_FORMAT=json "$UBENCH" run coalescing --stride 1 "${card[@]}" >out 2>err
grep -q '"NVIDIA H200' out || fail "--device does not win over UBENCH_DEVICE"
UBENCH_ROUNDS=many "$UBENCH" run coalescing "${card[@]}" >out 2>err
status=$?
[ $status -eq 2 ] && grep -q "UBENCH_ROUNDS many: write a whole number" err || fail "UBENCH_ROUNDS=many: $status, $(cat err)"

# ---- output that cannot be written --------------------------------------------

record=(run coalescing --stride 1..4 "${card[@]}" -f json)
expect 74 "/dev/full" "${record[@]}" -o /dev/full
expect 74 "nowhere" "${record[@]}" -o nowhere/run.json
"$UBENCH" "${record[@]}" -o one.json -q
expect 74 "it is a folder" show one.json -f csv -o .
rm one.json
echo precious >kept.json
expect 74 "kept.json exists; --force overwrites it" "${record[@]}" -o kept.json
[ "$(cat kept.json)" = precious ] || fail "an existing file was overwritten"
"$UBENCH" "${record[@]}" -o kept.json --force 2>err || fail "--force does not overwrite: $(cat err)"
grep -q '"schema": 1' kept.json || fail "--force wrote no record"
ln -s kept.json link.json
"$UBENCH" "${record[@]}" -o link.json --force 2>err || fail "a link is not followed: $(cat err)"
[ -L link.json ] || fail "the link was replaced by a file"
mkfifo pipe
cat pipe >from_pipe &
"$UBENCH" "${record[@]}" -o pipe 2>err || fail "a pipe is not written to: $(cat err)"
wait $!
grep -q '"schema": 1' from_pipe || fail "the pipe got no record"
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    expect 74 "locked" "${record[@]}" -o locked/run.json
    chmod 755 locked
fi
for stream in "list" "help" "--version" "run coalescing --stride 1..4 --device model:h200 -f csv"; do
    # shellcheck disable=SC2086
    "$UBENCH" $stream >/dev/full 2>err
    status=$?
    [ $status -eq 74 ] && grep -q "No space left" err || fail "$stream >/dev/full: $status, $(cat err)"
    # shellcheck disable=SC2086
    "$UBENCH" $stream >&- 2>err
    status=$?
    [ $status -eq 74 ] || fail "$stream with stdout closed: $status, $(cat err)"
done
[ -z "$(find . -name '*.tmp.*')" ] || fail "left behind: $(find . -name '*.tmp.*')"

# A closed stdout is not taken by the record's file.
"$UBENCH" "${record[@]}" -o closed.json >&- 2>err
python3 -m json.tool closed.json >out || fail "a closed stdout spoiled the record"

# A reader that goes away ends the program without a word.
python3 - "$UBENCH" >out <<'END' || fail "broken pipe: $(cat out)"
import os, subprocess, sys
for arguments in (["list"], ["help", "run"], ["run", "coalescing", "--stride", "1..4", "--device", "model:h200", "-f", "json"]):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.argv[1], *arguments], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    if done.returncode != 141 or done.stderr:
        sys.exit(f"{arguments}: {done.returncode} {done.stderr!r}")
END

finish
