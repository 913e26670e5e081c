#!/usr/bin/python3
"""Runs this program's CPU engine in turns with what one would take instead, on the same machine and data:
FAISS (IndexFlatL2), scikit-learn (KNeighborsClassifier, brute force), and oneDNN's bare 8-bit matrix product,
which finds no neighbors at all: a yardstick for the arithmetic.

    tools/compare_cpu.py [--program FILE] [--data DIR] [-k N] [--threads N] [--rounds N] [--limit-test N]
                         [--against NAME[,NAME...]]

It installs nothing. It needs a built mnist-knn, the MNIST files, and of Debian's packages python3-numpy and, for
each rival, python3-faiss, python3-sklearn or libdnnl2; a rival that is missing is left out, and named. FAISS and
scikit-learn multiply by the system's BLAS: with libopenblas0 they are some 20 times as fast as with libblas3, which
is what Debian installs where nobody asks for another.

Each round runs every rival once, each right after a run of this program; a ratio is the median over the pairs.
Timed is what lies between images in memory and predicted labels. (This program is a process of its own; its
seconds are what it reports as search_ms, its processor time that of the whole process, reading files included.)
Where other programs want the processors too, threads of OpenMP wait for each other by spinning, which counts as
processor time: compare with --threads 1 then.
"""

import ctypes
import json
import resource
import statistics
import sys
import time
from pathlib import Path

from shared import Failure, add_data, found_program, numpy_for, output_of, read_idx, run_main, search_parser

PACKAGES = {"faiss": "python3-faiss", "sklearn": "python3-sklearn", "onednn": "libdnnl2"}


class Data:
    """Images as rows of pixels."""

    def __init__(self, folder, limit_test):
        self.folder = folder
        self.train = read_idx(folder, "train-images-idx3-ubyte")
        self.train = self.train.reshape(len(self.train), -1)
        self.train_labels = read_idx(folder, "train-labels-idx1-ubyte")
        self.test = read_idx(folder, "t10k-images-idx3-ubyte")[:limit_test]
        self.test = self.test.reshape(len(self.test), -1)
        self.test_labels = read_idx(folder, "t10k-labels-idx1-ubyte")[:limit_test]


class Faiss:
    title = "FAISS IndexFlatL2"

    def __init__(self, data, options):
        import faiss

        faiss.omp_set_num_threads(options.threads)
        self.faiss, self.data, self.k = faiss, data, options.k
        self.train, self.test = data.train.astype(np.float32), data.test.astype(np.float32)
        self.version = faiss.__version__

    def predict(self):
        index = self.faiss.IndexFlatL2(self.train.shape[1])
        index.add(self.train)
        _, neighbors = index.search(self.test, self.k)
        votes = np.zeros((len(self.test), 256), np.int32)
        np.add.at(votes, (np.arange(len(self.test))[:, None], self.data.train_labels[neighbors]), 1)
        return votes.argmax(axis=1)


class Sklearn:
    title = "scikit-learn brute"

    def __init__(self, data, options):
        import sklearn
        from sklearn.neighbors import KNeighborsClassifier

        self.data = data
        self.train, self.test = data.train.astype(np.float32), data.test.astype(np.float32)
        self.model = KNeighborsClassifier(options.k, algorithm="brute", n_jobs=options.threads)
        self.version = sklearn.__version__

    def predict(self):
        return self.model.fit(self.train, self.data.train_labels).predict(self.test)


class OneDnn:
    """dnnl_gemm_u8s8s32, row-major, tile by tile: sums of test pixels times (training pixels - 128)."""

    title = "oneDNN bare product"
    rows, columns = 1024, 1024  # of a tile of 4 MB, which stays in cache

    def __init__(self, data, options):
        try:
            self.library = ctypes.CDLL("libdnnl.so.2")
        except OSError as error:
            raise ImportError from error
        self.test = np.ascontiguousarray(data.test)
        self.train = (data.train ^ 128).view(np.int8)
        self.sums = np.zeros((self.rows, self.columns), np.int32)
        self.version = "2"

    def tile(self, row, column):
        rows = min(self.rows, len(self.test) - row)
        columns = min(self.columns, len(self.train) - column)
        size, pointer, one = ctypes.c_int64, ctypes.c_void_p, ctypes.c_float
        dim = self.test.shape[1]
        zero = ctypes.c_int32(0)
        status = self.library.dnnl_gemm_u8s8s32(
            ctypes.c_char(b"N"), ctypes.c_char(b"T"), ctypes.c_char(b"F"),
            size(rows), size(columns), size(dim), one(1),
            pointer(self.test[row:].ctypes.data), size(dim), ctypes.c_uint8(0),
            pointer(self.train[column:].ctypes.data), size(dim), ctypes.c_int8(0),
            one(0), pointer(self.sums.ctypes.data), size(self.columns), ctypes.byref(zero),
        )  # fmt: skip
        if status != 0:
            raise Failure(f"oneDNN: dnnl_gemm_u8s8s32 answered {status}; expected 0")

    def predict(self):
        for row in range(0, len(self.test), self.rows):
            for column in range(0, len(self.train), self.columns):
                self.tile(row, column)
        return None


RIVALS = {"faiss": Faiss, "sklearn": Sklearn, "onednn": OneDnn}


class Runs:
    """The figures of one program: wall and processor seconds of each run, and how many answers were right."""

    def __init__(self, title):
        self.title, self.wall, self.cpu, self.right = title, [], [], set()

    def add(self, wall, cpu, right):
        self.wall.append(wall)
        self.cpu.append(cpu)
        self.right.add(right)


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def run_ours(program, data, options, *choice):
    words = [program, "evaluate", "--device", "cpu", "-k", options.k, "--threads", options.threads, *choice]
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    report = json.loads(output_of(*words, "--data", data.folder, "--limit-test", len(data.test), "--json", "-"))
    cpu = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    return report["timing"]["search_ms"] / 1000, cpu, report["result"]["correct"]


def run_rival(rival, data):
    cpu, wall = cpu_seconds(resource.RUSAGE_SELF), time.perf_counter()
    labels = rival.predict()
    wall, cpu = time.perf_counter() - wall, cpu_seconds(resource.RUSAGE_SELF) - cpu
    return wall, cpu, None if labels is None else int((labels == data.test_labels).sum())


def compare(program, data, rivals, options):
    """One pair of runs of ours and a rival's for each rival and round."""
    pairs = {rival: (Runs("mnist-knn"), Runs(f"{rival.title} {rival.version}")) for rival in rivals}
    for done in range(options.rounds):
        for rival, (ours, theirs) in pairs.items():
            print(f"\rround {done + 1} of {options.rounds}: {rival.title:<20}", end="", file=sys.stderr)
            ours.add(*run_ours(program, data, options))
            theirs.add(*run_rival(rival, data))
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    return list(pairs.values())


def seconds(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def print_table(pairs):
    print("| | wall, s | processor, s | right | wall, times ours | processor, times ours |")
    print("|---|---|---|---|---|---|")
    everything = Runs("mnist-knn")
    for ours, _ in pairs:
        for run in zip(ours.wall, ours.cpu, sorted(ours.right) * len(ours.wall)):
            everything.add(*run)
    print_row(everything, "1", "1")
    for ours, theirs in pairs:
        ratios = [
            f"{statistics.median(b / a for a, b in zip(ours_values, their_values)):.2f}"
            for ours_values, their_values in ((ours.wall, theirs.wall), (ours.cpu, theirs.cpu))
        ]
        print_row(theirs, *ratios)


def print_row(runs, *ratios):
    right = ", ".join("none counted" if n is None else f"{n:,}" for n in sorted(runs.right, key=str))
    print("|", " | ".join([runs.title, seconds(runs.wall), seconds(runs.cpu), right, *ratios]), "|")


def parse():
    parser = search_parser(__doc__)
    add_data(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", default=",".join(RIVALS), help="default: %(default)s")
    options = parser.parse_args()
    options.against = options.against.split(",")
    for name in options.against:
        if name not in RIVALS:
            raise Failure(f"--against: no '{name}'; expected some of {', '.join(RIVALS)}")
    return options


def start_rivals(options, data):
    rivals = []
    for name in options.against:
        try:
            rivals.append(RIVALS[name](data, options))
        except ImportError:
            print(f"{RIVALS[name].title} is not there: install {PACKAGES[name]}", file=sys.stderr)
    if not rivals:
        raise Failure("nothing to compare with; expected one of the packages above")
    return rivals


def blas_in_use():
    """The libraries of this process that are a BLAS, as their files are named."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1] for line in maps if "blas" in line}
    return ", ".join(sorted(Path(file).name for file in files)) or "none"


def main():
    options = parse()
    global np
    np = numpy_for(options.threads)
    program = found_program(options.program)
    data = Data(options.data, options.limit_test)
    rivals = start_rivals(options, data)
    print(f"{len(data.test):,} test images, {len(data.train):,} training images, k = {options.k}, "
          f"{options.threads} threads, medians of {options.rounds} pairs (smallest to largest)")  # fmt: skip
    pairs = compare(program, data, rivals, options)
    print(f"BLAS: {blas_in_use()}\n")
    print_table(pairs)


if __name__ == "__main__":
    run_main(main)
