#!/usr/bin/env python3
"""Times searches whose queries and neighbors stay on a GPU, beside PyTorch:  tools/bench_device.py [-k K] [--queries N]

MNIST's test images among its training images, as arrays of PyTorch. `queued`: N searches between two CUDA events, one
behind the other, over N: what the GPU needs for each. `call`: until the call returns. `alone`: until the answers of one search
are there. Medians of 50. PyTorch multiplies float32 (TF32) and takes topk; its neighbors may be wrong, and how many are is
printed. Needs torch, MNIST as the program finds it, $MNIST_KNN_LIBRARY.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))


def times(torch, search):
    """Milliseconds: queued, call, alone."""
    for _ in range(10):
        search()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    queued, calls, alone = [], [], []
    for _ in range(50):
        torch.cuda.synchronize()
        start = time.perf_counter()
        search()
        calls.append(time.perf_counter() - start)
        torch.cuda.synchronize()
        alone.append(time.perf_counter() - start)
        torch.cuda._sleep(20_000_000)  # the searches are queued before the first begins
        begin.record()
        for _ in range(5):
            search()
        end.record()
        torch.cuda.synchronize()
        queued.append(begin.elapsed_time(end) / 5)
    return [statistics.median(queued)] + [1e3 * statistics.median(some) for some in (calls, alone)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("-k", type=int, default=5)
    options.add_argument("--queries", type=int, default=10_000)
    options = options.parse_args()
    import numpy as np
    import torch
    from mnist_knn import NearestNeighbors, load_mnist

    data, k = load_mnist(), options.k
    test = np.ascontiguousarray(data.X_test.reshape(len(data.X_test), -1)[: options.queries])
    train = data.X_train.reshape(len(data.X_train), -1)
    model = NearestNeighbors(n_neighbors=k, metric="sqeuclidean", device="gpu").fit(train)
    queries = torch.tensor(test, device="cuda")
    out = (torch.empty((len(test), k), dtype=torch.float64, device="cuda"),
           torch.empty((len(test), k), dtype=torch.int32, device="cuda"))  # fmt: skip
    wanted = model.kneighbors(test)
    model.kneighbors(queries, out=out)
    assert (out[0].cpu().numpy() == wanted[0]).all() and (out[1].cpu().numpy() == wanted[1]).all()
    torch.backends.cuda.matmul.allow_tf32 = True
    rows, floats = torch.tensor(train, device="cuda").float(), queries.float()
    norms = (rows * rows).sum(1)
    theirs = torch.empty(0)

    def pytorch():
        nonlocal theirs
        theirs = (norms - 2 * (floats @ rows.T)).topk(k, largest=False)[1]

    print(f"{torch.cuda.get_device_name()}, {len(test)} queries, k = {k}, ms: queued, call, alone")
    for name, search in (("on the device", lambda: model.kneighbors(queries, out=out)),
                         ("on the device, indices alone", lambda: model.kneighbors(queries, out=(None, out[1]))),
                         ("by arrays of the host", lambda: model.kneighbors(test)),
                         ("PyTorch", pytorch)):  # fmt: skip
        print(f"  {name:<30}" + "".join(f"{one:9.3f}" for one in times(torch, search)))
    wrong = (np.sort(theirs.cpu().numpy(), 1) != np.sort(wanted[1], 1)).any(1).sum()
    print(f"  PyTorch: {wrong} of {len(test)} queries with other neighbors")


if __name__ == "__main__":
    main()
