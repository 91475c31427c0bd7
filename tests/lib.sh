# SPDX-License-Identifier: MIT
#
# Shared by the tests of the command line and of charts: a scratch folder, in which they work,
# an environment without settings of whoever runs them, the count of what failed, and the end.
# What is missing skips a test (77), which says what.
: "${UBENCH:?the program to test}" "${UBENCH_SOURCE:?the folder of the source}"
UBENCH=$(readlink -f "$UBENCH")
fake=$(readlink -f "${UBENCH_FAKE_BINARY:-$UBENCH}") # the program over the fake device
for setting in "${!UBENCH_@}" NO_COLOR CLICOLOR_FORCE; do
    case $setting in UBENCH_SOURCE | UBENCH_BUILD | UBENCH_FAKE_BINARY) ;; *) unset "$setting" ;; esac
done
python=/usr/bin/python3 # one in a user's folder may lack a module
[ -x "$python" ] || python=$(command -v python3)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export UBENCH_LOCK_DIR=$scratch CI=1 # no lock of another run, no progress
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

need() { # PROGRAM...
    local program
    for program; do
        command -v "$program" >/dev/null || {
            echo "SKIP: $program is not installed"
            exit 77
        }
    done
}

finish() { # [WHAT WAS SEEN]
    [ "$failures" -eq 0 ] || {
        echo "$failures failed"
        exit 1
    }
    echo "${1:-all fine}"
    exit 0
}
