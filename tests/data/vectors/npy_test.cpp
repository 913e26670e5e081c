#include "data/vectors/write.h"

#include "tests/support/idx_bytes.h"
#include "tests/support/test.h"
#include "tests/support/vector_files.h"

using namespace knn;
using namespace knn::test;
using Doubles = std::vector<double>;

TEST_CASE_FIXTURE(VectorFolder, "npy: each type, version and order of bytes") {
    const std::string two = raw(std::vector<float>{1.5F, -2});
    const VectorSet set = read("a.npy", npy_of("<f4", "(1, 2)", two)),
                    images = read("e.npy.gz", gzip(npy_of("|u1", "(2, 2, 3)", pattern(12)))),
                    cubes = read("f", npy_of("<f4", "(1, 1, 2)", two));
    CHECK(set.type == ElementType::float32);
    CHECK(set.count == 1);
    CHECK(values_of(set) == Doubles{1.5, -2});
    for (const int version : {1, 2, 3})
        CHECK(values("b.npy", npy("{\"shape\":(2,1,),\"fortran_order\":False,\"descr\":\"<f4\"}  ", two,
                                  version)) == Doubles{1.5, -2});
    CHECK(values("c", npy_of(">f8", "(2L, 1L)", raw(Doubles{3, 1e-310}, true))) == Doubles{3, 1e-310});
    CHECK(values("d", npy_of("|i1", "(1, 2)", "\xff\x7f")) == Doubles{-1, 127});
    CHECK(images.shape == ImageShape{2, 3});
    CHECK(images.name == "e");
    CHECK(!cubes.are_images());
    CHECK(cubes.dim == 2);
}

TEST_CASE_FIXTURE(VectorFolder, "npy: Fortran order") {
    const auto file = [](const std::string& shape, const std::string& data) {
        return npy("{'descr': '<f4', 'fortran_order': True, 'shape': " + shape + ", }", data);
    };
    std::vector<float> columns = {1, 2, 3, 4, 5, 6};
    CHECK(values("x.npy", file("(2, 3)", raw(columns))) == Doubles{1, 3, 5, 2, 4, 6});
    columns[5] = std::nanf("");
    const std::string numbers = raw(columns);
    CHECK(values("x.npy", file("(2, 3)", numbers), {.first = 1}) == Doubles{1, 3, 5});
    check_wrong(
        {{"x.npy", file("(2, 3)", numbers), "row 2, column 3 is not a number (NaN); expected finite numbers"},
         {"x.npy", file("(2, 4)", numbers),
          "is cut short: it declares 2 rows of 4 columns = 32 bytes; expected as many, not 24"},
         {"x.npy.gz", gzip(file("(2, 4)", numbers)),
          "is cut short within its elements; expected 2 rows of 4 columns"}});
}

TEST_CASE_FIXTURE(VectorFolder, "npy: what is wrong is said in one line") {
    const auto check = [&](const std::string& content, const std::string& error) {
        check_wrong({{"x.npy", content, error}});
    };
    const std::string two_sizes = "; expected two sizes, rows and columns, or three of images";
    for (const auto& [type, shape, error] : std::initializer_list<std::array<std::string, 3>>{
             {"<i8", "(2, 3)", "holds int64; expected uint8, int8, float32 or float64"},
             {"|b1", "(2, 3)", "holds bool; expected uint8, int8, float32 or float64"},
             {">f2", "(2, 3)", "holds float16; expected uint8, int8, float32 or float64"},
             {"<U1", "(2, 3)", "holds <U1; expected uint8, int8, float32 or float64"},
             {"<f4", "(6,)", "has the shape (6,)" + two_sizes},
             {"<f4", "()", "has the shape ()" + two_sizes},
             {"<f4", "(9223372036854775807, 2)",
              "declares 9,223,372,036,854,775,807 rows of 2 columns; expected sizes within 63 bits"},
             {"<f4", "(2, 9223372036854775807)",
              "declares 2 rows of 9,223,372,036,854,775,807 columns; expected at most 65,536 columns"},
             {"<f4", "(2, 4294967296, 2147483648)",
              "has the shape (2, 4294967296, 2147483648); expected sizes within 63 bits"},
             {"|u1", "(2, 4294967296, 1)",
              "has the shape (2, 4294967296, 1); expected images of sizes within 31 bits"}})
        check(npy_of(type, shape, ""), error);
    for (const char* shape : {"(99999999999999999999, 2)", "(2, 9223372036854775808)"})
        CHECK(vectors_error(folder.write("x.npy", npy_of("<f4", shape, "")))
                  .starts_with("declares a size beyond 63 bits; expected"));
    check(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }", ""),
          "holds records of several fields; expected one number type");
    const std::string damaged =
        "has a damaged NPY header; expected a dictionary with descr, fortran_order and shape, as numpy.save "
        "writes it";
    check(npy_of("<f4", "(-1, 2)", ""), damaged);
    for (const char* header :
         {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} x",
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
          "{'descr': '<f4, 'fortran_order': Maybe, 'shape': (1, 2)}", "{'a': 1}",
          "{'descr': '<i\n8', 'fortran_order': False, 'shape': (1, 2)}"})
        check(npy(header, "12345678"), damaged);
    check(npy_of("<f4", "(1, 2)", "1234567"),
          "is cut short: it declares 1 row of 2 columns = 8 bytes; expected as many, not 7");
    CHECK(vectors_error(folder.write("x.npy", npy_of("<f4", "(1, 2)", "").substr(0, 30)))
              .starts_with("is cut short within its header"));
    const std::string versions = "; expected 1.0, 2.0 or 3.0", zeros(20, '\0');
    check("\x93NUMPY\x04" + zeros, "is NPY of version 4.0" + versions);
    check("\x93NUMPY\x01\x09" + zeros, "is NPY of version 1.9" + versions);
    check(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12),
          "declares a header of 4294967295 bytes; expected at most 1048576");
}

TEST_CASE_FIXTURE(InFolder, "npy: labels of any integer type") {
    const auto labels = [&](const std::string& content) {
        return load_labels(folder.write("x.npy", content));
    };
    using Numbers = std::vector<int>;
    CHECK(numbers_of(labels(npy_of("|u1", "(3,)", "\x07\xff\x07"))) == Numbers{7, 255, 7});
    CHECK(numbers_of(labels(npy_of("|b1", "(2,)", std::string("\x01\x00", 2)))) == Numbers{1, 0});
    CHECK(numbers_of(labels(npy_of("<i8", "(2, 1)", raw(std::vector<std::int64_t>{3, 255})))) ==
          Numbers{3, 255});
    CHECK(numbers_of(labels(npy_of(">i2", "(2,)", raw(std::vector<std::int16_t>{3, 255}, true)))) ==
          Numbers{3, 255});
    const Labels wide = labels(npy_of("<i4", "(4,)", raw(std::vector<std::int32_t>{1000, -5, 1000, 20})));
    CHECK(numbers_of(wide) == Numbers{2, 0, 2, 1});
    CHECK(wide.classes == std::vector<std::string>{"-5", "20", "1000"});
    std::vector<std::int32_t> many(257);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = static_cast<std::int32_t>(i);
    CHECK(labels_error(folder.write("y.npy", npy_of("<i4", "(257,)", raw(many)))) ==
          "has more than 256 different labels; expected at most 256 classes");
    CHECK(labels_error(folder.write("y.npy", npy_of("<f4", "(1,)", "abcd"))) ==
          "holds float32; expected labels: integers of any type");
    CHECK(labels_error(folder.write("y.npy", npy_of("<i4", "(1, 2)", "abcdabcd"))) ==
          "has the shape (1, 2); expected one size, a label for each row");
    CHECK(numbers_of(load_labels(folder / "x.npy", 2)) == Numbers{1, 0});
}

TEST_CASE("npy: the header that is written is that of NumPy") {
    std::ostringstream out;
    put_npy_header(out, std::vector<std::int64_t>{3, 4}, "f4");
    const std::string text = out.str();
    CHECK(text.size() % 64 == 0);
    CHECK(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }") == 10);
    out.str("");
    put_npy_header(out, std::vector<std::int64_t>{3}, "u1");
    CHECK(out.str().find("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }") == 10);
}

namespace {

/// Runs a script with NumPy, in a folder; false where no Python here has it.
bool run_numpy(const TempFolder& folder, const std::string& script) {
    const auto file = folder.write("script.py", script);
    for (const char* python : {"python3", "/usr/bin/python3"}) {
        if (run({python, "-c", "import numpy"}, {}).exit_code != 0) continue;
        const RunResult result = run({python, file.string()}, {.folder = folder.path().string()});
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE_FIXTURE(InFolder, "npy: files of NumPy are read, and ours by NumPy") {
    const bool has_numpy = run_numpy(folder, R"(
import numpy as np
random = np.random.default_rng(1)
rows = random.standard_normal((37, 5)) * 100
for kind in ("u1", "i1", "<f4", "<f8", ">f4", ">f8"):
    array = np.abs(rows).astype(kind) if kind == "u1" else rows.clip(-100, 100).astype(kind)
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(f"{kind[-2:]}{kind[0] == '>'}{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
    open(f"{kind[-2:]}{kind[0] == '>'}.raw", "wb").write(array.astype(kind.replace(">", "<")).tobytes())
    np.save(f"fortran-{kind[-2:]}{kind[0] == '>'}.npy", np.asfortranarray(array))
large = np.arange(1_500_000, dtype="<f4").reshape(500_000, 3)
np.save("fortran-large.npy", np.asfortranarray(large))
open("large.raw", "wb").write(large.tobytes())
images = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
np.save("fortran-images.npy", np.asfortranarray(images))
open("images.raw", "wb").write(images.tobytes())
np.save("images.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
np.save("sliced.npy", rows[::2, 1:3])
open("sliced.raw", "wb").write(np.ascontiguousarray(rows[::2, 1:3]).tobytes())
for kind in ("u1", "i2", "u4", "i8", ">i4", "?"):
    np.save(f"labels-{np.dtype(kind).name}{kind[0] == '>'}.npy", np.array([1, 0, 1, 1]).astype(kind))
np.savetxt("text.csv", rows, fmt="%.17g", delimiter=",", header="a,b,c,d,e", comments="")
open("text.raw", "wb").write(rows.tobytes())
)");
    if (!has_numpy) return skip("python3-numpy was not found");
    const auto bytes_of = [&](const std::string& name) {
        return text_of(load_vectors(folder / name).elements);
    };
    for (const std::string kind : {"u1False", "i1False", "f4False", "f8False", "f4True", "f8True"}) {
        const std::string file = "fortran-" + kind + ".npy", wanted = read_file(folder / (kind + ".raw"));
        CAPTURE(kind);
        for (const std::string version : {"1", "2", "3"})
            CHECK(bytes_of(kind + version + ".npy") == wanted);
        CHECK(bytes_of(file) == wanted);
        CHECK(text_of(load_vectors(folder.write("x.npy.gz", gzip(read_file(folder / file)))).elements) ==
              wanted);
        CHECK(text_of(load_vectors(folder / file, {.first = 7}).elements) ==
              wanted.substr(0, wanted.size() / 37 * 7));
    }
    CHECK(bytes_of("fortran-large.npy") == read_file(folder / "large.raw"));
    CHECK(bytes_of("fortran-images.npy") == read_file(folder / "images.raw"));
    CHECK(load_vectors(folder / "fortran-images.npy").shape == ImageShape{4, 5});
    CHECK(bytes_of("sliced.npy") == read_file(folder / "sliced.raw"));
    CHECK(bytes_of("text.csv") == read_file(folder / "text.raw"));
    CHECK(load_vectors(folder / "images.npy").shape == ImageShape{3, 4});
    for (const char* kind :
         {"uint8False", "int16False", "uint32False", "int64False", "int32True", "boolFalse"})
        CHECK(numbers_of(load_labels(folder / ("labels-" + std::string(kind) + ".npy"))) ==
              std::vector{1, 0, 1, 1});

    for (const std::string kind : {"u1", "i1", "f4", "f8"}) {
        const VectorSet set = load_vectors(folder / (kind + "False1.npy"));
        std::ofstream out(folder / ("ours-" + kind + ".npy"), std::ios::binary);
        write_npy(out, set.rows());
    }
    std::ofstream(folder / "ours-labels.npy", std::ios::binary) << [] {
        std::ostringstream out;
        const std::vector<std::uint8_t> labels = {3, 1, 255};
        write_npy(out, labels);
        return out.str();
    }();
    CHECK(run_numpy(folder, R"(
import numpy as np
for kind in ("u1", "i1", "f4", "f8"):
    ours, theirs = np.load(f"ours-{kind}.npy"), np.load(f"{kind}False1.npy")
    assert ours.dtype == theirs.dtype and ours.flags.c_contiguous and (ours == theirs).all()
assert np.load("ours-labels.npy").tolist() == [3, 1, 255]
)"));
}
