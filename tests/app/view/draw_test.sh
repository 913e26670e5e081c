#!/usr/bin/env bash
# Draws in the window of `draw` with the mouse, on a separate display:  draw_test.sh PROGRAM HAS_OPENCV
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/support.sh"

program=$1 has_opencv=$2
((has_opencv)) || skip "this build has no OpenCV"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
title='mnist-knn draw'
unset DISPLAY
status=0
told=$("$program" draw 2>&1) || status=$?
check "without a display it fails" equal "$status" 1
check "and says so" contains "$told" "mnist-knn: error: no window: "
check "in one line" equal "$(wc -l <<<"$told")" 1
# shellcheck source=tests/app/view/display.sh
source "$here/display.sh"
cd "$work"

draw() { start "$program" draw --limit-train 2000 --no-cache "$@"; }
# A stroke through points of the pad: X Y ...
stroke() {
    local before geometry X Y
    geometry=$(xdotool getwindowgeometry --shell "$(window_id)")
    X=$(sed -n 's/^X=//p' <<<"$geometry") Y=$(sed -n 's/^Y=//p' <<<"$geometry")
    before=$(seen)
    xdotool mousemove $((X + 36 + $1)) $((Y + 84 + $2)) mousedown 1
    while (($#)); do
        xdotool mousemove $((X + 36 + $1)) $((Y + 84 + $2))
        sleep 0.05
        shift 2
    done
    xdotool mouseup 1
    check "a stroke shows" wait_for is_other "$before"
    sleep 1  # the answer follows
}

draw
empty=$(seen)
stroke 240 80 240 160 240 240 240 400
one=$(seen)
press s
check "s saves the drawing" test -s drawing.png
check "classify reads it" "$program" classify --limit-train 2000 --no-cache -q drawing.png >answer
check "and gives a digit or ?" grep -qx '[0-9?]' answer
stroke 100 400 380 400
two=$(seen)
check "a second stroke shows" test "$two" != "$one"
press u
check "u takes the second stroke back" wait_for is_as "$one"
press s
check "the next drawing gets a name of its own" test -s drawing-2.png
check "which is the same drawing" cmp drawing.png drawing-2.png
press c
check "c clears" wait_for is_as "$empty"
xdotool key q
ended q

draw --reject off
interrupted

check "--many is for classify" ! "$program" draw --many 2>/dev/null
check "nothing but what was saved is left" test "$(find . -name 'drawing*.png' | wc -l)" -eq 2
