#!/usr/bin/env python3
"""Makes a large data set of digits: training images of MNIST, each turned, scaled, sheared and shifted at random.

    tools/deform_digits.py -n N PREFIX [--data DIR] [--seed S]

Writes PREFIX-images and PREFIX-labels, IDX files: 784 bytes and one byte for each of the N
digits. Angles are up to 0.2, scales 0.9 to 1.1, the shear along rows up to 0.15, shifts up to 1.4 pixels, uniformly at
random; pixels are interpolated linearly. The same N and seed give the same files. About 0.1 ms a digit on one core.
docs/scale.md says what such sets were used for.

Needs the MNIST files and Debian's python3-numpy.
"""

import argparse
import struct

from shared import add_data, read_idx, run_main

CHUNK = 4096


def deformed(images, random, np):
    """images: n × side × side bytes. Each pixel of the result is read at A · (its place) + shift, from the middle."""
    n, side = len(images), images.shape[1]
    angle, scale_x, scale_y = random.uniform(-0.2, 0.2, n), random.uniform(0.9, 1.1, n), random.uniform(0.9, 1.1, n)
    shear, shift = random.uniform(-0.15, 0.15, n), random.uniform(-1.4, 1.4, (2, n, 1, 1))
    place = np.arange(side) - (side - 1) / 2
    x, y = place[None, None, :], place[None, :, None]
    at = lambda values: values[:, None, None]  # noqa: E731
    from_x = at(np.cos(angle) * scale_x) * x + at(shear - np.sin(angle)) * y + shift[0] + (side - 1) / 2
    from_y = at(np.sin(angle)) * x + at(np.cos(angle) * scale_y) * y + shift[1] + (side - 1) / 2
    # A background of one pixel all around; what lies farther out is read there.
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1))).astype(np.float32)
    from_x, from_y = np.clip(from_x + 1, 0, side + 0.999), np.clip(from_y + 1, 0, side + 0.999)
    left, top = from_x.astype(np.int64), from_y.astype(np.int64)
    right, down = from_x - left, from_y - top
    flat = padded.reshape(n, -1)
    pixel = lambda dy, dx: np.take_along_axis(  # noqa: E731
        flat, ((top + dy) * (side + 2) + left + dx).reshape(n, -1), axis=1
    ).reshape(n, side, side)
    upper = pixel(0, 0) * (1 - right) + pixel(0, 1) * right
    lower = pixel(1, 0) * (1 - right) + pixel(1, 1) * right
    return np.rint(upper * (1 - down) + lower * down).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", metavar="PREFIX")
    parser.add_argument("-n", type=int, required=True, help="how many digits")
    add_data(parser)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not 1 <= options.n < 2**31:
        parser.error("-n: expected 1 to 2147483647")
    import numpy as np

    images = read_idx(options.data, "train-images-idx3-ubyte")
    labels = read_idx(options.data, "train-labels-idx1-ubyte")
    random = np.random.default_rng(options.seed)
    with open(f"{options.prefix}-images", "wb") as to_images, open(f"{options.prefix}-labels", "wb") as to_labels:
        to_images.write(struct.pack(">IIII", 0x803, options.n, 28, 28))
        to_labels.write(struct.pack(">II", 0x801, options.n))
        for begin in range(0, options.n, CHUNK):
            which = random.integers(0, len(labels), min(CHUNK, options.n - begin))
            to_images.write(deformed(images[which], random, np).tobytes())
            to_labels.write(labels[which].tobytes())


if __name__ == "__main__":
    run_main(main)
