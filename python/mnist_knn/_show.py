"""Digits for the eye: tables in notebooks, explanations, PIL images."""

from __future__ import annotations

import base64
import contextlib
import html
import struct
import zlib
from typing import Any, Iterable

import numpy as np

from ._library import Array

_ZOOM, _GAP, _TEXT = 3, 8, 14  # pixels


def png(gray: Array) -> bytes:
    """A PNG of gray pixels (uint8, rows × columns)."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows, columns = gray.shape
    lines = b"".join(b"\0" + row.tobytes() for row in gray)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def answer(digit: Any) -> str:
    """The label; of a rejected digit "?", with the guess if there is one."""
    if not digit.rejected:
        return str(digit.label)
    return f"? ({digit.guess})" if digit.guess >= 0 else "?"


def table(digits: Iterable[Any]) -> str:
    """HTML with a row for each digit: pixels, answer, probability, reason."""
    rows = []
    for digit in digits:
        data = base64.b64encode(png(255 - digit.pixels)).decode()
        rows.append(f'<tr><td><img width="56" height="56" style="image-rendering:pixelated" '
                    f'src="data:image/png;base64,{data}" alt=""></td><td>{answer(digit)}</td><td>{digit.probability:.2%}</td>'
                    f"<td>{html.escape(digit.reason)}</td></tr>")  # fmt: skip
    return "<table><tr><th></th><th>digit</th><th>probability</th><th>rejected because</th></tr>" + "".join(rows) + "</table>"


def upright(image: Any) -> Array:
    """A PIL image as its EXIF orientation wants it: rows × columns of uint8, or of more bits if it has them, or with a third axis of
    4 colors."""
    from PIL import ImageOps

    image.load()
    of_file = image.format is not None
    if image.format != "TIFF":  # which PIL has turned as it loaded it
        with contextlib.suppress(SyntaxError, struct.error):  # damaged EXIF, as in a file
            image = ImageOps.exif_transpose(image)
    if image.mode == "F" or image.mode.startswith("I"):  # what is above 255 would be cut to it
        array = np.asarray(image)
        if image.mode == "I" and not of_file and array.min() >= 0 and array.max() <= 255:  # of 8 bits, as convert("I") leaves them
            return array.astype(np.uint8)
        narrow = array.astype(np.uint16)
        if "transparency" in image.info:  # one gray of a PNG
            return np.dstack([narrow, narrow, narrow, np.where(narrow == image.info["transparency"], 0, 65535).astype(np.uint16)])
        return narrow if image.mode != "F" and np.array_equal(narrow, array) else array
    gray = image.info.get("transparency")
    if image.mode in ("1", "L") and isinstance(gray, int):  # of a PNG of 1, 2 or 4 bits as in the file, where PIL scales the pixels to 255
        grays = np.asarray(image.convert("L"))
        gray &= 255  # of wider values PNG takes the low bits
        scale = next((one for one in ((255,) if image.mode == "1" else (85, 17)) if gray * one <= 255 and not (grays % one).any()), 1)
        return np.dstack([grays, grays, grays, np.where(grays == gray * scale, 0, 255).astype(np.uint8)])
    # Of LAB, PIL makes an opacity of 0.
    mode = "RGBA" if "transparency" in image.info else {"1": "L", "L": "L", "LAB": "RGB"}.get(image.mode, "RGBA")
    return np.asarray(image.convert(mode))


def explanation(digit: Any, images: Array, labels: Array, distances: Array) -> Any:
    """The digit, then training images (n × 28 × 28) with labels and distances: a PIL image, or else a matplotlib figure."""
    titles = [f"{answer(digit)}  {digit.probability:.1%}"] + [f"{label}: {distance:g}" for label, distance in zip(labels, distances)]
    tiles = [255 - digit.pixels] + [255 - image for image in images]
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1.2 * len(tiles), 1.5))
        for i, (tile, title) in enumerate(zip(tiles, titles)):
            axes = figure.add_subplot(1, len(tiles), i + 1)
            axes.imshow(tile, cmap="gray", vmin=0, vmax=255)
            axes.set_title(title, fontsize=7)
            axes.set_axis_off()
        return figure
    side = 28 * _ZOOM
    canvas = Image.new("L", (len(tiles) * (side + _GAP), side + _TEXT), 255)
    draw = ImageDraw.Draw(canvas)
    for i, (tile, title) in enumerate(zip(tiles, titles)):
        left = i * (side + _GAP)
        draw.text((left, 1), title, fill=0)
        canvas.paste(Image.fromarray(np.ascontiguousarray(tile)).resize((side, side), Image.NEAREST), (left, _TEXT))
    return canvas
