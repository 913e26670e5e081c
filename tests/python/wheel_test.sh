#!/usr/bin/env bash
# The wheel installs without a network, Debian's packages are made, and README's example runs by either:  wheel_test.sh LIBRARY BUILD
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
library=$1 build=$2
unset MNIST_KNN_LIBRARY PYTHONPATH
export XDG_CACHE_HOME=$work/cache
python=/usr/bin/python3
"$python" -c 'import numpy, venv, ensurepip' 2>/dev/null ||
    skip "the system's NumPy or venv was not found (Debian: python3-numpy python3-venv)"
cd "$work"
check "it is built" "$repository/tools/wheel.sh" --library "$library" first
check "it is built again" "$repository/tools/wheel.sh" --library "$library" second
check "the same bytes each time" cmp first/*.whl second/*.whl
# A bare clone has no library: wheel.sh builds it, each kind in a folder of its own. Here cmake copies what was built before.
mkdir -p bin clone/docs
cp -r "$repository"/{tools,python,CMakeLists.txt,LICENSE} clone
cp "$repository/docs/python.md" clone/docs
cat >bin/cmake <<END
#!/bin/sh
while [ "\$1" != -B ] && [ "\$1" != --build ]; do shift; done
mkdir -p "\$2/lib/mnist-knn"
case "\$*" in *OPENCV=ON*) touch "\$2/lib/mnist-knn/mnist-knn-pictures.so" ;; esac
[ "\$1" = -B ] || cp "$library" "\$2/lib/libmnistknn.so"
END
chmod +x bin/cmake
for kind in --pictures ''; do
    check "a clone ${kind:-alone} yields it" env PATH="$PWD/bin:$PATH" MNIST_KNN_NO_INSTALL=1 \
        clone/tools/wheel.sh ${kind:+"$kind"} "built$kind" 2>log
done
names() { "$python" -m zipfile -l "$1"/*.whl; }
check "with the library" contains "$(names built)" mnist_knn/libmnistknn.so.0
check "--pictures with the module" contains "$(names built--pictures)" mnist-knn-pictures.so
check "no module of another build" ! grep -q mnist-knn-pictures.so <(names built)
"$python" -m venv --system-site-packages empty  # with the system's NumPy, which a wheel does not bring
check "pip" empty/bin/pip install --quiet --no-index --disable-pip-version-check first/*.whl
check "nothing is missing or changed" empty/bin/python - <<'END'
import importlib.metadata as metadata
distribution = metadata.distribution("mnist-knn")
assert all(file.locate().is_file() for file in distribution.files), distribution.files
END
check "the library inside is used" empty/bin/python - <<'END'
import mnist_knn, mnist_knn._library as library
mnist_knn.has("cuda")
assert mnist_knn.__version__ == mnist_knn.library_version() == __import__("importlib.metadata").metadata.version("mnist-knn")
assert library.library()._name.startswith(mnist_knn.__file__.removesuffix("__init__.py")), library.library()._name
END
# shellcheck disable=SC2016  # no command is meant
sed -n '/^```python$/,/^```$/p' "$repository/README.md" | sed -n '/mnist_knn/,/^```$/p' | sed '/^```/,$d' >example.py
check "README's example is there" grep -q mnist_knn example.py
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps was not found (Debian: dpkg-dev)"
(cd "$build" && cpack -G DEB -D 'CPACK_COMPONENTS_ALL=library;pictures;python' -B "$work/debian" >"$work/log" 2>&1) || cat log
for package in debian/libmnistknn0_*.deb debian/python3-mnist-knn_*.deb; do check "$package" dpkg-deb -x "$package" root; done
[[ -n ${MNIST_KNN_DATA:-} ]] || skip "README's example needs MNIST: MNIST_KNN_DATA is not set"
check "README's example by the wheel" contains "$(cat example.py)" "  # $(empty/bin/python example.py | sed -n 1p)"
export LD_LIBRARY_PATH PYTHONPATH=root/usr/lib/python3/dist-packages
LD_LIBRARY_PATH=$(dirname "$(find root -name libmnistknn.so.0)")
check "README's example by Debian's packages" contains "$(cat example.py)" "  # $("$python" example.py | sed -n 1p)"
((failures == 0))
