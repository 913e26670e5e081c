#!/usr/bin/env bash
# Loads `mnist-knn serve` for a while, with faults beside:  tools/soak.sh BUILD [SECONDS]
# BUILD: a build folder with the program and its tests. SECONDS: by default 600. Digits by predict are compared with those of `evaluate`,
# pictures with those of `classify`; damaged pictures, cut requests and silent connections come beside. At the end the server's
# resident memory is compared with that after the first minute, at most a fifth of the time. Exit code 1: something was wrong.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
(($# == 1 || $# == 2)) || refuse "$# words; expected BUILD [SECONDS]"
program=$1/app/mnist-knn load=$1/tests/serve_load seconds=${2:-600}
[[ -x $program && -x $load ]] || refuse "$1: has no program or no serve_load; expected a build folder"
check_number SECONDS "$seconds"
((seconds >= 10)) || refuse "$seconds: no duration; expected at least 10 seconds"
work=$(mktemp -d)
trap 'kill ${server:-} ${clients[@]:-} 2>/dev/null || true; rm -rf "$work"' EXIT

"$program" info --write-synthetic "$work/data" >/dev/null 2>&1
common=(--data "$work/data" --device cpu --method raw)
"$program" evaluate -q "${common[@]}" --predictions "$work/p.csv" >/dev/null 2>&1
images=$work/data/t10k-images-idx3-ubyte
{ printf 'P5 280 280 255\n'; head -c 78416 "$images" | tail -c +17; } >"$work/good.pgm"  # no picture of a digit, but of ink
"$program" classify --json - "${common[@]}" - <"$work/good.pgm" | python3 -c 'import json, sys; print(json.load(sys.stdin)["pictures"][0]["digit"])' \
    >"$work/expected"

"$program" serve --port 0 -q "${common[@]}" >"$work/out" 2>"$work/err" &
server=$!
until [[ -s $work/out ]]; do sleep 0.1; done
address=$(<"$work/out") address=${address%/}
port=${address##*:}
until curl -sf "$address/readyz" >/dev/null; do sleep 0.1; done
resident() { curl -s "$address/metrics" | sed -n 's/^process_resident_memory_bytes //p'; }

# Faults, until they are killed.
faults() {
    local kind
    while :; do
        for kind in 'GIF89a' 'P5 9 9 255' ''; do
            printf '%s' "$kind" | curl -s -o /dev/null --data-binary @- -H 'Content-Type: image/png' "$address/v1/classify" || true
        done
        curl -s -o /dev/null -X POST -H 'Content-Length: 99999999' "$address/v1/predict" || true
        curl -s -o /dev/null -H 'Host: elsewhere.example' "$address/v1/info" || true
        { printf 'POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 784\r\n\r\nabc' "$port" >&3; } 3<>"/dev/tcp/127.0.0.1/$port" || true
        head -c 100 /dev/urandom 2>/dev/null >"/dev/tcp/127.0.0.1/$port" || true
        sleep 0.05
    done
}
pictures() {
    while :; do
        curl -s --data-binary "@$work/good.pgm" -H 'Content-Type: image/x-portable-graymap' "$address/v1/classify" |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["pictures"][0]["digit"])' >"$work/got" || true
        cmp -s "$work/got" "$work/expected" || echo "another answer than classify" >>"$work/wrong"
        sleep 0.1
    done
}
silent() {
    while :; do
        for _ in {1..20}; do sleep 12 <>"/dev/tcp/127.0.0.1/$port" & done
        wait
    done
}
clients=()
for client in faults pictures silent; do
    "$client" 2>/dev/null &
    clients+=($!)
done

first=$((seconds / 5 < 60 ? seconds / 5 : 60))
"$load" "$port" 24 "$first" "$images" 1 "$work/p.csv" || echo "load" >>"$work/wrong"
before=$(resident)
"$load" "$port" 24 $((seconds - first)) "$images" 1 "$work/p.csv" || echo "load" >>"$work/wrong"
after=$(resident)
kill "${clients[@]}" 2>/dev/null || true
clients=()
printf 'resident memory: %d MB after %d s, %d MB at the end\n' $((before / 1000000)) "$first" $((after / 1000000))
((after < before + 20000000)) || echo "memory grows" >>"$work/wrong"
kill "$server"
wait "$server" || echo "the server ended with $?" >>"$work/wrong"
server=
[[ ! -s $work/err ]] || sed 's/^/server: /' "$work/err"
if [[ -s $work/wrong ]]; then
    sort "$work/wrong" | uniq -c >&2
    exit 1
fi
echo "nothing was wrong"
