#!/usr/bin/env python3
"""Makes the seeds and dictionaries of the fuzzers:  seeds.py PROGRAM FOLDER

FOLDER/NAME/ gets the first inputs of the fuzzer NAME, FOLDER/NAME.dict its words. Reports, predictions and the names on the
command line come from PROGRAM, mnist-knn; the same program makes the same files, but for times in reports.
"""
import base64
import gzip
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

# A stroke of 12 x 9 pixels by OpenCV's codecs: JPEG, progressive JPEG, lossy and lossless WebP, TIFF with LZW.
PICTURES = {
    "jpeg":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1x"
    "eXBkeFxlZ2P/wAALCAAMAAkBAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAwQG/8QAHhAAAgIBBQEAAAAAAAAAAAAAAQIDBAARIzGRogX/2gAI"
    "AQEAAD8A2ks8i/ZrVw209eZ2XTkq0YB9HvLMNoI2sJYK7qIyK2vAYgkeR1iZ/9k=",
    "progressive":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1x"
    "eXBkeFxlZ2P/wgALCAAMAAkBAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAgMF/9oACAEBAAAAAdqxX//EABgQAQEAAwAAAAAAAAAAAAAAAAEA"
    "ERIT/9oACAEBAAEFAle1g2v/xAAZEAACAwEAAAAAAAAAAAAAAAACEAESQcH/2gAIAQEABj8CEcrPFbV//8QAGhABAAIDAQAAAAAAAAAAAAAA"
    "ARARIXHR8f/aAAgBAQABPyEVjJU09QsKYCDvyP/aAAgBAQAAABAP/8QAGBABAQADAAAAAAAAAAAAAAAAATEQkaH/2gAIAQEAAT8QM0ZKgHre"
    "FFXSCFONY//Z",
    "lossy":
    "UklGRkIAAABXRUJQVlA4IDYAAADwAQCdASoJAAwAAsBMJaQAEOAKn9ksrgAA/vqt8Ku9q7ON2BkyGJM5ACkwKm5vVhlrr+CAAAA=",
    "lossless":
    "UklGRioAAABXRUJQVlA4TB4AAAAvCMACAA8w//M///MfeCDMNkr9YQ9hz1OI6H8kuwk=",
    "lzw":
    "SUkqADAAAACAP8AQOCQOBQWCQcAAGFQqGQmCQ+DRGGxSIQOJACHRWMRyERqPwOAgDAAAAQMAAQAAAAkAAAABAQMAAQAAAAwAAAACAQMAAQAA"
    "AAgAAAADAQMAAQAAAAUAAAAGAQMAAQAAAAEAAAARAQQAAQAAAAgAAAAVAQMAAQAAAAEAAAAWAQMAAQAAAAwAAAAXAQQAAQAAACgAAAAcAQMA"
    "AQAAAAEAAAA9AQMAAQAAAAIAAABTAQMAAQAAAAEAAAAAAAAA",
}


def idx(kind, sizes, data):
    return struct.pack(f">BBBB{len(sizes)}I", 0, 0, kind, len(sizes), *sizes) + data


def idx_seeds():
    images, labels = idx(8, [3, 4, 5], bytes(range(60))), idx(8, [6], bytes(range(6)))
    contents = [images, labels, idx(13, [1, 1, 1], bytes(4)), idx(8, [2, 0, 7], b""), idx(8, [0], b""),
                idx(8, [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF], b"1"), idx(8, [1, 1, 1], b"x"), images[:-1], images + b"x",
                b"<!DOCTYPE html>", b"version https://git-lfs", b"\x28\xb5\x2f\xfd"]
    contents += [gzip.compress(content, mtime=0) for content in (images, labels)]
    contents += [gzip.compress(images[:20], mtime=0) + gzip.compress(images[20:], mtime=0), contents[-1][:-3], contents[-2] + b"1"]
    for (number, content), flags in itertools.product(enumerate(contents), (0, 1, 2, 7, 8, 26)):
        yield f"{number}-{flags}", bytes([flags]) + content


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(cols, rows, color, depth=8, extra=b""):
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    row = b"\0" + bytes(range(40, 40 + (cols * samples * depth + 7) // 8))
    palette = chunk(b"PLTE", bytes(range(0, 255, 3)) * 3) if color == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, depth, color, 0, 0, 0)) + extra +
            palette + chunk(b"IDAT", zlib.compress(row * rows)) + chunk(b"IEND", b""))


def bmp(cols, rows, bits, packing=0):
    colors = bytes(range(4)) * (2**bits if bits <= 8 else 0)
    data = bytes(range(32)) * ((cols * bits + 31) // 32 * 4 * abs(rows) // 32 + 1)
    data = data[:(cols * bits + 31) // 32 * 4 * abs(rows)]
    start = 54 + len(colors)
    return (b"BM" + struct.pack("<IIIIiiHHIIiiII", start + len(data), 0, start, 40, cols, rows, 1, bits, packing, len(data), 1, 1,
                                0, 0) + colors + data)


def tiff(big, orientation):
    order = ">" if big else "<"
    fields = [(256, 3, 4), (257, 3, 5), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 122), (274, 3, orientation), (277, 3, 1),
              (279, 4, 20)]
    entries = b""
    for tag, kind, value in fields:
        packed = struct.pack(order + ("HH" if kind == 3 else "I"), *([value, 0] if kind == 3 else [value]))
        entries += struct.pack(order + "HHI", tag, kind, 1) + packed
    return (b"MM\0*" if big else b"II*\0") + struct.pack(order + "IH", 8, len(fields)) + entries + bytes(4) + bytes(range(20))


def webp(*chunks):
    body = b"".join(name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def animated(one):
    size = struct.pack("<I", 8)[:3] + struct.pack("<I", 11)[:3]
    frame = bytes(6) + size + struct.pack("<I", 100)[:3] + b"\0" + one[12:]
    return webp((b"VP8X", b"\x02\0\0\0" + size), (b"ANIM", bytes(6)), (b"ANMF", frame), (b"ANMF", frame))


def picture_seeds():
    known = {name: base64.b64decode(text) for name, text in PICTURES.items()}
    exif = b"Exif\0\0" + tiff(True, 6)
    jpeg = known["jpeg"]
    known["turned"] = jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]
    known["animated"] = animated(known["lossless"])
    for color, depth in ((0, 8), (0, 1), (0, 16), (2, 8), (3, 8), (3, 2), (4, 8), (6, 16)):
        known[f"png-{color}-{depth}"] = png(5, 4, color, depth)
    known["png-turned"] = png(5, 4, 0, extra=chunk(b"eXIf", tiff(False, 8)))
    for bits in (1, 4, 8, 24, 32):
        known[f"bmp-{bits}"] = bmp(5, 4 if bits != 24 else -4, bits)
    for kind, numbers in enumerate((b"5 4", b"5 4 9", b"5 4 255", b"5 4", b"5 4\n#x\n255", b"5 4 255"), 1):
        data = b"1 0 1 0 1 " * 12 if kind < 4 else bytes(range(60))
        known[f"pnm-{kind}"] = b"P%d %s\n" % (kind, numbers) + data
    known["pgm-16"] = b"P5 5 4 65535\n" + bytes(range(40))
    known["tiff-big"], known["tiff-little"] = tiff(True, 1), tiff(False, 6)
    known["gif"], known["heif"] = b"GIF89a", b"\0\0\0\x18ftypheic"
    page = bytes(255 if (x % 16 not in (7, 8)) or y % 24 > 15 else 0 for y in range(48) for x in range(64))
    known["page"] = b"P5 64 48 255\n" + page
    return known.items()


def cache_file(payload, key=b"key"):
    sums = b"".join(struct.pack("<I", zlib.crc32(payload[i:i + 2**20])) for i in range(0, len(payload), 2**20))
    head = b"mkcache1" + struct.pack("<QQQ", len(key), len(payload), zlib.crc32(key + sums)) + key + sums
    return head + bytes(-len(head) % 64) + payload


def cache_seeds():
    training = struct.pack("<8q", 3, 2, 2, *[0] * 5) + bytes(range(15))

    def projection(n_out, dim):
        return struct.pack("<3q", n_out, dim, 1000) + bytes(i % 256 for i in range(n_out * dim * 2)) + bytes(n_out * 4)

    payloads = {(0, 3): bytes(60), (1, 3): projection(3, 20) + bytes(9), (4, 2): projection(4, 20) + bytes(8), (5, 1): bytes(20),
                (2, 1): bytes(200), (0, 0): training}
    for number, ((spec, count), payload) in enumerate(payloads.items()):
        head = struct.pack("<BHHB", spec, count, 40 + number, 1)
        yield f"{number}-payload", head + payload
        yield f"{number}-file", head + cache_file(payload)


METHODS = (
    "mnist-knn method 1\n# comment\ntransform gradients\nrerank none\ncandidates 96\nmetric l2\nvote majority\nk 5\n"
    "weights uniform\ntie smallest\n",
    "mnist-knn method 1\ntransform deskew:0.5,pca:10\nrerank both\ncandidates 50\nmetric lp\np 2.5\nvote class-mean\nk 3\n"
    "weights distance\ntie nearest\n",
    "mnist-knn method 1\n\ntie nearest\nmetric cosine\nk 1024\nrerank cells\ntransform raw\ncandidates 10\nvote majority\n"
    "weights uniform\n",
)


def output(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def vector_seeds():
    """The first byte chooses the name, the second how it is read: see vectors.cpp."""
    def npy(kind, shape, data, fortran=False):
        header = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
        return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data
    floats = struct.pack("<4f", 1.5, -2, 0, 3e38)
    files = {
        "npy": (1, npy("<f4", "(2, 2)", floats)), "images": (1, npy("|u1", "(2, 2, 3)", bytes(range(12)))),
        "fortran": (1, npy("<f4", "(2, 2)", floats, True)), "fortran-images": (1, npy("|u1", "(2, 2, 3)", bytes(range(12)), True)),
        "wide": (1, npy(">f8", "(2, 1)", struct.pack(">2d", 1e300, -1))), "labels": (1, npy("<i8", "(3,)", struct.pack("<3q", 7, -1, 300))),
        "csv": (2, b"a,b,label\n1.5,-2,x\n3,4e-3,\"y, \"\"z\"\"\"\n"), "bytes": (2, b"1;2\n3;255\r\n"), "text": (0, b"cat\ndog\ncat\n"),
        "idx": (0, b"\0\0\x0d\x02" + struct.pack(">2I", 1, 2) + struct.pack(">2f", 1, 2)),
        "fvecs": (3, (struct.pack("<i", 2) + floats[:8]) * 2), "bvecs": (4, struct.pack("<i", 3) + b"abc"),
        "ivecs": (5, struct.pack("<2i", 1, -7)), "fbin": (6, struct.pack("<2I", 2, 2) + floats), "u8bin": (7, struct.pack("<2I", 1, 3) + b"abc"),
        "i8bin": (8, struct.pack("<2I", 3, 1) + b"\xff\0\x7f"), "ibin": (9, struct.pack("<2I", 1, 1) + struct.pack("<i", 300)),
    }
    for name, (number, content) in files.items():
        for flags in (0, 1, 2, 0x10, 0x24):
            yield f"{name}-{flags}", bytes([number, flags]) + content
        yield f"{name}-gz", bytes([130 + number, 0]) + content


def words_of(program):
    """Per command its options, each with its value's placeholder or nothing; and the names that options take."""
    listed = re.search(r"^Commands:\n(.*?)\n\n", output(program, "--help").stdout, re.M | re.S).group(1)
    commands = {}
    names = set()
    seen = set()
    for command in re.findall(r"^  ([a-z][a-z-]*) ", listed, re.M):
        text = output(program, command, "--help=all").stdout
        commands[command] = re.findall(r"^ +((?:-\w|--[a-z0-9-]+))(?:, --[a-z-]+)?(?: ([A-Z|,.]+))?(?: |$)", text, re.M)
        for option, placeholder in commands[command]:
            if placeholder.startswith(("NAME", "WHEN", "LIST")) and option not in seen:
                seen.add(option)
                names.update(re.findall(r"[a-z][a-z0-9_:+-]+", output(program, command, option, "?").stderr.partition("expected")[2]))
    return commands, names


def command_line_seeds(commands):
    values = {"NAME": "l2", "FILE": "a.png", "DIR": "folder", "N": "7", "D": "3", "P": "2.5", "SHARE": "5%", "RANGE": "1..9",
              "LIST": "1,2", "WHEN": "never", "C": "none", "S": "0.5", "NAME,...": "raw,blur", "NAME|FILE": "gradients"}
    for command, options in commands.items():
        yield f"{command}", command.encode()
        yield f"{command}-help", f"{command}\n--help".encode()
        for option, placeholder in options:
            value = "\n" + values.get(placeholder, "3") if placeholder else ""
            yield f"{command}{option}", f"{command}\n{option}{value}\nx.png".encode()
    yield "none", b""
    yield "version", b"--version"
    yield "end", b"classify\n--\n-k\n--x"
    yield "glued", b"evaluate\n-qk3\n--metric=lp\n--p=3"


def report_seeds(program, folder):
    run = [program, "evaluate", "--limit-train", "60", "-q", "--report"]
    reports = {}
    variants = {"a": ["--limit-test", "12"], "b": ["--limit-test", "3", "--metric", "lp", "--p", "3", "--weights", "distance"],
                "c": ["--limit-test", "2", "--method", "accurate"]}
    environment = {name: value for name, value in os.environ.items() if name != "MNIST_KNN_DATA"}
    for name, options in variants.items():
        subprocess.run([*run, f"{folder}/{name}", *options], cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        reports[name] = Path(folder, name)
    return reports


def http_seeds():
    image, host = bytes(range(196)) * 4, b"Host: 127.0.0.1\r\n"
    head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 28, 28), }"
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head + b" " * (117 - len(head)) + b"\n" + image

    def post(path, body, kind=b"application/octet-stream"):
        return (b"POST " + path + b" HTTP/1.1\r\n" + host + b"Content-Type: " + kind + b"\r\nContent-Length: " +
                str(len(body)).encode() + b"\r\n\r\n" + body)

    chunks = b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in (image[:300], image[300:])) + b"0\r\nA: b\r\n\r\n"
    requests = [b"%s %s HTTP/1.1\r\n%s\r\n" % (method, path, host) for method, path in
                [(b"GET", b"/"), (b"HEAD", b"/app.js"), (b"GET", b"/readyz"), (b"GET", b"/metrics"), (b"GET", b"/v1/info"),
                 (b"GET", b"/v1/mistakes?true=4&predicted=9&first=0&count=2"), (b"GET", b"/v1/confusion"), (b"PUT", b"/livez"),
                 (b"GET", b"/none")]]
    requests += [post(b"/v1/predict", image), post(b"/v1/predict", npy), post(b"/v1/classify?many=1&neighbors=1&limit=%35", image),
                 b"POST /v1/predict HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n" + chunks,
                 b"GET /livez HTTP/1.1\r\n" + host + b"Origin: http://127.0.0.1\r\nSec-Fetch-Site: same-origin\r\n\r\n"]
    for number, request in enumerate(requests):
        yield f"{number}", b"\xff" + request
        yield f"{number}-pieces", b"\6" + request
    yield "all", b"\x40" + b"".join(requests[:6] + requests[9:])


def digit_messages():
    digit, numbers = bytes(range(196)) * 4, struct.pack("<5i", 1, 2, 3, 4, 0)
    end = struct.pack("<II", 0, 0)
    one = digit + b"\0" + numbers + b"\0" + end
    both = digit + b"\1" + digit + numbers + b"\1" + struct.pack("<I", 4) + b"text" + struct.pack("<I", 0)
    whole = digit + b"\0" + numbers + b"\0" + struct.pack("<III", 0, 1, 2) + one + one
    for number, digits in enumerate(([], [one], [both, one], [whole, both])):
        yield f"{number}", struct.pack("<iiI", 30, 40, len(digits)) + b"".join(digits)


def escaped(word):
    return "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\x{b:02x}" for b in word)


def keys_of(value):
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from keys_of(part)
            if isinstance(part, str):
                yield part
    elif isinstance(value, list):
        for part in value:
            yield from keys_of(part)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])

    def store(fuzzer, seeds, words=()):
        (folder / fuzzer).mkdir(parents=True, exist_ok=True)
        for name, content in seeds:
            (folder / fuzzer / name).write_bytes(content)
        lines = sorted(f'"{escaped(word if isinstance(word, bytes) else word.encode())}"\n' for word in set(words))
        (folder / f"{fuzzer}.dict").write_text("".join(lines))

    store("idx", idx_seeds(), [b"\0\0\x08\x03", b"\0\0\x08\x01", b"\x1f\x8b\x08", b"\xff\xff\xff\xff", b"\0\0\0\x01", b"BZh",
                              b"<html", b"PK\3\4", b"\xef\xbb\xbf"])
    store("vectors", vector_seeds(), [b"\x93NUMPY\x01\0", b"'descr': '<f4'", b"'fortran_order': False", b"'shape': (2, 3)", b"True", b"|u1",
                                      b">f8", b"\0\0\x0d\x02", b"label", b"class", b"nan", b"-inf", b"1e308", b"\"\"", b"\r\n", b"\t",
                                      b";", b"\xef\xbb\xbf", struct.pack("<i", -1), struct.pack("<I", 3), struct.pack("<f", float("inf"))])
    store("cache", cache_seeds(), [b"mkcache1", b"key", struct.pack("<q", 1 << 30), struct.pack("<q", -1), struct.pack("<q", 3)])
    signs = [b"IHDR", b"IDAT", b"IEND", b"eXIf", b"PLTE", b"tRNS", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\xff\xc0", b"\xff\xc2",
             b"\xff\xda", b"\xff\xd9", b"\xff\xe1", b"\xff\xee", b"Adobe", b"Exif\0\0", b"II*\0", b"MM\0*", b"RIFF", b"WEBP", b"VP8 ",
             b"VP8L", b"VP8X", b"ANIM", b"ANMF", b"ALPH", b"EXIF", b"BM", b"P1", b"P2", b"P3", b"P4", b"P5", b"P6"]
    for fuzzer in ("picture", "picture_header"):
        store(fuzzer, picture_seeds(), signs)
    store("http", http_seeds(), [b"\r\n", b"\r\n\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked", b"Host: 127.0.0.1", b"HTTP/1.1",
                                b"Content-Type: ", b"Authorization: Bearer ", b"Expect: 100-continue",
                                b"Connection: close", b"\x93NUMPY", b"GET ", b"POST ", b"/v1/predict"])
    store("digit_message", digit_messages(), [struct.pack("<I", 1), struct.pack("<I", 100000), b"\xff\xff\xff\xff"])
    lines = [(f"{number}", text.encode()) for number, text in enumerate(METHODS)]
    method_words = {word for text in METHODS for word in text.split()}
    commands, names = words_of(program)
    store("method", lines, method_words | names)
    options = {option for listed in commands.values() for option, _ in listed}
    store("command_line", command_line_seeds(commands),
          set(commands) | options | names | {"gpu:0", "-", "--", "0.5", "1..9", "inf", "nan", "1e9", "18446744073709551616"})
    with tempfile.TemporaryDirectory() as scratch:
        reports = {name: path for name, path in report_seeds(program, scratch).items()}
        texts = {name: (path / "report.json").read_text() for name, path in reports.items()}
        tables = {name: (path / "predictions.csv").read_bytes() for name, path in reports.items()}
    words = {word for text in texts.values() for word in keys_of(json.loads(text))}
    store("report", [(name, json.dumps(json.loads(text), separators=(",", ":")).encode()) for name, text in texts.items()],
          {f'"{word}"' for word in words} | {"true", "false", "null", "1e999", "-1", "18446744073709551615", "[]", "{}"})
    store("predictions", [(name, struct.pack("<H", table.count(b"\n") - 1) + table) for name, table in tables.items()],
          ["index,label,predicted,confidence,vote_share", "1e-400", "nan", "inf", "256", "-1", "0.5", ",", "\n"])
    store("differential", [(f"{seed}", struct.pack("<QBB", seed, seed, seed)) for seed in range(64)], [b"\0", b"\xff"])
    # Sets, indexes, searches and answers on one slot, as tests/fuzz/library.cpp reads them.
    store("library", [(f"{seed}", bytes(seed * i * i % 251 for i in range(40 * seed))) for seed in range(1, 33)],
          ["\0\0", "\0\1", "\0\2", "\0\3", "\0\5"])


if __name__ == "__main__":
    main()
