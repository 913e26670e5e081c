#!/usr/bin/env python3
"""Times the Python package beside the program's own search, scikit-learn, FAISS, hnswlib and pynndescent, in one run:
    tools/bench_python.py [--program FILE] [--rounds N] [--against NAMES]

All find the k nearest of MNIST's test images among its training images, as arrays in memory, on the same processors. Each round
runs everyone once, so that other work on the machine slows all alike; ratios are medians over the rounds. The program's
time is the search that it reports, with what a first search prepares: so "fit and kneighbors" is its like, and a later search of
the same estimator takes less. A single query's overhead is the time of a call of `kneighbors` less that of the library's function
inside the same call, so that other work on the machine changes it little.
Needs numpy; the others are left out where they are not installed (Debian: python3-sklearn python3-faiss python3-hnswlib
python3-pynndescent, and libopenblas0-pthread, by which scikit-learn and FAISS multiply, instead of the slower libblas3).
$MNIST_KNN_LIBRARY: the library.
"""

import importlib.metadata
import json
import os
import resource
import statistics
import sys
import time

from shared import ROOT, Failure, found_program, numpy_for, output_of, run_main, search_parser

sys.path.insert(0, str(ROOT / "python"))


def ours(train, test, k, threads):
    from mnist_knn import NearestNeighbors

    return lambda: NearestNeighbors(n_neighbors=k, device="cpu").fit(train).kneighbors(test)[1]


def resident(train, test, k, threads):
    from mnist_knn import NearestNeighbors

    model = NearestNeighbors(n_neighbors=k, device="cpu").fit(train)
    model.kneighbors(test)
    return lambda: model.kneighbors(test)[1]


def sklearn(train, test, k, threads):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=threads).fit(train.astype(np.float32))
    queries = test.astype(np.float32)
    return lambda: model.kneighbors(queries)[1]


def faiss(train, test, k, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(train.shape[1])
    index.add(train.astype(np.float32))
    queries = test.astype(np.float32)
    return lambda: index.search(queries, k)[1]


def hnswlib(train, test, k, threads):
    import hnswlib

    index = hnswlib.Index("l2", train.shape[1])
    index.init_index(len(train), ef_construction=100, M=16)
    index.set_num_threads(threads)
    index.add_items(train.astype(np.float32))
    index.set_ef(50)
    queries = test.astype(np.float32)
    return lambda: index.knn_query(queries, k)[0]


def pynndescent(train, test, k, threads):
    from pynndescent import NNDescent

    index = NNDescent(train.astype(np.float32), n_jobs=threads)
    index.prepare()
    queries = test.astype(np.float32)
    return lambda: index.query(queries, k)[0]


TITLES = {
    "ours": "mnist_knn, `fit` and `kneighbors`", "resident": "mnist_knn, `kneighbors` again", "sklearn": "scikit-learn, brute force", "faiss": "FAISS `IndexFlatL2`",
    "hnswlib": "hnswlib, M = 16, ef = 50: approximate", "pynndescent": "pynndescent: approximate",
}  # fmt: skip


def seconds_of(act):
    start = time.perf_counter()
    result = act()
    return time.perf_counter() - start, result


def version_of(name):
    try:
        return importlib.import_module(name).__version__
    except AttributeError:  # hnswlib
        return importlib.metadata.version(name)


def program_seconds(program, n_test, k, threads):
    words = [program, "evaluate", "--device", "cpu", "-k", k, "--threads", threads, "--limit-test", n_test, "--json", "-"]
    return json.loads(output_of(*words))["timing"]["search_ms"] / 1000


def compare(options, train, test):
    acts, prepared = {}, {}
    for name in ["ours", "resident", *options.against]:
        try:
            prepared[name], acts[name] = seconds_of(lambda: globals()[name](train, test, options.k, options.threads))
        except ImportError:
            print(f"{name}: not installed", file=sys.stderr)
        else:
            print(f"{name}: ready in {prepared[name]:.1f} s", file=sys.stderr)
    times = {name: [] for name in ["program", *acts]}
    found, loads = {}, []
    for _ in range(options.rounds):
        loads.append(os.getloadavg()[0])
        times["program"].append(program_seconds(options.program, len(test), options.k, options.threads))
        for name, act in acts.items():
            seconds, found[name] = seconds_of(act)
            print(f"{name}: {seconds:.2f} s", file=sys.stderr)
            times[name].append(seconds)
    print(f"{len(test):,} queries, {len(train):,} rows, k = {options.k}, {options.threads} threads, {options.rounds} rounds; load of the "
          f"machine (1 is a processor that is busy) {min(loads):.1f} to {max(loads):.1f}, this benchmark's own included\n")  # fmt: skip
    print("| | to fit, s | search, s: median (least to most) | times the program's | right neighbors |")
    print("|---|---|---|---|---|")
    for name, seconds in times.items():
        version = version_of(name) if name in options.against else ""
        right = np.mean([np.isin(a, b).mean() for a, b in zip(found[name], found["ours"])]) if name in found else None
        print("|", " | ".join([
            f"{TITLES[name]} {version}".strip() if name in TITLES else "the program, `evaluate`",
            f"{prepared[name]:.2f}" if name in prepared else "",
            f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})",
            f"{statistics.median(a / b for a, b in zip(seconds, times['program'])):.2f}",
            "" if right is None else f"{right:.2%}"]), "|")  # fmt: skip


def single_queries(options, train, test):
    """The time of one query by kneighbors without that of the library's function inside the same call."""
    from mnist_knn import NearestNeighbors

    for rows in (1000, len(train)):
        model = NearestNeighbors(n_neighbors=options.k, device="cpu").fit(train[:rows])
        model.kneighbors(test[:1])
        (single,) = next(iter(model._indexes.values()))._singles
        function, inside, above = single.function, [], []

        def timed(*arguments):
            seconds, status = seconds_of(lambda: function(*arguments))
            inside.append(seconds)
            return status

        single.function = timed
        for i in range(options.calls):
            query = test[i % len(test)][None]
            above.append(seconds_of(lambda: model.kneighbors(query))[0] - inside[i])
        a, b = ([part * 1e6 for part in statistics.quantiles(seconds, n=10)] for seconds in (inside, above))
        print(f"one query among {rows:,} rows, {options.calls:,} calls: {a[4]:.0f} us in the library's function, {b[4]:.1f} us above "
              f"it (medians; deciles {b[0]:.1f} and {b[8]:.1f}, mean {statistics.mean(above) * 1e6:.1f})")  # fmt: skip


def memory(train):
    """What fitting takes beside the array, in MB."""
    from mnist_knn import NearestNeighbors

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6

    train.sum()
    before = resident()
    seconds, model = seconds_of(lambda: NearestNeighbors(device="cpu").fit(train))
    print(f"fit: {seconds * 1000:.1f} ms; takes {resident() - before:.0f} MB beside the array's {train.nbytes / 1e6:.0f} MB")
    del model


def main():
    parser = search_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--against", default="sklearn,faiss,hnswlib,pynndescent", help="default: %(default)s; '' for none")
    options = parser.parse_args()
    options.against = [name for name in options.against.split(",") if name]
    for name in options.against:
        if name not in TITLES:
            raise Failure(f"--against: no '{name}'; expected some of {', '.join(TITLES)}")
    options.program = found_program(options.program)
    global np
    np = numpy_for(options.threads)
    from mnist_knn import load_mnist

    mnist = load_mnist()
    train, test = mnist.X_train, mnist.X_test[: options.limit_test]
    memory(train)
    single_queries(options, train, test)
    compare(options, train, test)


if __name__ == "__main__":
    run_main(main)
