#!/usr/bin/python3
"""Prints the tables of docs/accuracy.md: for each transform the errors of k-NN among its features, counted by
leave-one-out on the training set and on the test set; with --times what it costs on the CPU instead.

    tools/accuracy_table.py [--program FILE] [--data DIR] [--threads N] [--times | --plot FILE] [TRANSFORM]...

TRANSFORM is what --transform takes; without one, every transform alone and after deskew. `mnist-knn graph` leaves each
training image out of its own neighbors, so a vote of the first k of its neighbors is leave-one-out. --plot draws
the errors of the pca:N among them, alone and after deskew. Times are the fastest of 5 runs of `evaluate`.

Needs a built mnist-knn, the MNIST files and Debian's python3-numpy; --plot also python3-matplotlib.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from shared import Failure, add_data, add_program, found_program, numpy_for, output_of, read_idx, run_main

KS = (1, 3, 5, 10)
COMPONENTS = (16, 32, 50, 64, 128)
TRANSFORMS = ["raw", "normalize", "blur", *(f"pca:{n}" for n in COMPONENTS), "hog", "gradients"]


def errors(labels, neighbors, expected):
    """How many votes of the nearest k are wrong; ties go to the smallest label."""
    wrong = []
    for k in KS:
        votes = np.zeros((len(neighbors), 256), np.int32)
        for rank in range(k):
            np.add.at(votes, (np.arange(len(neighbors)), labels[neighbors[:, rank]]), 1)
        wrong.append(int((votes.argmax(axis=1) != expected).sum()))
    return wrong


class Errors:
    """How many answers are wrong for each of KS, by leave-one-out and on the test set."""

    heads = ("bytes", *(f"k = {k}" for k in KS))

    def __init__(self, program, data, transform, folder, threads):
        self.transform = transform
        shared = ["--data", data, "--transform", transform, "-k", max(KS), "--threads", threads, "-q"]
        train_labels = read_idx(data, "train-labels-idx1-ubyte")
        test_labels = read_idx(data, "t10k-labels-idx1-ubyte")
        output_of(program, "graph", *shared, "--npy", folder / "graph")
        self.left_out = errors(train_labels, np.load(folder / "graph-indices.npy"), train_labels)
        output_of(program, "evaluate", *shared, "--json", folder / "json", "--neighbors-csv", folder / "csv")
        indices = np.loadtxt(folder / "csv", np.int64, delimiter=",", skiprows=1, usecols=2)
        self.test = errors(train_labels, indices.reshape(-1, max(KS)), test_labels)
        stages = json.loads((folder / "json").read_text())["timing"]["stages"]
        moved = next((stage["bytes"] for stage in stages if stage["name"] == "transform"), None)
        images = len(train_labels) + len(test_labels)
        pixels = read_idx(data, "t10k-images-idx3-ubyte")[0].size
        self.bytes = pixels if moved is None else round(moved / images) - pixels

    def cells(self):
        return [f"{self.bytes:,}", *(f"{left_out} / {test}" for left_out, test in zip(self.left_out, self.test))]


class Times:
    """Milliseconds on the CPU: fitting, the features of all images, and the search for all test images at k = 5."""

    heads = ("fit, ms", "transform, ms", "search, ms")

    def __init__(self, program, data, transform, folder, threads):
        words = ["--data", data, "--transform", transform, "-q", "--device", "cpu", "--threads", threads]
        self.ms = [float("inf")] * 3
        for _ in range(5):
            output_of(program, "evaluate", *words, "--json", folder / "json")
            timing = json.loads((folder / "json").read_text())["timing"]
            stages = {stage["name"]: stage["total_ms"] for stage in timing["stages"]}
            fit, transformed = stages.get("fit", 0), stages.get("transform", 0)
            self.ms = list(map(min, self.ms, (fit, transformed, timing["search_ms"] - fit - transformed)))

    def cells(self):
        return [f"{ms:,.0f}" for ms in self.ms]


def plot(measured, file):
    """Leave-one-out and test errors in percent at k = 5 by the number of components."""
    try:
        import matplotlib
    except ImportError as error:
        raise Failure("matplotlib is not there; expected Debian's python3-matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), dpi=110)
    for start, color in (("", "tab:blue"), ("deskew,", "tab:green")):
        points = {one.transform: one for one in measured if one.transform.startswith(start + "pca:")}
        if not points:
            continue
        components = [int(name.rsplit(":", 1)[1]) for name in points]
        for kind, total, style in (("left_out", 60_000, "o-"), ("test", 10_000, "s--")):
            percent = [getattr(one, kind)[KS.index(5)] / total * 100 for one in points.values()]
            axes.plot(components, percent, style, color=color,
                      label=f"{start}pca:N, " + ("leave-one-out" if kind == "left_out" else "test set"))  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(COMPONENTS, [str(n) for n in COMPONENTS])
    axes.set_xlabel("components N, bytes a row")
    axes.set_ylabel("errors, % (k = 5)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Software": None})


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transforms", nargs="*", metavar="TRANSFORM")
    add_program(parser)
    add_data(parser)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--times", action="store_true", help="times instead of errors")
    parser.add_argument("--plot", type=Path, help="PNG of the errors by the components of pca")
    options = parser.parse_args()
    if options.times and options.plot:
        parser.error("--plot draws errors; expected no --times with it")
    if not options.transforms:
        options.transforms = TRANSFORMS + [("deskew," + name).removesuffix(",raw") for name in TRANSFORMS]
    return options


def main():
    options = parse()
    global np
    np = numpy_for(options.threads)
    program = found_program(options.program)
    kind = Times if options.times else Errors
    print("| transform |", " | ".join(kind.heads), "|")
    print("|---" * (1 + len(kind.heads)) + "|")
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for transform in options.transforms:
            measured.append(kind(program, options.data, transform, Path(folder), options.threads))
            print(f"| `{transform}` |", " | ".join(measured[-1].cells()), "|", flush=True)
    if options.plot:
        plot(measured, options.plot)


if __name__ == "__main__":
    run_main(main)
