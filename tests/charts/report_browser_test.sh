#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The report in a browser: no word on the console, no request, nothing wider than a
# telephone; pictures of it in light, dark, on a telephone and on paper, which stay in
# UB_SHOTS where that names a folder. Skips itself without Chromium.
set -u
. "$(dirname "$0")/../lib.sh"
need python3
browser=
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && { browser=$name; break; }
done
[ -n "$browser" ] || { echo "SKIP: no Chromium"; exit 77; }

options=(--headless --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking
    --disable-component-update --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$scratch/profile")
[ "$(id -u)" -ne 0 ] || options+=(--no-sandbox) # as root there is no other way
browse() { # ARGUMENT...: what the browser says goes to $scratch/said
    timeout 120 "$browser" "${options[@]}" "$@" >"$scratch/dom" 2>"$scratch/said"
}
browse --screenshot="$scratch/blank.png" about:blank
[ -s "$scratch/blank.png" ] || { echo "SKIP: $browser does not start here: $(tail -n 1 "$scratch/said")"; exit 77; }

# Prints what the page said on the console and what it asked the network for.
complaints() { # PAGE
    rm -f "$scratch/net.json"
    browse --enable-logging=stderr --log-net-log="$scratch/net.json" --window-size=1000,3000 \
        --screenshot="$scratch/page.png" "file://$1"
    grep CONSOLE "$scratch/said"
    "$python" - "$scratch/net.json" <<'END'
import json, sys
text = open(sys.argv[1]).read().rstrip()
try:
    log = json.loads(text)
except ValueError: # the browser was still writing
    log = json.loads(text.rstrip(",") + "]}")
names = {number: name for name, number in log["constants"]["logEventTypes"].items()}
for event in log["events"]:
    asked = event.get("params", {})
    if names[event["type"]] == "URL_REQUEST_START_JOB" and asked.get("initiator", "not an origin") != "not an origin":
        print("a request for", asked["url"][:100])
END
}

# The test sees what it looks for.
cat >"$scratch/bad.html" <<'END'
<!DOCTYPE html><html><body><img src="http://example.invalid/x.png"><script>nothing()</script></body></html>
END
seen=$(complaints "$scratch/bad.html")
grep -q "nothing is not defined" <<<"$seen" && grep -q "example.invalid" <<<"$seen" ||
    fail "the test itself is broken: of a bad page it sees only: $seen"

"$UBENCH" report "$UBENCH_SOURCE"/reports/h200/*.json -o "$scratch/all.html" -q
sed 's|"name": "NVIDIA H200"|"name": "<script>alert(1)</script><img src=http://example.invalid/y>"|' \
    "$UBENCH_SOURCE/reports/h200/null.json" >"$scratch/hostile.json"
"$UBENCH" report "$scratch/hostile.json" -o "$scratch/hostile.html" -q
for page in all hostile; do
    seen=$(complaints "$scratch/$page.html")
    [ -z "$seen" ] || fail "$page.html: $seen"
done

shots=${UB_SHOTS:-$scratch}
browse --window-size=1000,3000 --screenshot="$shots/light.png" "file://$scratch/all.html"
browse --blink-settings=preferredColorScheme=0 --window-size=1000,3000 --screenshot="$shots/dark.png" "file://$scratch/all.html"
browse --window-size=360,3000 --screenshot="$shots/telephone.png" "file://$scratch/all.html"
browse --no-pdf-header-footer --print-to-pdf="$shots/print.pdf" "file://$scratch/all.html"
for shot in light dark telephone; do
    [ "$(head -c 8 "$shots/$shot.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "no picture $shot"
done
cmp -s "$shots/light.png" "$shots/dark.png" && fail "light and dark are the same picture"
[ "$(head -c 5 "$shots/print.pdf")" = %PDF- ] || fail "the page does not print"

# Nothing of the page sticks out of a telephone, folded up or not.
# (A window of Chromium is never narrower than 500 px, a frame may be.)
cat >"$scratch/frame.html" <<'END'
<!DOCTYPE html><html><body><p id="answer">none</p><iframe width="360" height="800" src="probe.html"></iframe>
<script>onmessage = function (e) { document.getElementById('answer').textContent = e.data; };</script></body></html>
END
for state in '<details' '<details open="open"'; do
    sed "/Content-Security-Policy/d; s|<details|$state|; s|</body>|<script>parent.postMessage(innerWidth + ' px hold ' + document.documentElement.scrollWidth, '*');</script></body>|" \
        "$scratch/all.html" >"$scratch/probe.html"
    browse --virtual-time-budget=10000 --dump-dom "file://$scratch/frame.html"
    answer=$(grep -o '[0-9]* px hold [0-9]*' "$scratch/dom" | head -n 1)
    [ "${answer%% *}" = "${answer##* }" ] && [ -n "$answer" ] || fail "on a telephone ($state): ${answer:-no answer}"
done
finish "looked at in $("$browser" --version 2>/dev/null)"
