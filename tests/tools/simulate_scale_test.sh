#!/usr/bin/env bash
# tools/simulate_scale.py computes what docs/scale.md says.
# shellcheck disable=SC2016  # the expressions are awk's
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v python3 >/dev/null || skip "python3 was not found"
script=$repository/tools/simulate_scale.py

csv=$("$script" --csv)
check "a head" equal "$(head -n 1 <<<"$csv")" "spread,gpus,seconds,efficiency"
check "all numbers of GPUs" equal "$(grep -c ^queries, <<<"$csv")" "11"
# One GPU: 2 · 784 · n² operations at 1,550 · 10¹² a second, and copies.
check "one GPU" awk -F, '$1 == "queries" && $2 == 1 { ok = $3 > 2 * 784 * 8.1e6 ^ 2 / 1550e12 && $3 < 67.5 } END { exit !ok }' <<<"$csv"
check "no efficiency above 1" awk -F, 'NR > 1 && $4 > 1 { exit 1 }' <<<"$csv"
check "the table of docs/scale.md" awk -F, '
    $1 == "queries" && $2 == 64 { a = $4 >= 0.8 } $1 == "queries" && $2 == 128 { b = $4 < 0.8 }
    $1 == "training" && $2 == 32 { c = $4 >= 0.8 } $1 == "training" && $2 == 64 { d = $4 < 0.8 }
    END { exit !(a && b && c && d) }' <<<"$csv"
check "a table for people" contains "$("$script")" "queries: below 0.8 from 128 GPUs on"
check "wrong sizes" ! "$script" --dim 0 2>/dev/null

# tools/deform_digits.py makes the sets that it was measured on.
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy was not found"
/usr/bin/python3 - "$work" <<'EOF'
import struct, sys
with open(sys.argv[1] + "/train-images-idx3-ubyte", "wb") as file:
    file.write(struct.pack(">IIII", 0x803, 3, 28, 28))
    for value in (0, 100, 200):  # a square of 10 × 10 in the middle
        file.write(bytes(value * (9 <= x < 19 and 9 <= y < 19) for y in range(28) for x in range(28)))
with open(sys.argv[1] + "/train-labels-idx1-ubyte", "wb") as file:
    file.write(struct.pack(">II", 0x801, 3) + bytes([0, 1, 2]))
EOF
make() { /usr/bin/python3 "$repository/tools/deform_digits.py" --data "$work" "$@"; }
make -n 5000 "$work/a" && make -n 5000 "$work/b" && make -n 5000 --seed 2 "$work/c"
check "the same seed makes the same files" cmp "$work/a-images" "$work/b-images"
check "another seed makes others" ! cmp -s "$work/a-images" "$work/c-images"
check "each digit has its label" /usr/bin/python3 - "$work" <<'EOF'
import sys
images = open(sys.argv[1] + "/a-images", "rb").read()[16:]
labels = open(sys.argv[1] + "/a-labels", "rb").read()[8:]
assert len(labels) == 5000 and len(images) == 5000 * 784 and set(labels) == {0, 1, 2}
for i, label in enumerate(labels):
    image = images[784 * i : 784 * i + 784]
    assert max(image) == 100 * label, (i, label, max(image))
    # The square keeps its area but for the scales, and does not leave the picture.
    assert label == 0 or 70 <= sum(image) / (100 * label) <= 130, (i, sum(image))
EOF
check "no data set" ! /usr/bin/python3 "$repository/tools/deform_digits.py" --data "$work/none" -n 5 "$work/d" 2>/dev/null
