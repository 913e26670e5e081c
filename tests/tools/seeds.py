"""docs/seeds.md against the tree and the program, and the links of all pages:  seeds.py REPOSITORY PROGRAM

Every row says where a claim is: a command that the program accepts, a file that exists, a name of its tables, or why it is
absent. Every published figure in app/bench/figures.csv, or its table, has a row.
"""

import csv
import re
import subprocess
import sys
from pathlib import Path

SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#]*)#?([^)]*)\)")
NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*\Z")
# Rows of tables of kernels, their names, and the names of serial selectors and programs.
KERNEL = re.compile(r'^ *ROW\((\w+)|\.name = "([\w-]+)"|^ *\{"(\w+)", "|\(\s*"([\w-]+)"[,)]', re.MULTILINE)
# In a folder that is not there, so that a command ends before it works.
OUTPUTS = {"condense": ["--data", "/none"], "generate": []}
NO_CUDA = ("unknown to this build", "this build has no")


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def names_of(root, program):
    """What may stand as a single word in the last column: kernels, selectors, and every word of the help."""
    names = set()
    for file in [*root.glob("gpu/**/*.c*"), *root.glob("gpu/**/*.h"), root / "cpu/serial/serial.cpp", root / "data/core/bench.h"]:
        for found in KERNEL.findall(file.read_text(encoding="utf-8")):
            names.update(re.findall(r"[\w-]+", " ".join(found)))
    commands = re.findall(r"^  ([a-z]+) ", run(program, "--help")[1].split("Options:")[0], re.MULTILINE)
    for command in commands:
        names.update(re.findall(r"[a-z][a-z0-9_]*", run(program, command, "--help=all")[1]))
    return names


def refusal(program, command, names):
    """Why the program does not accept this command, or "". Its outputs or data are in no folder, so it ends before it works."""
    words = command.split()[1:]
    if words[0] == "generate":
        words[-1] = "/none/" + words[-1]  # the last one is its output
    code, _, errors = run(program, *words, *OUTPUTS.get(words[0], ["--json", "/none/x.json"]))
    if code == 1 and "/none" in errors:
        return ""
    if code == 2 and any(text in errors for text in NO_CUDA):  # its names are checked here instead
        wanted = [words[i + 1] for i, word in enumerate(words) if word in ("--only", "--select", "--distance")]
        unknown = [name for name in ",".join(wanted).split(",") if name not in names]
        return f"{', '.join(unknown)}: no kernel of this name" if unknown else ""
    return errors.splitlines()[0] if errors else f"exit code {code}"


def anchors_of(file):
    headings = re.findall(r"^#+ (.*)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows_of(page):
    """(heading, cells) of the rows of each section's table, without its head."""
    for section in page.split("\n## ")[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        for line in lines[2:]:
            yield section.split(":")[0], [cell.strip() for cell in line.strip("|").split(" | ")]


def wrong_row(place, here, names):
    if not (SPAN.search(here) or LINK.search(here) or re.search(r"absent|the same|as §", here)):
        yield f"{place}: no command, no file, and no reason why it is absent"
    for span in SPAN.findall(here):
        if NAME.match(span) and span not in names:
            yield f"{place}: {span}: no name of a kernel, and no word of the help"


def wrong_names_of_files(root, page):
    for span in SPAN.findall(page):
        if "/" in span and " " not in span and not (root / span).exists():
            yield f"{span}: no such file"


def wrong_links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for file, anchor in LINK.findall(text):
        target = page.parent / file if file else page
        if not file.startswith("http") and (not target.exists() or anchor and anchor not in anchors_of(target)):
            yield f"{page.name}: {file}#{anchor}: no such page or heading"


def missing_figures(root, claims):
    """Figures of tables have a row with the table's name, those of the text one with their value."""
    with (root / "app/bench/figures.csv").open(encoding="utf-8", newline="") as file:
        for figure in csv.DictReader(file, delimiter=";"):
            section, value = figure["section"], figure["value"]
            is_table = section.startswith(("Table ", "A."))
            wanted = rf"\b{re.escape(section)}\b" if is_table else rf"(?<![\d.]){re.escape(value)}(?!\.?\d)"
            if not any(re.search(wanted, claim.replace(",", "")) for claim in claims.get(figure["source"], [])):
                yield f"figures.csv: {figure['source']}, {section}, {figure['row']}: {value} is in no row"


def main(root, program):
    root = Path(root)
    page = (root / "docs/seeds.md").read_text(encoding="utf-8")
    names, wrong, claims, seen = names_of(root, program), [], {}, set()
    for section, cells in rows_of(page):
        if (section, *cells[:2]) in seen:
            wrong.append(f"{section}, {cells[0]}: {cells[1]}: two rows")
        seen.add((section, *cells[:2]))
        if len(cells) == 3:
            claims.setdefault(section.lower(), []).append(" ".join(cells[:2]))
            wrong += wrong_row(f"{section}, {cells[0]}", cells[2], names)
        else:
            wrong.append(f"{section}: {len(cells)} cells; expected 3: {' | '.join(cells)}")
    commands = sorted({span for span in SPAN.findall(page) if span.startswith("mnist-knn ")})
    wrong += wrong_names_of_files(root, page)
    wrong += [f"{command}: {why}" for command in commands if (why := refusal(program, command, names))]
    wrong += missing_figures(root, claims)
    for file in [*root.glob("*.md"), *root.glob("docs/*.md")]:
        wrong += wrong_links(file)
        for left in re.findall(r"@\w+@", file.read_text(encoding="utf-8")):
            wrong.append(f"{file.relative_to(root)}: {left}: to be measured")
    print("\n".join(dict.fromkeys(wrong)))
    return 1 if wrong or len(commands) < 20 or len(claims) != 5 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
