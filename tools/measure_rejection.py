#!/usr/bin/env python3
"""Measures what `mnist-knn classify` rejects: MNIST's test digits, noise, random curves, and labeled pictures.

usage: measure_rejection.py [--binary FILE] [--data DIR] [--pictures DIR] [--limit N] [--shares LIST] [OPTION of classify]...
       measure_rejection.py --held-out [--binary FILE] [--data DIR] [--shares LIST] [OPTION of classify]...

Digits, noise and curves are 28x28 pictures, scaled and centered like MNIST's. DIR has labels.csv (file,label) and
nondigits.csv (file,what,lookalike): pictures of digits, and of letters and signs; lookalike 1 looks the same as a digit, such as
O. `classify` runs once for each kind; the member `usual` of its answers tells what each --reject would reject.

--held-out: no test digits and no pictures. Ten times one class is taken out of the training set, and 600 of its images are
classified by the other nine: none of them is a digit then. The share that is rejected is what rules are chosen by.
"""
import argparse
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from shared import add_data, idx_content, run_main

SIDE = 28
NOISE, SCRIBBLES = 300, 600  # pictures
HELD_OUT = 600  # images of each class


def noise(rng, kind):
    """All pixels random; one in five white; random ones in MNIST's 20x20."""
    if kind == 0:
        return [rng.randrange(256) for _ in range(SIDE * SIDE)]
    if kind == 1:
        return [255 * (rng.random() < 0.2) for _ in range(SIDE * SIDE)]
    inside = range(4, 24)
    return [rng.randrange(256) if i // SIDE in inside and i % SIDE in inside and rng.random() < 0.4 else 0
            for i in range(SIDE * SIDE)]


def curve(rng):
    """A Catmull-Rom spline through 5 to 9 random points."""
    points = [(rng.random(), rng.random()) for _ in range(rng.randint(5, 9))]
    points = [points[0], *points, points[-1]]
    steps, line = 12, []
    for i in range(1, len(points) - 2):
        for step in range(steps):
            t = step / steps
            line.append(tuple(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t +
                                     (3 * b - a - 3 * c + d) * t ** 3)
                              for a, b, c, d in zip(*points[i - 1:i + 3])))
    return line


def drawn(line, radius, dx, dy):
    pixels = [0] * (SIDE * SIDE)
    for (ax, ay), (bx, by) in zip(line, line[1:]):
        ux, uy = bx - ax, by - ay
        length = ux * ux + uy * uy
        reach = radius + 1
        for y in range(max(0, int(min(ay, by) + dy - reach)), min(SIDE, int(max(ay, by) + dy + reach) + 1)):
            for x in range(max(0, int(min(ax, bx) + dx - reach)), min(SIDE, int(max(ax, bx) + dx + reach) + 1)):
                px, py = x + 0.5 - dx - ax, y + 0.5 - dy - ay
                t = min(1, max(0, (px * ux + py * uy) / length)) if length > 0 else 0
                ink = radius + 0.5 - math.hypot(px - t * ux, py - t * uy)
                pixels[SIDE * y + x] = max(pixels[SIDE * y + x], round(255 * min(1, max(0, ink))))
    return pixels


def scribble(rng):
    """A random curve, its longer side 20 pixels, its mass at the center, as MNIST's digits are."""
    line, radius = curve(rng), rng.uniform(0.9, 1.6)
    low = [min(p[a] for p in line) for a in (0, 1)]
    size = [max(p[a] for p in line) - low[a] for a in (0, 1)]
    scale = (20 - 2 * radius) / max(size)
    line = [tuple((p[a] - low[a]) * scale for a in (0, 1)) for p in line]
    start = [(SIDE - size[a] * scale) / 2 for a in (0, 1)]
    pixels = drawn(line, radius, *start)
    mass = sum(pixels)
    center = (sum(v * (i % SIDE + 0.5) for i, v in enumerate(pixels)) / mass,
              sum(v * (i // SIDE + 0.5) for i, v in enumerate(pixels)) / mass)
    return drawn(line, radius, *(start[a] + round(SIDE / 2 - center[a]) for a in (0, 1)))


def write(folder, images):
    folder.mkdir()
    for i, pixels in enumerate(images):
        (folder / f"{i:05}.pgm").write_bytes(b"P5 28 28 255\n" + bytes(pixels))
    return [str(folder)]


def classify(options, files, *more):
    words = [options.binary, "classify", "--json", "-", *options.rest, *more, *files]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3):
        print(f"measure_rejection.py: error: {' '.join(words[:6])} ...: {run.stderr.strip()}", file=sys.stderr)
        sys.exit(run.returncode)
    return json.loads(run.stdout)["pictures"]


def usual(answer):
    """Below the share that may be lost: rejected. Blank and damaged pictures always are."""
    if "error" in answer or (answer["digit"] is None and not answer["neighbors"]):
        return -1.0
    return answer["usual"]


def write_idx(file, header, content):
    file.write_bytes(struct.pack(f">I{len(header)}I", 0x800 + len(header), *header) + content)


def held_out(options, shares):
    labels = idx_content(options.data, "train-labels-idx1-ubyte")[1]
    pixels = idx_content(options.data, "train-images-idx3-ubyte")[1]
    size = SIDE * SIDE
    print("| `--reject` | " + " | ".join(map(str, range(10))) + " | mean |\n" + "|---" * 12 + "|")
    found = []
    for digit in range(10):
        inside = [i for i, label in enumerate(labels) if label != digit]
        outside = [i for i, label in enumerate(labels) if label == digit]
        outside = [outside[len(outside) * i // HELD_OUT] for i in range(HELD_OUT)]
        with tempfile.TemporaryDirectory() as name:
            temp = Path(name)
            write_idx(temp / "images", (len(inside), SIDE, SIDE),
                      b"".join(pixels[size * i:size * (i + 1)] for i in inside))
            write_idx(temp / "labels", (len(inside),), bytes(labels[i] for i in inside))
            images = write(temp / "held-out", [pixels[size * i:size * (i + 1)] for i in outside])
            found.append([usual(one) for one in
                          classify(options, images, "--no-cache", "--train-images", str(temp / "images"),
                                   "--train-labels", str(temp / "labels"))])
    for share in shares:
        rejected = [100 * sum(u < share / 100 for u in one) / len(one) for one in found]
        print(f"| {share:g}% | " + " | ".join(f"{one:.1f} %" for one in [*rejected, sum(rejected) / 10]) + " |")


def rows(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/default/app/mnist-knn")
    add_data(parser)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--limit", type=int, default=10_000, help="of MNIST's test digits")
    parser.add_argument("--shares", default="0.1,0.25,0.5,0.8,1,1.5,2,3,5", help="of --reject, in percent")
    parser.add_argument("--held-out", action="store_true")
    options, options.rest = parser.parse_known_args()
    if not os.access(options.binary, os.X_OK):
        parser.error(f"{options.binary}: is no program; expected a built mnist-knn as --binary")
    shares = [float(one) for one in options.shares.split(",")]
    if options.held_out:
        return held_out(options, shares)
    rng = random.Random(1)
    labels = idx_content(options.data, "t10k-labels-idx1-ubyte")[1][:options.limit]
    pixels = idx_content(options.data, "t10k-images-idx3-ubyte")[1]
    size = SIDE * SIDE
    options.rest += ["--data", str(options.data)]
    with tempfile.TemporaryDirectory() as name:
        temp = Path(name)
        made = {
            "test": [pixels[size * i:size * (i + 1)] for i in range(len(labels))],
            "noise": [noise(rng, i % 3) for i in range(NOISE)],
            "curves": [scribble(rng) for _ in range(SCRIBBLES)],
        }
        answers = {kind: classify(options, write(temp / kind, images)) for kind, images in made.items()}
        # Which digit it would have been: with --reject off nothing is withheld.
        forced = classify(options, [str(temp / "test")], "--reject", "off")
    kinds = {kind: [usual(one) for one in found] for kind, found in answers.items()}
    wrong = [one["digit"] != label for one, label in zip(forced, labels)]
    if options.pictures:
        digits, others = rows(options.pictures, "labels.csv"), rows(options.pictures, "nondigits.csv")
        paths = lambda list: [str(options.pictures / row["file"]) for row in list]  # noqa: E731
        kinds["pictures of digits"] = [usual(one) for one in classify(options, paths(digits))]
        found = [usual(one) for one in classify(options, paths(others))]
        kinds["letters, signs"] = [u for u, row in zip(found, others) if row["lookalike"] != "1"]
        kinds["look-alikes"] = [u for u, row in zip(found, others) if row["lookalike"] == "1"]
    print("| `--reject` | errors left | " + " | ".join(kinds) + " |")
    print("|---" * (2 + len(kinds)) + "|")
    print(f"| off | {sum(wrong)} |" + " 0 |" * len(kinds))
    for share in shares:
        kept = [u >= share / 100 for u in kinds["test"]]
        cells = [f"{sum(u < share / 100 for u in all)} of {len(all)} = {100 * sum(u < share / 100 for u in all) / max(1, len(all)):.1f} %"
                 for all in kinds.values()]
        print(f"| {share:g}% | {sum(w and k for w, k in zip(wrong, kept))} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    run_main(main)
