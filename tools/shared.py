"""What the scripts that measure the program share."""

import argparse
import gzip
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Failure(Exception):
    """What the user is told, in one line."""


def run_main(main):
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"{Path(sys.argv[0]).name}: error: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)


def add_data(parser):
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MNIST_KNN_DATA", ROOT / "data" / "mnist")),
                        help="default: $MNIST_KNN_DATA, then data/mnist")  # fmt: skip


def add_program(parser):
    parser.add_argument("--program", type=Path, help="default: the one in build/")


def search_parser(doc):
    """Arguments of what compares searches with those of the program."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program(parser)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit-test", type=int, default=10_000)
    return parser


def found_program(given):
    presets = ("default", "cpu", "portable")
    programs = [given] if given else [ROOT / "build" / preset / "app" / "mnist-knn" for preset in presets]
    for program in programs:
        if program.is_file():
            return program.resolve()
    raise Failure(f"{programs[0]}: not there; expected the built program (tools/quickstart.sh builds it)")


def output_of(*words):
    """What a program writes to standard output, where it ends with 0."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f"{words[0]}: ended with {done.returncode}; expected 0")
    return done.stdout


def idx_content(folder, name):
    """The sizes and the bytes in an IDX file, plain or .gz, in both usual spellings."""
    spellings = [name, name.replace("-idx", ".idx")]
    for path in (folder / (spelling + end) for spelling in spellings for end in ("", ".gz")):
        if path.is_file():
            content = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
            end = 4 + 4 * content[3]
            return [int.from_bytes(content[i:i + 4], "big") for i in range(4, end, 4)], content[end:]
    raise Failure(f"{folder}: no {name} or {name}.gz in it; expected the MNIST files (tools/fetch_mnist.sh)")


def numpy_for(threads):
    """NumPy, and libraries that are loaded after it, on that many threads, whose number they read then."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(threads)
    try:
        import numpy
    except ImportError as error:
        raise Failure("numpy is not there; expected Debian's python3-numpy") from error
    return numpy


def read_idx(folder, name):
    """The same as an array."""
    import numpy

    sizes, content = idx_content(folder, name)
    return numpy.frombuffer(content, numpy.uint8).reshape(sizes)
