# Shared by the GPU tests: skips (77, with the reason) where there is no GPU.
# SKIPS_AS_FAILS=1 (a GPU runner) turns a skip into a failure.
skip() {
    echo "SKIP: $1"
    [ "${SKIPS_AS_FAILS:-0}" = 1 ] && exit 1
    exit 77
}
ubench=${UBENCH:?the path of the binary}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$ubench" run null --device 0 --dry-run >/dev/null 2>"$out/why" || skip "no GPU to measure: $(head -n 1 "$out/why")"
