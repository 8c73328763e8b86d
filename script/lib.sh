# shellcheck shell=sh
# What the scripts share. Sourced, never run: each script sets `set -eu` and sources it first.
#
# After it: $root is the repository, the working directory is $root, $cores is how many jobs to run.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit
# shellcheck disable=SC2034 # the scripts that source this file use it
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# shellcheck disable=SC2034 # the scripts that source this file use it
me=$(basename -- "$0")

say() {
    printf '%s: %s\n' "$me" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

now() {
    date +%s
}

# Runs a command with its output in a file, and shows the file only when the command fails: on the good path a
# script says one line, on the bad one nothing is hidden. `quietly WHAT COMMAND...`
quietly() {
    quiet_what=$1
    shift
    quiet_log=$(mktemp)
    quiet_status=0
    "$@" >"$quiet_log" 2>&1 || quiet_status=$?
    if [ "$quiet_status" -ne 0 ]; then
        # What ninja did before it failed is of no interest.
        grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating) ' "$quiet_log" >&2 || true
        say "$quiet_what failed (status $quiet_status)"
    fi
    rm -f "$quiet_log"
    return "$quiet_status"
}

# Of a build directory that has run no test yet, ctest does not know which ones take long, and would end with these, one after the other:
# test/seconds says so.
know_the_long() {
    know_file=$1/Testing/Temporary/CTestCostData.txt
    [ ! -e "$know_file" ] || return 0
    mkdir -p "${know_file%/*}"
    { sed -n 's/^\([^ #]*\) \([0-9]*\)$/\1 1 \2/p' test/seconds && echo ---; } >"$know_file"
}

# ctest in build directory $1 with further options, one line a test; fails when a test does. Twice as many at a time as there are cores: half of
# a test's time is waiting. A test that has not ended
# after $tests_seconds hangs: no test is near that. $tests_under is a command to run it under, or nothing. The status goes
# round the pipe, which would swallow it.
tests_under=
tests_seconds=600
run_tests() {
    tests_dir=$1
    shift
    know_the_long "$tests_dir"
    tests_status=$({
        {
            tests_ended=0
            # shellcheck disable=SC2086 # several words, or none
            $tests_under ctest --test-dir "$tests_dir" --output-on-failure --no-tests=error -j $((cores * 2)) \
                --timeout "$tests_seconds" "$@" 2>&1 || tests_ended=$?
            echo "$tests_ended" >&3
        } | grep --line-buffered -Ev '^ +Start +[0-9]+: ' >&4
    } 3>&1) 4>&1
    return "$tests_status"
}
