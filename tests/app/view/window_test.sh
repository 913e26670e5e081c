#!/usr/bin/env bash
# Drives the window of `view` with keys, on a separate display:  window_test.sh PROGRAM HAS_OPENCV
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/support.sh"

program=$1 has_opencv=$2
((has_opencv)) || skip "this build has no OpenCV"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
title='mnist-knn view'
# shellcheck source=tests/app/view/display.sh
source "$here/display.sh"
cd "$work"

# Synthetic digits, few and hard enough that some are mistaken.
"$program" evaluate --device cpu --limit-train 300 --limit-test 400 -q --report report >/dev/null 2>&1
listed=$("$program" view --from report --text --limit 400 -q 2>/dev/null | sed -n 's/^#\([0-9]*\) .*true \([0-9]*\) .*/\1 \2/p')
mapfile -t wrong <<<"$listed"
check "there are several mistakes" test "${#wrong[@]}" -ge 3
image() { echo "${wrong[$1]%% *}"; }
label() { echo "${wrong[$1]##* }"; }

view() { start "$program" view --from report "$@"; }

view
first=$(seen)
press n
second=$(seen)
press Right
press p
check "p shows the one before" wait_for is_as "$second"
press Left
check "the left arrow shows the one before" wait_for is_as "$first"
press h
press h
check "help goes away" wait_for is_as "$first"
press n n s
check "s saves the third digit" test -s "digit-$(image 2).png"
check "the picture is a PNG" equal "$(head -c 4 "digit-$(image 2).png" | tail -c 3)" PNG
press Home

# The first digit of another label than the first one's.
for ((other = 1; other < ${#wrong[@]} - 1; ++other)); do
    [[ $(label "$other") == "$(label 0)" ]] || break
done
press "$(label "$other")" s
check "a digit key filters by the true label" test -s "digit-$(image "$other").png"
press "$(label "$other")"
press Home
check "the same key again shows all" wait_for is_as "$first"
xdotool key q
ended q

view --order index
xdotool key Escape
ended Escape

view
python3 "$here/close_window.py" "$(window_id)"
ended "closing the window"

view
interrupted

view
kill "$server"
check "the end of the display server ends the program" wait_for has_ended
check "it says so in one line" grep -qx 'mnist-knn: error: window: the display server is gone; expected .*' err
check "and in no other" equal "$(wc -l <err)" 1

check "nothing but what was saved is left" test "$(find . -name 'digit-*.png' | wc -l)" -eq 2
