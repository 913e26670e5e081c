#!/usr/bin/env bash
# Doxygen warns of nothing in the public headers, and would of what is not documented.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
command -v doxygen >/dev/null || skip "doxygen was not found"
document() {  # FOLDER, which has include/mnist_knn: its pages in $work/html
    (cd "$1" && { cat "$repository/docs/Doxyfile" && echo "OUTPUT_DIRECTORY = $work"; } | doxygen -)
}
check "no warning" document "$repository"
listed=$(sed -n 's/^ *\(knn_[a-z_]*\);$/\1/p' "$repository/library/mnistknn.map")
for name in $listed; do
    check "$name is in the manual" grep -qE ">$name</[ab]>" "$work/html/knn_8h.html"
done
cp -r "$repository/include" "$work/include"
sed -i 's|int32_t has_labels;.*|int32_t has_labels;|' "$work/include/mnist_knn/knn.h"
check "a field without a comment fails" ! document "$work" 2>"$work/log"
check "its warning" contains "$(cat "$work/log")" "has_labels"
((failures == 0))
