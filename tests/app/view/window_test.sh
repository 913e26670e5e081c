#!/usr/bin/env bash
# Drives the window of `view` with keys, on a separate display:  window_test.sh PROGRAM HAS_OPENCV
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/support.sh"

program=$1 has_opencv=$2
((has_opencv)) || skip "this build has no OpenCV"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in Xvfb xdotool xwd python3; do
    command -v "$tool" >/dev/null || skip "$tool was not found: install xvfb, xdotool, x11-apps and python3"
done
cd "$work"

# Synthetic digits, few and hard enough that some are mistaken.
"$program" evaluate --device cpu --limit-train 300 --limit-test 400 -q --report report >/dev/null 2>&1
listed=$("$program" view --from report --text --limit 400 -q 2>/dev/null | sed -n 's/^#\([0-9]*\) .*true \([0-9]*\) .*/\1 \2/p')
mapfile -t wrong <<<"$listed"
check "there are several mistakes" test "${#wrong[@]}" -ge 3
image() { echo "${wrong[$1]%% *}"; }
label() { echo "${wrong[$1]##* }"; }

# -displayfd lets the server choose a number that is free; without -noreset it starts anew, and refuses connections for a
# moment, whenever its last client leaves: between the program's look for a display and its window, say.
mkfifo number
Xvfb -displayfd 3 -noreset -screen 0 1280x900x24 3>number 2>/dev/null &
server=$!
children+=("$server")
read -r display <number
export DISPLAY=:$display

seen() { xwd -root -silent | md5sum; }

# Waits up to 40 s for a command to succeed: the toolkit behind the window starts slowly on a busy machine.
wait_for() {
    local tries
    for ((tries = 0; tries < 400; ++tries)); do
        if "$@"; then return; fi
        sleep 0.1
    done
    echo "waited in vain for: $*"
    return 1
}
window_id() { xdotool search --name 'mnist-knn view' 2>/dev/null | tail -n 1; }
is_open() { [[ -n $(window_id) ]]; }
is_other() { [[ $(seen) != "$1" ]]; }
has_ended() { ! kill -0 "$viewer" 2>/dev/null; }

start() {  # OPTION...
    local blank
    blank=$(seen)
    "$program" view --from report "$@" >out 2>err &
    viewer=$!
    children+=("$viewer")
    wait_for is_open
    wait_for is_other "$blank"
    sleep 0.5  # until all of it is drawn
}
# Presses keys; after each one the picture must change.
press() {
    local key before
    for key; do
        before=$(seen)
        xdotool key "$key"
        check "$key shows something else" wait_for is_other "$before"
        sleep 0.2
    done
}
ended() {  # WHAT
    check "$1 ends the program" wait_for has_ended
    local status=0
    wait "$viewer" || status=$?
    check "$1 ends it well" equal "$status" 0
    check "$1: nothing on standard error" equal "$(cat err)" ""
}

start
first=$(seen)
press n
second=$(seen)
press Right
press p
check "p shows the one before" equal "$(seen)" "$second"
press Left
check "the left arrow shows the one before" equal "$(seen)" "$first"
press h
press h
check "help goes away" equal "$(seen)" "$first"
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
check "the same key again shows all" equal "$(seen)" "$first"
xdotool key q
ended q

start --order index
xdotool key Escape
ended Escape

start
python3 "$here/close_window.py" "$(window_id)"
ended "closing the window"

start
kill -INT "$viewer"
check "Ctrl-C ends the program" wait_for has_ended
status=0
wait "$viewer" || status=$?
check "Ctrl-C gives 130" equal "$status" 130

start
kill "$server"
check "the end of the display server ends the program" wait_for has_ended
check "it says so in one line" grep -qx 'mnist-knn: error: window: the display server is gone; expected .*' err
check "and in no other" equal "$(wc -l <err)" 1

check "nothing but what was saved is left" test "$(find . -name 'digit-*.png' | wc -l)" -eq 2
