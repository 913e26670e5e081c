"""No include runs against the layers, no two folders include each other, and no two headers define a class of one name in
one namespace: the linker keeps one of their inline functions for both. The files that docs/classify.md names are there, and
docs/report.md has the name of every stage.

app, library -> classifier -> gpu, cpu -> data: a file includes its own layer and those behind it, app and library nothing of cpu/. Folders
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
    "library": {"classifier", "data"},
}
INCLUDE = re.compile(r'^#include "((?:app|library|classifier|gpu|cpu|data)/[^"]+)"', re.MULTILINE)
CLASS = re.compile(r"^(?:struct|class) ([A-Z]\w*)(?:\s[^;{()]*)?\{", re.MULTILINE)
STAGE = re.compile(r'(?:\bstage\(|\btime\(|\badd\(|\badd_since\()[^"();]*"([a-z_]+)"')
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)


def folder_of(path):
    parts = Path(path).parent.parts
    return "/".join(parts[:2])


def main(root):
    wrong, folders, classes, stages = [], {}, {}, set()
    listed = subprocess.run(["git", "-C", root, "ls-files", *BEHIND], capture_output=True, text=True, check=True)
    for file in listed.stdout.split():
        if Path(file).suffix not in {".h", ".cpp", ".cu", ".cuh"}:
            continue
        text = (Path(root) / file).read_text(encoding="utf-8")
        for included in INCLUDE.findall(text):
            here, there = file.split("/")[0], included.split("/")[0]
            if here != there and there not in BEHIND[here]:
                wrong.append(f"{file}: includes {included}; expected {', '.join(sorted(BEHIND[here] | {here}))} alone")
            if folder_of(file) != folder_of(included):
                folders.setdefault((folder_of(file), folder_of(included)), f"{file} includes {included}")
        if file.startswith(("classifier/", "cpu/", "gpu/")) and "/bench/" not in file:
            stages.update(STAGE.findall(text))
        if file.endswith((".h", ".cuh")):
            outer = NAMESPACE.search(text)
            for name in CLASS.findall(text):
                classes.setdefault(f"{outer[1] if outer else ''}::{name}", set()).add(file)
    cycles = {pair for pair in folders if pair[::-1] in folders and pair < pair[::-1]}
    for a, b in sorted(cycles):
        wrong.append(f"{a} and {b} include each other: {folders[a, b]}, {folders[b, a]}")
    wrong += [f"{name}: {', '.join(sorted(files))}" for name, files in classes.items() if len(files) > 1]
    report = (Path(root) / "docs/report.md").read_text(encoding="utf-8")
    wrong += [f"docs/report.md: lacks the stage {stage}" for stage in sorted(stages) if f"`{stage}`" not in report]
    for suffix in set(re.findall(r"`(_[a-z]+)`", (Path(root) / "docs/classify.md").read_text(encoding="utf-8"))):
        if not (Path(root) / f"data/picture/digit_image{suffix}.cpp").exists():
            wrong.append(f"docs/classify.md: {suffix} is no file data/picture/digit_image{suffix}.cpp")
    print("\n".join(wrong))
    return 1 if wrong or not classes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
