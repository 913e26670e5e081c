#!/usr/bin/env bash
# What shellcheck thinks of every script here.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v shellcheck >/dev/null || skip "shellcheck was not found"
cd "$repository"
check "shellcheck" shellcheck -x .ci/run tools/*.sh tests/tools/*.sh tests/app/*/*.sh tests/gpu/*/*.sh
check "shellcheck" shellcheck -s bash app/mnist-knn.bash
