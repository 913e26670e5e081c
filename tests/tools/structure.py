"""No include runs against the layers, and no two folders include each other.

app -> classifier -> gpu, cpu -> data: a file includes its own layer and those behind it, app nothing of cpu/. Folders
are those of two levels, such as app/cli or data/set.
"""

import re
import subprocess
import sys
from pathlib import Path

BEHIND = {
    "data": set(),
    "cpu": {"data"},
    "gpu": {"data"},
    "classifier": {"cpu", "gpu", "data"},
    "app": {"classifier", "data"},
}
INCLUDE = re.compile(r'^#include "((?:app|classifier|gpu|cpu|data)/[^"]+)"', re.MULTILINE)


def folder_of(path):
    parts = Path(path).parent.parts
    return "/".join(parts[:2])


def edges(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", *BEHIND], capture_output=True, text=True, check=True)
    for file in listed.stdout.split():
        if Path(file).suffix in {".h", ".cpp", ".cu", ".cuh"}:
            for included in INCLUDE.findall((Path(root) / file).read_text()):
                yield file, included


def main(root):
    wrong, folders = [], {}
    for file, included in edges(root):
        here, there = file.split("/")[0], included.split("/")[0]
        if here != there and there not in BEHIND[here]:
            wrong.append(f"{file}: includes {included}; expected {', '.join(sorted(BEHIND[here] | {here}))} alone")
        if folder_of(file) != folder_of(included):
            folders.setdefault((folder_of(file), folder_of(included)), f"{file} includes {included}")
    cycles = {pair for pair in folders if pair[::-1] in folders and pair < pair[::-1]}
    for a, b in sorted(cycles):
        wrong.append(f"{a} and {b} include each other: {folders[a, b]}, {folders[b, a]}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
