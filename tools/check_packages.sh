#!/usr/bin/env bash
# Builds Debian's packages, and installs, uses and removes them in a Debian 12 that has nothing else:  tools/check_packages.sh [--bin BUILD]
# --bin: a build with prefix /usr whose packages are taken, instead of build/packages. Needs root, a network and mmdebstrap.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
build=$root/build/packages
case ${1:-} in
--bin) build=$(cd "${2:?--bin needs a folder}" && pwd) ;;
?*) refuse "$1: unknown option" ;;
esac
[[ $(id -u) == 0 ]] || die "a system of its own needs root"
install_missing "${build_packages[@]}" mmdebstrap
if [[ $build == "$root/build/packages" ]]; then
    logged packages cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF
    logged packages cmake --build "$build" --parallel
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
system=$work/system
(cd "$build" && cpack -G DEB -B "$work/packages" >/dev/null)
logged mmdebstrap mmdebstrap --variant=apt bookworm "$system"

inside() { chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
installed() { logged apt inside apt-get -y --no-install-recommends "$@"; }
# Every path but those that any package leaves, and those of the caller.
paths() {
    (cd "$system" && find . \( -path ./proc -o -path ./tmp -o -path ./root -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
        -o -path ./var/log -o -path ./etc/ld.so.cache \) -prune -o -print) | sort
}
# What the packages need comes first, so that what is compared is theirs.
mapfile -t needed < <(for package in "$work"/packages/*.deb; do dpkg-deb -f "$package" Depends; done |
    tr ',' '\n' | sed 's/ *(.*//; s/^ *//; s/ *|.*//' | grep -vE 'mnist-?knn' | sort -u)
installed update
installed install "${needed[@]}" g++ cmake ninja-build pkg-config
paths >"$work/before"

cp -r "$work/packages" "$root/examples" "$system/tmp/"
packages=("$work"/packages/*.deb)
installed install "${packages[@]/#*\//\/tmp\/packages\/}"
paths >"$work/with"
say "installed: ${packages[*]##*/}"
inside mnist-knn evaluate -q --device cpu --predictions /tmp/predictions.csv
inside sh -c 'cmake -S /tmp/examples -B /tmp/built -G Ninja >/dev/null && cmake --build /tmp/built >/dev/null && /tmp/built/neighbors && /tmp/built/threads'
# shellcheck disable=SC2016  # it is the shell in there that expands
inside sh -c 'cc $(pkg-config --cflags mnist_knn) /tmp/examples/neighbors.c $(pkg-config --libs mnist_knn) -lm -o /tmp/neighbors && /tmp/neighbors'
inside python3 -c 'import mnist_knn
print(mnist_knn.NearestNeighbors(n_neighbors=2).fit([[0, 0], [3, 4], [9, 9]]).kneighbors([[1, 1]]))'

inside dpkg --purge mnist-knn python3-mnist-knn libmnistknn-dev libmnistknn0 >/dev/null
paths >"$work/after"
if ! cmp -s "$work/before" "$work/after"; then
    diff "$work/before" "$work/after" >&2 || true
    die "what the packages leave is above"
fi
say "removed: of $(comm -13 "$work/before" "$work/with" | wc -l) paths nothing is left"
