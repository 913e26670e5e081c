#!/usr/bin/env bash
# two_hosts.sh COMMAND...: runs COMMAND on a host that reaches a second one, both played by this machine: each has its own
# network and its own name (knn-a, 10.99.0.1, and knn-b, 10.99.0.2), a cable joins their devices knn0, and folders are
# shared. mpirun starts its daemon on the other one as it would by ssh. All is gone when this process ends, however it
# ends. Exits as COMMAND does; with 99 and a line if a process of it is left 10 s later.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin  # where Debian has ip
here=$(realpath "${BASH_SOURCE[0]}")

on_other() { nsenter --net --uts --target "$KNN_OTHER_HOST" sh -c "$1"; }

# The other processes, one a line. All of the two hosts have their own numbers, which begin at 1.
others() {
    local process name
    for process in /proc/[0-9]*; do
        name=$(sed -n 's/^State:\t\([A-Z]\).*/\1/p' "$process/status" 2>/dev/null) || continue  # it has ended
        [[ $name != Z && ${process#/proc/} != "$$" && ${process#/proc/} != "$BASHPID" &&
            ${process#/proc/} != "$KNN_OTHER_HOST" ]] || continue
        tr '\0' ' ' <"$process/cmdline" 2>/dev/null && echo
    done
}

case ${1:-} in
    --agent)  # as ssh: HOST COMMAND...; there is one other host
        shift 2
        on_other "$*"
        exit ;;
    --inside) shift ;;
    *)
        command -v ip >/dev/null || { echo "ip was not found (Debian: iproute2)" >&2; exit 1; }
        user=()
        ((EUID == 0)) || user=(--map-root-user)
        exec unshare "${user[@]}" --net --uts --pid --mount --fork --kill-child --mount-proc "$here" --inside "$@" ;;
esac

mount -t tmpfs none /dev/shm  # Open MPI's names there hold process numbers, which are not unique now
hostname knn-a
ip link set lo up
coproc other { exec unshare --net --uts sh -c 'hostname knn-b && ip link set lo up && echo ready && exec sleep infinity'; }
# shellcheck disable=SC2154  # coproc sets it
export KNN_OTHER_HOST=$other_PID
read -r _ <&"${other[0]}"
ip link add knn0 type veth peer name knn0 netns "$KNN_OTHER_HOST"
ip addr add 10.99.0.1/24 dev knn0
ip link set knn0 up
on_other 'ip addr add 10.99.0.2/24 dev knn0 && ip link set knn0 up'
# TCP's probes find a lost host only where no packet waits for an answer. One that does is given up after this many
# retries, 3 s in all; the usual 15 take a quarter of an hour.
retries=/proc/sys/net/ipv4/tcp_retries2
echo 3 >"$retries"
on_other "echo 3 >$retries"

export OMPI_MCA_plm_rsh_agent="$here --agent" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
code=0
"$@" || code=$?
for ((i = 0; i < 100; ++i)); do
    left=$(others)
    [[ -n $left ]] || exit "$code"
    sleep 0.1
done
echo "left behind: $left" >&2
exit 99
