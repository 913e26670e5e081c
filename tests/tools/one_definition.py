"""Classes that two headers define in one namespace. The linker keeps one of their inline functions for both:
one_definition.py FOLDER..."""
import re
import sys
from collections import defaultdict
from pathlib import Path

CLASS = re.compile(r"^(?:struct|class) ([A-Z]\w*)(?:\s[^;{()]*)?\{", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)

files = defaultdict(set)
for folder in sys.argv[1:]:
    for file in sorted(Path(folder).rglob("*.h")) + sorted(Path(folder).rglob("*.cuh")):
        text = file.read_text(encoding="utf-8")
        outer = NAMESPACE.search(text)
        for name in CLASS.findall(text):
            files[f"{outer[1] if outer else ''}::{name}"].add(file)
twice = {name: places for name, places in files.items() if len(places) > 1}
for name, places in twice.items():
    print(f"{name}: {', '.join(map(str, sorted(places)))}")
sys.exit(1 if twice or not files else 0)
