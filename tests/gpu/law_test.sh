#!/usr/bin/env bash
# On a GPU: every rule runs, every answer is right, no law is broken.
set -eu
. "$(dirname "$0")/lib.sh"
"$ubench" run all --suite quick -f json -o "$out/all.json" -q
"$ubench" check "$out/all.json"
