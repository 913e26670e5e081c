#!/usr/bin/env bash
# lintian finds neither errors nor warnings in Debian's packages of a build:  lintian_test.sh BUILD
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
build=$1
command -v lintian >/dev/null || skip "lintian was not found"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps was not found (Debian: dpkg-dev)"
if ! (cd "$build" && cpack -G DEB -B "$work/packages") >"$work/log" 2>&1; then
    tail -n 40 "$work/log"
    check "cpack" false
fi
packages=("$work"/packages/*.deb)
check "four packages" equal "${#packages[@]}" 4
suppressed=()
# A build for another prefix than /usr has its library in lib/, which is not Debian's folder, and modules that CPack takes for libraries there.
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
[[ $libdir == */* ]] || suppressed=(--suppress-tags "pkg-config-unavailable-for-cross-compilation,maintscript-calls-ldconfig")
check "lintian" lintian --fail-on error,warning --tag-display-limit 0 "${suppressed[@]}" "${packages[@]}"

dpkg-deb -e "$work"/packages/python3-mnist-knn_*.deb "$work/scripts"
check "no compiled modules stay when it is removed" grep -qx 'py3clean -p python3-mnist-knn' "$work/scripts/prerm"

# It would find something: the same without a copyright.
dpkg-deb -R "$work"/packages/libmnistknn-dev_*.deb "$work/changed"
rm "$work"/changed/usr/share/doc/*/copyright
dpkg-deb --root-owner-group -b "$work/changed" "$work/changed.deb" >/dev/null
check "no copyright is an error" ! lintian --fail-on error "$work/changed.deb" >"$work/log" 2>&1
check "which it names" contains "$(cat "$work/log")" "no-copyright-file"
((failures == 0))
