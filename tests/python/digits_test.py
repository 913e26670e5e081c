"""Digits in pictures of every kind, on MNIST: the same answers whatever form a picture has, and as the program's."""

import os
import pickle
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import support
import numpy as np
from mnist_knn import DigitClassifier, _show, has

MNIST = support.mnist()
RANDOM = np.random.default_rng(3)


def images(n):
    return MNIST.X_test[:n].reshape(n, 28, 28)


def png_of_grays(grays, bits, transparent):
    """A PNG of 1 to 8 bits, of which this gray is transparent."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows, columns = grays.shape
    lines = np.packbits(np.unpackbits(grays.astype(np.uint8)[..., None], axis=2)[..., 8 - bits:].reshape(rows, -1), axis=1)
    lines = b"".join(b"\0" + line.tobytes() for line in lines)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, bits, 0, 0, 0, 0)) +
            chunk(b"tRNS", struct.pack(">H", transparent)) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Few training images, so that nothing is fitted for seconds.
        cls.model = DigitClassifier("gradients", device="cpu").fit(MNIST.X_train[:6000], MNIST.y_train[:6000])

    def test_images_as_mnist(self):
        found = self.model.classify(MNIST.X_test[:300])
        labels = MNIST.y_test[:300]
        accepted = ~found.rejected
        self.assertGreater((found.labels == labels)[accepted].mean(), 0.95)
        self.assertGreater(accepted.mean(), 0.9)
        self.assertTrue(((found.probabilities > 0) & (found.probabilities <= 1)).all())
        np.testing.assert_array_equal(self.model.predict(images(300)), found.labels)
        np.testing.assert_array_equal(self.model.predict(255 - images(300)), found.labels)
        self.assertEqual(found[0].box, self.model.classify(images(1))[0].box)

    def test_noise_is_rejected(self):
        noise = RANDOM.integers(0, 256, (20, 784), np.uint8)
        self.assertGreater(DigitClassifier("raw").fit(MNIST.X_train[:3000], MNIST.y_train[:3000]).classify(noise).rejected.mean(), 0.9)

    @unittest.skipUnless(has("pictures"), "the library reads no pictures")
    def test_arrays_of_any_size_polarity_and_type(self):
        for image, label in zip(images(6), MNIST.y_test):
            big = np.kron(image, np.ones((4, 4), np.uint8))
            color = np.repeat(big[..., None], 3, axis=2)
            clear = [np.dstack([np.full_like(color, ink), big]) for ink in (0, 255)]  # black or white ink on nothing
            forms = [big, 255 - big, color, *clear, big / 255, (big / 255).astype(np.float32), big.astype(np.uint16) * 257, big > 127]
            found = self.model.classify(forms)
            self.assertEqual(self.model.classify([np.matrix(image)])[0], self.model.classify([image])[0])
            self.assertEqual(found.labels[:8].tolist(), [label] * 8)
            self.assertEqual(len({digit.pixels.tobytes() for digit in found[:3]}), 1)
            self.assertEqual(len({digit.pixels.tobytes() for digit in found[5:8]}), 1)

    @unittest.skipUnless(has("pictures"), "the library reads no pictures")
    def test_files_bytes_and_pil(self):
        support.require("PIL")
        from PIL import Image

        big = 255 - np.kron(images(1)[0], np.ones((4, 4), np.uint8))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "seven.png")
            Image.fromarray(big).save(path)
            content = path.read_bytes()
            deep = [Image.fromarray(big.astype(np.uint16) * 257), Image.fromarray(big.astype(np.int32) * 257), Image.fromarray(big).convert("I")]
            found = self.model.classify([path, str(path), content, bytearray(content), Image.open(path), Image.fromarray(big), *deep,
                                         Image.fromarray((big / 255).astype(np.float32))])  # fmt: skip
            for ink in (big.astype(np.uint16), np.zeros_like(big, np.uint16)):  # of little contrast, not of 8 bits
                Image.fromarray(ink).save(path.with_name("deep.png"))
                read = [digit.pixels for digit in self.model.classify([path.with_name("deep.png"), Image.open(path.with_name("deep.png"))])]
                np.testing.assert_array_equal(*read)
            turned = Image.fromarray(np.rot90(big))
            exif = turned.getexif()
            exif[0x0112] = 6  # rotate by 90 degrees to the right
            turned.save(path.with_suffix(".jpg"), exif=exif, quality=100)
            self.assertEqual(self.model.predict(path.with_suffix(".jpg")).tolist(), [7])
            self.assertEqual(self.model.predict(Image.open(path.with_suffix(".jpg"))).tolist(), [7])
            for damaged in (b"I", b"II*\0"):
                Image.fromarray(big).save(path, exif=damaged)
                self.assertEqual(self.model.predict([path, Image.open(path)]).tolist(), [7, 7])
            Image.fromarray(np.rot90(big)).save(path.with_suffix(".tif"), tiffinfo={0x0112: 6})
            for turned_once in (path.with_suffix(".tif"), Image.open(path.with_suffix(".tif"))):
                self.assertEqual(self.model.predict(turned_once).tolist(), [7])
            with self.assertRaises(OSError):
                self.model.predict(b"no picture")
            with self.assertRaises(FileNotFoundError):
                self.model.predict(path.with_name("none.png"))
            with self.assertRaisesRegex(OSError, "^/dev/null: is empty or larger"):
                self.model.predict("/dev/null")
            with self.assertRaisesRegex(OSError, "^picture 1: is not a picture"):
                self.model.predict([content, b"no picture"])
            with open(path.with_name("large.png"), "wb") as large:
                large.truncate((1 << 30) + 1)
            with self.assertRaisesRegex(OSError, "large.png: is empty or larger"):
                self.model.read(path.with_name("large.png"))
        for shape in ((28, 28, 1), (1, 28, 28, 1)):
            self.assertEqual(len(self.model.classify(np.zeros(shape, np.uint8))), 1)
        self.assertEqual(found.labels.tolist(), [7] * 10)
        self.assertEqual(len({digit.pixels.tobytes() for digit in found}), 1)

    @unittest.skipUnless(has("pictures"), "the library reads no pictures")
    def test_colors_with_and_without_opacity(self):
        support.require("PIL")
        from PIL import Image, ImageCms

        big = 255 - np.kron(images(1)[0], np.ones((4, 4), np.uint8))
        color = Image.fromarray(np.dstack([big, big // 2 + 100, 255 - (255 - big) // 3]))
        seen = color.copy()
        seen.putalpha(Image.fromarray(255 - big // 2))
        spaces = [ImageCms.createProfile(name) for name in ("sRGB", "LAB")]
        with tempfile.TemporaryDirectory() as folder:
            forms = []
            for i, picture in enumerate((color, color.convert("RGBA"), seen)):
                path = Path(folder, f"{i}.png")
                picture.save(path)
                forms += [path, picture]
            clear = Path(folder, "clear.png")  # black ink, and a gray hardly lighter that is transparent
            Image.fromarray((big > 127).astype(np.uint8)).save(clear, transparency=1)
            deep = Path(folder, "deep.png")
            Image.fromarray((big > 127).astype(np.int32)).save(deep, transparency=1)  # of 16 bits
            forms += [clear, Image.open(clear), deep, Image.open(deep), (big > 127).astype(np.float32)]
            pixels = [digit.pixels.tobytes() for digit in self.model.classify(forms)]
        self.assertEqual(len(set(pixels[:4])), 1)
        self.assertEqual(pixels[4], pixels[5])
        self.assertEqual(len(set(pixels[6:])), 1)
        with tempfile.TemporaryDirectory() as folder:
            for bits in (1, 2, 4, 8):
                path = Path(folder, f"{bits}.png")
                path.write_bytes(png_of_grays(big > 127, bits, 1))  # black, and a gray hardly lighter that is transparent
                loaded = Image.open(path)
                loaded.load()
                found = [digit.pixels.tobytes() for digit in self.model.classify([path, Image.open(path), loaded])]
                with self.subTest(bits=bits):
                    self.assertEqual(found[1:], [found[0]] * 2)
        lab = ImageCms.applyTransform(color, ImageCms.buildTransform(*spaces, "RGB", "LAB"))
        self.assertEqual(self.model.predict(lab).tolist(), [7])

    @unittest.skipUnless(has("pictures"), "the library reads no pictures")
    def test_a_reason_is_the_same_of_one_and_of_many(self):
        model = DigitClassifier("gradients", reject=0.3, device="cpu").fit(MNIST.X_train[:3000], MNIST.y_train[:3000])
        found = model.classify(MNIST.X_test[:40])
        self.assertTrue(found.rejected.any())
        self.assertEqual(list(found), [model.read(image, many=False)[0] for image in images(40)])
        self.assertEqual(list(model.read(images(1)[0], many=None)), list(found)[:1])
        with self.assertRaisesRegex(TypeError, "^method None: is NoneType; expected a text$"):
            DigitClassifier(None).fit()

    @unittest.skipUnless(has("pictures"), "the library reads no pictures")
    def test_a_page(self):
        page = np.full((60, 300), 255, np.uint8)
        for i, image in enumerate(images(4)):
            page[16:44, 20 + 70 * i : 48 + 70 * i] = 255 - image
        found = self.model.read(page)
        self.assertEqual(found.labels.tolist(), MNIST.y_test[:4].tolist())
        self.assertEqual([digit.box[0] // 70 for digit in found], [0, 1, 2, 3])

    @unittest.skipUnless(has("pictures") and os.environ.get("MNIST_KNN_PROGRAM"), "the program and pictures are needed")
    def test_as_the_program(self):
        folder = os.environ.get("MNIST_KNN_PHOTOS")
        photos = sorted(Path(folder).glob("*.jpg"))[:12] if folder else []
        if not photos:
            self.skipTest("photos are needed: MNIST_KNN_PHOTOS is not set")
        model = DigitClassifier("gradients", device="cpu")
        words = [os.environ["MNIST_KNN_PROGRAM"], "classify", "--method", "gradients", "--device", "cpu", "-q", *map(str, photos)]
        printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")
        theirs = [line.split()[-1] if line.split()[-1] != "?" else "-1" for line in printed if line]
        self.assertEqual([str(label) for label in model.predict(photos)], theirs)

    def test_results_for_the_eye(self):
        found = self.model.classify(images(3))
        self.assertEqual(repr(found[:2]), f"DigitList({found[0].label}, {found[1].label})")
        self.assertEqual(found._repr_html_().count("<img "), 3)
        picture = self.model.explain(images(1)[0], 5)
        self.assertTrue(hasattr(picture, "save") or hasattr(picture, "savefig"))
        blank = self.model.classify(np.zeros((28, 28), np.uint8))
        self.assertEqual((blank[0].guess, _show.answer(blank[0])), (-1, "?"))
        self.assertIn("<td>?</td>", blank._repr_html_())

    def test_subclasses_of_arrays(self):
        for kind in (np.asmatrix, np.ma.masked_array):
            large = [kind(np.kron(image, np.ones((3, 3), np.uint8))) for image in images(3)]
            np.testing.assert_array_equal(self.model.predict([kind(image) for image in images(3)]), self.model.predict(images(3)))
            np.testing.assert_array_equal(self.model.predict(large), self.model.predict([np.asarray(one) for one in large]))

    def test_numbers_as_objects(self):
        X, y = MNIST.X_train[:200].astype(object), MNIST.y_train[:200].tolist()
        model = DigitClassifier("raw", device="cpu").fit(X, np.array(y, object))
        np.testing.assert_array_equal(model.predict(images(9)), DigitClassifier("raw", device="cpu").fit(MNIST.X_train[:200], y).predict(images(9)))
        with self.assertRaisesRegex(ValueError, "^y: has other values"):
            model.fit(X, np.array([*y[:-1], None], object))

    def test_pickle(self):
        again = pickle.loads(pickle.dumps(self.model))
        np.testing.assert_array_equal(again.predict(images(20)), self.model.predict(images(20)))

    def test_after_a_fit_that_fails_it_is_as_before(self):
        X, y = MNIST.X_train[:1000], MNIST.y_train[:1000]
        model = DigitClassifier("raw", reject=0, device="cpu").fit(X, y)
        with mock.patch("mnist_knn._digits.Index", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            model.fit(X, 9 - y)
        for one in (model, pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(one.predict(X[:20]), y[:20])

    def test_errors(self):
        for picture, kind in ((np.zeros((3, 3), np.int32), TypeError), (np.full((3, 3), 7.0), ValueError), (b"", ValueError),
                              (np.zeros((2, 2, 2, 2, 2)), ValueError), (np.zeros((0, 5), np.uint8), ValueError)):  # fmt: skip
            with self.assertRaises(kind):
                self.model.predict([picture])
        for pictures, message in ((5, "pictures: is int"), (None, "pictures: is NoneType"), ({1}, "pictures: is set"),
                                  ([object()], "picture 0: is object")):  # fmt: skip
            with self.assertRaisesRegex(TypeError, f"^{message}; expected an array, "):
                self.model.predict(pictures)
        with self.assertRaises((ValueError, OSError)):
            DigitClassifier("no-such-method").fit(MNIST.X_train[:10], MNIST.y_train[:10])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("mnist-knn method 1\ntransform zscore\nrerank none\ncandidates 96\nmetric l2\nvote majority\nk 5\n"
                       "weights uniform\ntie smallest\n")  # fmt: skip
            file.flush()
            for wrong, message in (({"method": file.name}, "^method: transform zscore: makes float64"), ({"reject": 5}, "^reject 5.*: is out of range; ")):
                with self.assertRaisesRegex(ValueError, message):
                    DigitClassifier(**{"method": "raw", **wrong}).fit(MNIST.X_train[:10], MNIST.y_train[:10])
        with self.assertRaisesRegex(ValueError, "^X: has 4 images; expected at least 5, as many as vote$"):
            DigitClassifier("raw").fit(MNIST.X_train[:4], MNIST.y_train[:4])
        few = DigitClassifier("raw", device="cpu").fit(MNIST.X_train[:9], MNIST.y_train[:9])
        for k in (10, 16_385, 2**40):
            with self.assertRaisesRegex(ValueError, f"^n_neighbors {k}: "):
                few.explain(images(1)[0], k)
        for path in ("", "a\0b"):
            with self.assertRaisesRegex(ValueError, "^picture '.*; expected a text"):
                few.predict(path)
        with self.assertRaisesRegex(ValueError, "^picture: has 1 × 100000001 pixels; expected at most 100,000,000$"):
            few.read(np.zeros((1, 100_000_001), np.uint8))
        with self.assertRaisesRegex(ValueError, "^X: is None beside y"):
            DigitClassifier("raw").fit(y=MNIST.y_train[:10])
        for X, y in ((MNIST.X_train[:10, :783], MNIST.y_train[:10]), (MNIST.X_train[:10], MNIST.y_train[:9])):
            with self.assertRaisesRegex(ValueError, "^X, y: have shapes .*; expected n × 784 and n$"):
                DigitClassifier("raw").fit(X, y)


support.main()
