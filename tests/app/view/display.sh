# shellcheck shell=bash
# shellcheck disable=SC2154  # title
# Sourced by the tests of windows: a separate display, one window on it, keys and pictures. The test sets `title` to the
# window's title.

for tool in Xvfb xdotool xwd python3; do
    command -v "$tool" >/dev/null || skip "$tool was not found: install xvfb, xdotool, x11-apps and python3"
done

# -displayfd lets the server choose a number that is free; without -noreset it starts anew, and refuses connections for a
# moment, whenever its last client leaves: between the program's look for a display and its window, say.
mkfifo "$work/number"
Xvfb -displayfd 3 -noreset -screen 0 1280x900x24 3>"$work/number" 2>/dev/null &
server=$!
children+=("$server")
read -r display <"$work/number"
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
window_id() { xdotool search --name "$title" 2>/dev/null | tail -n 1; }
is_open() { [[ -n $(window_id) ]]; }
is_other() { [[ $(seen) != "$1" ]]; }
is_as() { [[ $(seen) == "$1" ]]; }
has_ended() { ! kill -0 "$shown" 2>/dev/null; }

# start PROGRAM ARGUMENT...: until its window is drawn
start() {
    local blank
    blank=$(seen)
    "$@" >out 2>err &
    shown=$!
    children+=("$shown")
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
    wait "$shown" || status=$?
    check "$1 ends it well" equal "$status" 0
    check "$1: nothing on standard error but names of files" equal "$(grep -v "^mnist-knn: \(wrote \|note: no data set found\)" err)" ""
}
interrupted() {
    kill -INT "$shown"
    check "Ctrl-C ends the program" wait_for has_ended
    local status=0
    wait "$shown" || status=$?
    check "Ctrl-C gives 130" equal "$status" 130
}

