#!/usr/bin/env python3
"""Line and branch coverage of each folder by the tests, as gcov counts it. Builds the program without CUDA for that in
build/coverage, runs the tests and prints a table. Branches that only an exception takes are not counted."""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("data", "cpu", "classifier", "app")


def run(*words, **options):
    return subprocess.run(words, check=True, **options)


def build(folder, targets):
    flags = "-O0 -g --coverage -fprofile-update=atomic"  # atomic: threads count in the same places
    run("cmake", "--preset", "cpu", "-B", folder, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}", cwd=ROOT)
    run("cmake", "--build", folder, "--parallel", "--target", *targets)


def counts_of(data_file):
    """Yields (file, lines) of one object as gcov's JSON has them."""
    text = run("gcov", "--json-format", "--stdout", "--branch-probabilities", data_file, stdout=subprocess.PIPE,
               stderr=subprocess.DEVNULL, cwd=data_file.parent).stdout
    for line in text.splitlines():
        report = json.loads(line)
        base = Path(report["current_working_directory"])
        for file in report["files"]:
            path = Path(os.path.normpath(base / file["file"]))
            if path.is_relative_to(ROOT):
                yield path.relative_to(ROOT), file["lines"]


def add_up(folder):
    """How often each line ran, and each branch was taken, in all objects: {file: {line: n}}, {file: {(line, i): n}}."""
    lines, branches = defaultdict(lambda: defaultdict(int)), defaultdict(lambda: defaultdict(int))
    for data_file in sorted(Path(folder).rglob("*.gcda")):
        for path, of_file in counts_of(data_file):
            if path.parts[0] not in FOLDERS:
                continue
            for line in of_file:
                number = line["line_number"]
                lines[path][number] += line["count"]
                for i, branch in enumerate(line["branches"]):
                    if not branch["throw"]:
                        branches[path][number, i] += branch["count"]
    return lines, branches


def share(counts):
    taken = sum(count > 0 for count in counts)
    return f"{taken:6d} of {len(counts):6d} {100 * taken / max(1, len(counts)):6.1f} %"


def report(folder, by_file):
    lines, branches = add_up(folder)
    if not lines:
        sys.exit(f"coverage.py: error: {folder}: no counts; expected a build that ran tests")
    groups = defaultdict(list)
    for path in sorted(lines):
        groups[str(path) if by_file else path.parts[0]].append(path)
    print(f"{'':40} {'lines':>25} {'branches':>25}")
    for name, paths in groups.items():
        print(f"{name:40} {share([n for p in paths for n in lines[p].values()]):>25}"
              f" {share([n for p in paths for n in branches[p].values()]):>25}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=ROOT / "build/coverage", type=Path, metavar="DIR")
    parser.add_argument("--only", default="*", metavar="CASES", help="test cases of unit_tests, as its -tc takes them")
    parser.add_argument("--cli", action="store_true", help="also the tests that run the program: cli_tests, fault_tests")
    parser.add_argument("--files", action="store_true", help="a line for each file")
    parser.add_argument("--report", action="store_true", help="only the table, of what ran before")
    options = parser.parse_args()
    if not options.report:
        programs = ["unit_tests"] + (["cli_tests", "fault_tests"] if options.cli else [])
        build(options.build, programs)
        for old in options.build.rglob("*.gcda"):
            old.unlink()
        run(options.build / "tests/unit_tests", f"-tc={options.only}")
        for program in programs[1:]:
            run(next(options.build.glob(f"tests/**/{program}")))
    report(options.build, options.files)


if __name__ == "__main__":
    main()
