# Tests of lib/dates.sh. Run with: sh tests/run.sh
cd "$(dirname "$0")/.." || exit 1
. lib/dates.sh

failed=0

check() {
    if [ "$2" = "$3" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: expected $3, got $2"
        failed=$((failed + 1))
    fi
}

check "April has 30 days" "$(days_in_month 2023 4)" 30
check "February 2023" "$(days_in_month 2023 2)" 28
check "February 2024" "$(days_in_month 2024 2)" 29
check "February 2000" "$(days_in_month 2000 2)" 29
check "February 1900" "$(days_in_month 1900 2)" 28

if [ "$failed" -gt 0 ]; then
    echo "$failed failed"
    exit 1
fi
echo "all passed"
