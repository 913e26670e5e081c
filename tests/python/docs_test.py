"""docs/python.md and the docstrings, line by line; the examples; type hints by mypy --strict."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
import mnist_knn

ROOT = Path(__file__).resolve().parents[2]


class Docs(unittest.TestCase):
    def test_docstrings(self):
        examples = 0
        for module in pkgutil.iter_modules(mnist_knn.__path__):
            result = doctest.testmod(importlib.import_module(f"mnist_knn.{module.name}"))
            self.assertEqual(result.failed, 0, module.name)
            examples += result.attempted
        self.assertGreater(examples, 10)

    def test_every_public_function_has_a_docstring(self):
        for name in mnist_knn.__all__:
            one = getattr(mnist_knn, name)
            self.assertTrue(one.__doc__, name)
            for part, value in vars(one).items() if isinstance(one, type) else ():
                if callable(value) and not part.startswith("_"):
                    self.assertTrue(value.__doc__, f"{name}.{part}")

    def needs(self, *modules):
        """Skips the test where a module or MNIST is missing."""
        try:
            support.require(*modules)
            support.mnist()
        except SystemExit:
            self.skipTest("something that it needs is missing")

    def test_the_page(self):
        self.needs("sklearn", "PIL")
        if not mnist_knn.has("pictures"):
            self.skipTest("the library reads no pictures")
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                result = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
            finally:
                os.chdir(before)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 30)

    def test_examples(self):
        self.needs("sklearn", "matplotlib", "pandas")
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted((ROOT / "examples" / "python").glob("*.py")):
                with self.subTest(example=path.name):
                    words = [sys.executable, str(path), "300"]
                    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for file in re.findall(r"^wrote (\S+)", done.stdout, re.M):
                        self.assertGreater(Path(folder, file).stat().st_size, 0)

    def test_type_hints(self):
        if subprocess.run(["mypy", "--version"], capture_output=True, check=False).returncode:
            self.skipTest("mypy was not found")
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(["mypy", "--strict", "--cache-dir", cache], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


support.main()
