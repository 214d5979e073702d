# Date functions. POSIX shell only; source this file.

# is_leap_year YEAR: succeeds if YEAR has 366 days.
is_leap_year() {
    [ $(($1 % 4)) -eq 0 ]
}

# days_in_month YEAR MONTH: prints the number of days, MONTH from 1 to 12.
days_in_month() {
    case $2 in
        4 | 6 | 9 | 11) echo 30 ;;
        2) if is_leap_year "$1"; then echo 29; else echo 28; fi ;;
        *) echo 31 ;;
    esac
}
