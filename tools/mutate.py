#!/usr/bin/env python3
"""Makes the small mistakes of tools/mutations.py in a copy of the tree, one at a time, and lists those that the tests
do not notice. Exit 1 if there is one, 2 if a mutation no longer fits the tree."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from mutations import MUTATIONS  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77  # tests/CMakeLists.txt


def fail(text):
    print(f"mutate.py: error: {text}", file=sys.stderr)
    sys.exit(2)


def title(mutation):
    file, _, old, new = mutation
    return f"{file}: {' '.join(old.split())} -> {' '.join(new.split()) or '(nothing)'}"


def check_fit(mutations):
    """Each old text must occur in its file exactly once; otherwise the table is out of date and proves nothing."""
    misfits = []
    for mutation in mutations:
        path = ROOT / mutation[0]
        count = path.read_text().count(mutation[2]) if path.is_file() else 0
        if count != 1:
            misfits.append(f"  {count} times: {title(mutation)}")
    if misfits:
        fail("the old text must occur in its file once; correct tools/mutations.py:\n" + "\n".join(misfits))


def copy_tree(folder):
    """The files of the working tree that git does not ignore. Unchanged files are not touched, so that what was built
    from them stays valid."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split("\0")
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] != "build" and str(name) not in names:
            path.unlink()
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        target.touch()


class Tree:
    """The copy, its build and its tests."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.build_folder = folder / "build" / options.preset

    def run(self, command, limit=None):
        """The exit code, None where the time ran out, and the output."""
        # A session of its own, so that whatever the tests have started ends with them.
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except BaseException as error:
            os.killpg(process.pid, 9)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                return None, ""
            raise

    def configure(self):
        code, output = self.run(["cmake", "--preset", self.options.preset])
        if code != 0:
            fail("the copy cannot be configured:\n" + output)

    def build(self, targets):
        return self.run(["cmake", "--build", str(self.build_folder), "--target", *targets])

    def test(self, tests, *extra):
        name, cases = ("cli_tests", tests[4:]) if tests.startswith("cli:") else ("unit_tests", tests)
        command = [str(self.build_folder / "tests" / name), "--abort-after=1", "-tc=" + cases, *extra]
        return self.run(command, self.options.limit)


def targets_of(mutations):
    return ["unit_tests"] + (["mnist-knn", "cli_tests"] if any(m[1].startswith("cli:") for m in mutations) else [])


def check_sound(tree, mutations):
    """Without a mistake the tests must pass, and must be there."""
    code, output = tree.build(targets_of(mutations))
    if code != 0:
        fail("the tree does not build:\n" + output[-3000:])
    for tests in dict.fromkeys(m[1] for m in mutations):
        counted = re.search(r"passing the current filters: (\d+)", tree.test(tests, "--count")[1])
        if counted is None or counted[1] == "0":
            fail("no test case is called " + tests)
        code, output = tree.test(tests)
        if code != 0:
            why = "took too long" if code is None else "were skipped" if code == SKIPPED else "fail"
            fail(f"without a mistake the tests {tests} {why}:\n" + output[-3000:])


def judge(tree, mutation):
    """Makes one mistake and takes it back."""
    file, tests, old, new = mutation
    path = tree.folder / file
    right = path.read_text()
    try:
        path.write_text(right.replace(old, new))
        code, _ = tree.build(targets_of([mutation]))
        if code != 0:
            return "did not build"
        code, _ = tree.test(tests)
        return "survived" if code in (0, SKIPPED) else "killed, out of time" if code is None else "killed"
    finally:
        path.write_text(right)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the mutations")
    parser.add_argument("--only", metavar="REGEX", help="those whose line in the list matches")
    parser.add_argument("--all", action="store_true", help="run all unit tests, not those named for the mutation")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help="time for the tests of one mutation (300, with --all 3600)")
    parser.add_argument("--preset", default="cpu", help="how to build (%(default)s)")
    parser.add_argument("--folder", type=Path, help="for the copy, which stays there; a temporary folder without it")
    options = parser.parse_args()
    mutations = [m for m in MUTATIONS if re.search(options.only or "", title(m))]
    if options.all:
        mutations = [(file, "*", old, new) for file, _, old, new in mutations]
    options.limit = options.limit or (3600 if options.all else 300)
    if not mutations:
        fail("no mutation matches " + options.only)
    if options.list:
        print("\n".join(map(title, mutations)))
        return 0
    check_fit(mutations)
    with tempfile.TemporaryDirectory(prefix="mutate-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        if folder == ROOT or folder in ROOT.parents:
            fail(f"{folder}: expected a folder that does not hold this tree")
        copy_tree(folder)
        tree = Tree(folder, options)
        tree.configure()
        check_sound(tree, mutations)
        outcomes = []
        for mutation in mutations:
            begin = time.monotonic()
            outcomes.append(judge(tree, mutation))
            print(f"{outcomes[-1]:<20} {time.monotonic() - begin:4.0f} s  {title(mutation)}", flush=True)
    killed = sum(outcome.startswith("killed") for outcome in outcomes)
    survived, unbuilt = outcomes.count("survived"), outcomes.count("did not build")
    print(f"\n{len(outcomes)} mutations: {killed} killed, {survived} survived, {unbuilt} did not build")
    return 1 if survived else 2 if unbuilt else 0


if __name__ == "__main__":
    sys.exit(main())
