#!/bin/sh
# One step of `git bisect run`: build, then test, and answer in bisect's exit codes.
set -u

usage() {
    cat <<'TEXT'
usage: bisect_step.sh BUILD_COMMAND TEST_COMMAND [REPEATS]

Runs BUILD_COMMAND, then TEST_COMMAND up to REPEATS times (default 1, at most 100).
Prints one line of JSON to stdout; what the commands print goes to stderr.

exit status: 0 good, 1 bad, 125 skip (build failed), 128 wrong use or test not found
example:     git bisect run sh bisect_step.sh 'make -s' 'python -m pytest -q t.py' 3
TEXT
}

report() {
    printf '{"commit": "%s", "verdict": "%s", "runs": %d}\n' "$commit" "$1" "$2"
}

case "${1:-}" in
    -h | --help) usage; exit 0 ;;
esac
[ $# -ge 2 ] || { usage >&2; exit 128; }
repeats=${3:-1}
case "$repeats" in
    '' | *[!0-9]* | ????*) usage >&2; exit 128 ;;
esac
[ "$repeats" -ge 1 ] && [ "$repeats" -le 100 ] || { usage >&2; exit 128; }

commit=$(git rev-parse --short HEAD 2>/dev/null || echo none)

if ! sh -c "$1" >&2; then
    report skip 0
    exit 125
fi

run=1
while [ "$run" -le "$repeats" ]; do
    sh -c "$2" >&2
    status=$?
    # 126 and 127 mean that the test itself could not start: that must not blame a commit.
    if [ "$status" -eq 126 ] || [ "$status" -eq 127 ]; then
        report "no-test" "$run"
        exit 128
    fi
    if [ "$status" -ne 0 ]; then
        report bad "$run"
        exit 1
    fi
    run=$((run + 1))
done
report good "$repeats"
