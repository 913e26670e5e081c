#!/usr/bin/env python3
"""Writes the wheel of python/mnist_knn with a library inside, the same bytes each time:  wheel.py VERSION LIBRARY DIR"""

import argparse
import base64
import hashlib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAG = "py3-none-linux_x86_64"


def metadata(version):
    return f"""Metadata-Version: 2.1
Name: mnist-knn
Version: {version}
Summary: Exact k-nearest-neighbor search and classification, with scikit-learn's interface
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: sklearn
Requires-Dist: scikit-learn; extra == 'sklearn'
Description-Content-Type: text/markdown

{(ROOT / "docs" / "python.md").read_text(encoding="utf-8")}"""


def contents(version, library):
    """Names in the wheel and their bytes."""
    package = ROOT / "python" / "mnist_knn"
    for path in sorted(package.glob("*.py")) + [package / "py.typed"]:
        yield f"mnist_knn/{path.name}", path.read_bytes()
    yield "mnist_knn/fetch_mnist.sh", (ROOT / "tools" / "fetch_mnist.sh").read_bytes()
    yield "mnist_knn/libmnistknn.so.0", library.read_bytes()
    for module in sorted((library.parent / "mnist-knn").glob("mnist-knn-pictures.so")):
        yield f"mnist_knn/mnist-knn/{module.name}", module.read_bytes()
    head = f"mnist_knn-{version}.dist-info"
    yield f"{head}/METADATA", metadata(version).encode()
    yield f"{head}/WHEEL", f"Wheel-Version: 1.0\nGenerator: mnist-knn\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    yield f"{head}/LICENSE", (ROOT / "LICENSE").read_bytes()


def main(version, library, folder):
    wheel = Path(folder) / f"mnist_knn-{version}-{TAG}.whl"
    record, name = [], f"mnist_knn-{version}.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(path, content):
            entry = zipfile.ZipInfo(path)  # of 1980
            entry.external_attr = (0o755 if path.endswith((".sh", ".so.0", ".so")) else 0o644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)

        for path, content in contents(version, Path(library)):
            put(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
        put(name, "\n".join([*record, f"{name},,", ""]))
    print(wheel)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for word in ("version", "library", "folder"):
        parser.add_argument(word)
    main(**vars(parser.parse_args()))
