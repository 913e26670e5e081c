#!/usr/bin/env python3
"""Computes the time of a large search on 1 to 1,024 GPUs from measured rates, and where the efficiency falls below 0.8.

simulate_scale.py [--n-train N] [--n-query N] [--dim D] [-k K] [--sketches] [--csv]

The model, for each way to share the search (docs/scale.md has the rates and what they are measured on):
  queries   every GPU has the whole training set and searches n_query / GPUs queries
  training  every GPU has n_train / GPUs images, searches all queries, and merges its share of the lists
One GPU takes the upload and the kernels. Several take: the broadcast of the training set (queries) or the upload of a
share of it; the kernels of the largest share, in whole tiles; the exchange of lists (training); the merge; and the
collection of the answers on one host. Nothing overlaps: what a run hides makes it faster than this."""

import argparse
import math

UPLOAD = 55e9  # bytes/s from pinned memory to one GPU, one host has a link for each
LINK = 394e9  # bytes/s between two GPUs of a host (NVLink)
NETWORK = 50e9  # bytes/s of one host (400 Gbit/s InfiniBand, nominal, not measured)
KERNELS = 1550e12  # 8-bit operations/s that the engine `tensor` kept for 8,100,000 x 8,100,000 digits
SKETCHES = 0.15  # s: to fit and to try them, of one GPU
SKETCHED_PAIRS, REFINEMENT = 3.3e12, 150e-9  # pairs/s and s for each query: graphs of 2,000,000 and 8,100,000 digits, k = 10
MERGE = 18e9  # bytes/s of lists that 16 cores of the host merge, a GPU's share (512 MB of two lists in 14 ms, 32 cores)
GPUS_PER_HOST = 8
LATENCY = 30e-6  # of one step of a collective, and of a launch
TILE_QUERY, TILE_TRAIN = 128, 256  # a GPU computes whole tiles
NEIGHBOR = 8  # bytes


def direct(n_query, n_train, dim):
    """Seconds of one GPU that multiplies all pixels."""
    whole = math.ceil(n_query / TILE_QUERY) * TILE_QUERY * math.ceil(n_train / TILE_TRAIN) * TILE_TRAIN
    return 2 * dim * whole / KERNELS + LATENCY


def by_sketches(n_query, n_train, dim):
    """Seconds of one GPU, which also makes the sketches. Rates are of digits, k = 10."""
    return SKETCHES + n_query * (n_train / SKETCHED_PAIRS + REFINEMENT) + LATENCY


def one(n_train, n_query, dim, k, kernels):
    return (n_train + n_query) * dim / UPLOAD + kernels(n_query, n_train, dim) + n_query * k * NEIGHBOR / UPLOAD


def link(gpus):
    """Bytes/s that each GPU gets while all exchange: the slower of NVLink and its share of the host's network."""
    return LINK if gpus <= GPUS_PER_HOST else min(LINK, NETWORK / GPUS_PER_HOST)


def collect(gpus, n_query, k):
    """All answers on the first host: from its own GPUs, and through its network."""
    answers = n_query * k * NEIGHBOR
    hosts = math.ceil(gpus / GPUS_PER_HOST)
    return answers / min(gpus, GPUS_PER_HOST) / UPLOAD + answers * (hosts - 1) / hosts / NETWORK


def by_queries(gpus, n_train, n_query, dim, k, kernels):
    share = math.ceil(n_query / gpus)
    hosts = math.ceil(gpus / GPUS_PER_HOST)
    train = n_train * dim
    steps = math.ceil(math.log2(gpus)) * LATENCY
    # Each of a host's GPUs uploads a part, and all exchange them; between hosts a pipelined broadcast.
    spread = train / min(gpus, GPUS_PER_HOST) / UPLOAD + train / LINK + (train / NETWORK if hosts > 1 else 0)
    return spread + steps + share * dim / UPLOAD + kernels(share, n_train, dim) + collect(gpus, n_query, k)


def by_training(gpus, n_train, n_query, dim, k, kernels):
    share = math.ceil(n_train / gpus)
    lists = n_query * k * NEIGHBOR  # that each GPU has, and sends but its own share
    exchange = lists * (gpus - 1) / gpus / link(gpus) + gpus * LATENCY
    hosts = math.ceil(gpus / GPUS_PER_HOST)
    queries = n_query * dim
    spread = queries / LINK + (queries / NETWORK if hosts > 1 else 0)
    merge = lists / MERGE  # GPUs lists of n_query / GPUs rows each
    return (share * dim / UPLOAD + queries / min(gpus, GPUS_PER_HOST) / UPLOAD + spread + exchange + merge
            + kernels(n_query, share, dim) + collect(gpus, n_query, k))


def rows(n_train, n_query, dim, k, kernels):
    alone = one(n_train, n_query, dim, k, kernels)
    for gpus in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        for name, seconds in (("queries", by_queries), ("training", by_training)):
            time = alone if gpus == 1 else seconds(gpus, n_train, n_query, dim, k, kernels)
            yield name, gpus, time, alone / time / gpus


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-train", type=int, default=8_100_000)
    parser.add_argument("--n-query", type=int, help="default: as many as training images, a graph")
    parser.add_argument("--dim", type=int, default=784)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--sketches", action="store_true", help="search by sketches")
    parser.add_argument("--csv", action="store_true")
    given = parser.parse_args()
    if min(given.n_train, given.dim, given.k, given.n_query or 1) < 1:
        parser.error("sizes must be at least 1")
    n_query = given.n_query or given.n_train
    table = list(rows(given.n_train, n_query, given.dim, given.k, by_sketches if given.sketches else direct))
    if given.csv:
        print("spread,gpus,seconds,efficiency")
        for name, gpus, time, efficiency in table:
            print(f"{name},{gpus},{time:.6g},{efficiency:.4f}")
        return
    print(f"{n_query:,} queries x {given.n_train:,} training images of {given.dim} bytes, k = {given.k}")
    print(f"{'GPUs':>6}  {'queries s':>10} {'efficiency':>10}  {'training s':>10} {'efficiency':>10}")
    for (_, gpus, a, ea), (_, _, b, eb) in zip(table[::2], table[1::2]):
        print(f"{gpus:>6}  {a:>10.4g} {ea:>10.3f}  {b:>10.4g} {eb:>10.3f}")
    for name in ("queries", "training"):
        below = [gpus for spread, gpus, _, efficiency in table if spread == name and efficiency < 0.8]
        print(f"{name}: " + (f"below 0.8 from {below[0]} GPUs on" if below else "0.8 or better up to 1,024 GPUs"))


if __name__ == "__main__":
    main()
