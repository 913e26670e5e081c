/// `graph` as a user runs it: the files against plain loops, and read back by NumPy and SciPy.

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <utility>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A file of NumPy's format 1.0.
template <class Number>
struct Npy {
    std::string header;
    std::vector<Number> numbers;

    explicit Npy(const std::string& file) {
        const std::string bytes = read_file(file);
        REQUIRE(bytes.starts_with(std::string("\x93NUMPY\x01\x00", 8)));
        const std::size_t length =
            static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
        CHECK((10 + length) % 64 == 0);
        header = bytes.substr(10, length);
        CHECK(header.ends_with('\n'));
        numbers.resize((bytes.size() - 10 - length) / sizeof(Number));
        CHECK(numbers.size() * sizeof(Number) == bytes.size() - 10 - length);
        std::memcpy(numbers.data(), bytes.data() + 10 + length, numbers.size() * sizeof(Number));
    }
};

/// A training set without a test set.
struct Points : Work {
    explicit Points(int train = 40, int levels = 4, int rows = 5, int cols = 3)
        : Work({.rows = rows, .cols = cols, .train = train, .levels = levels}) {
        remove_test_set();
    }
    RunResult graph(const Words& words) const { return run("graph" + words); }
    std::vector<Nearest> expected() const {
        return nearest_by_loops(set.train_images, set.train_images, true);
    }
};

/// A Python that has both libraries; empty: none. Debian's own comes after the first in PATH.
std::string python_with_scipy() {
    for (const std::string python : {"python3", "/usr/bin/python3"})
        if (run({"/bin/sh", "-c", python + " -c 'import numpy, scipy' 2>/dev/null"}).exit_code == 0)
            return python;
    return "";
}

}  // namespace

TEST_CASE("graph: the arrays, the CSV and the matrix are those of plain loops, without a test set") {
    for (const int levels : {2, 4}) {  // 2: equal images
        const Points work(60, levels);
        const RunResult result = work.graph("-k 7 --npy g --csv g.csv --mtx g.mtx");
        output_of(result);
        CHECK(result.err.empty());
        const Npy<std::int32_t> indices(work.folder / "g-indices.npy");
        const Npy<std::int64_t> distances(work.folder / "g-distances.npy");
        CHECK(indices.header.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (60, 7), }"));
        CHECK(distances.header.starts_with("{'descr': '<i8', 'fortran_order': False, 'shape': (60, 7), }"));
        REQUIRE(indices.numbers.size() == 420);
        REQUIRE(distances.numbers.size() == 420);
        const auto expected = work.expected();
        std::string csv = "point,rank,neighbor,distance\n", mtx;
        for (std::size_t i = 0, at = 0; i < 60; ++i)
            for (std::size_t rank = 0; rank < 7; ++rank, ++at) {
                const auto& [distance, index] = expected[i][rank];
                CHECK(indices.numbers[at] == static_cast<int>(index));
                CHECK(distances.numbers[at] == distance);
                csv += std::to_string(i) + ',' + std::to_string(rank + 1) + ',' + std::to_string(index) +
                       ',' + std::to_string(distance) + '\n';
                mtx += std::to_string(i + 1) + ' ' + std::to_string(index + 1) + ' ' +
                       std::to_string(distance) + '\n';
            }
        CHECK(work.file("g.csv") == csv);
        const auto lines = lines_of(work.file("g.mtx"));
        REQUIRE(lines.size() == 3 + 420);
        CHECK(lines[0] == "%%MatrixMarket matrix coordinate integer general");
        CHECK(lines[2] == "60 60 420");
        CHECK(work.file("g.mtx").ends_with('\n' + mtx));
    }
}

TEST_CASE("graph: mutual and symmetric forms") {
    const Points work(50, 3);
    const auto expected = work.expected();
    std::set<std::pair<std::size_t, std::size_t>> edges;
    for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t rank = 0; rank < 4; ++rank)
            edges.emplace(i, expected[i][rank].second);
    for (const std::string form : {"mutual", "symmetric"}) {
        std::set<std::pair<std::size_t, std::size_t>> wanted, found;
        for (const auto& [i, j] : edges)
            if (form == "symmetric" || edges.contains({j, i})) wanted.insert({{i, j}, {j, i}});
        output_of(work.graph("-k 4 --csv g.csv --mtx g.mtx --json g.json --form " + form));
        std::size_t point = 50, rank = 0;
        for (const auto& row : csv_rows(work.file("g.csv"))) {
            if (row[0] == "point") continue;
            const std::size_t before = std::exchange(point, std::stoul(row[0]));
            rank = before == point ? rank + 1 : 1;
            CHECK((before == 50 || before <= point));
            CHECK(std::stoul(row[1]) == rank);
            found.emplace(point, std::stoul(row[2]));
        }
        CHECK(found == wanted);
        const auto lines = lines_of(work.file("g.mtx"));
        CHECK(lines[0] == "%%MatrixMarket matrix coordinate integer symmetric");
        CHECK(lines[2] == "50 50 " + std::to_string(wanted.size() / 2));
        CHECK(lines.size() == 3 + wanted.size() / 2);
        const json graph = work.json("g.json")["graph"];
        CHECK(graph["edges"] == wanted.size() / 2);
        CHECK(graph["form"] == form);
    }
}

TEST_CASE("graph: NumPy and SciPy read the files and count the same") {
    const std::string python = python_with_scipy();
    if (python.empty()) return skip("no Python with NumPy and SciPy: install python3-numpy python3-scipy");
    const Points work(80, 3);
    for (const Words words : {"--npy g --mtx g.mtx --json g.json", "--mtx m.mtx --form mutual --json m.json",
                              "--npy c --mtx c.mtx --metric cosine"})
        output_of(work.graph("-k 5" + words));
    write(work.folder / "check.py", R"(
import json, numpy, scipy.io, scipy.stats
from scipy.sparse.csgraph import connected_components
indices, distances = numpy.load("g-indices.npy"), numpy.load("g-distances.npy")
assert indices.dtype == numpy.int32 and distances.dtype == numpy.int64
assert indices.shape == distances.shape == (80, 5)
matrix = scipy.io.mmread("g.mtx")
assert matrix.shape == (80, 80) and matrix.nnz == 400
rows = numpy.repeat(numpy.arange(80), 5)
assert (matrix.row == rows).all() and (matrix.col == indices.ravel()).all()
assert (matrix.data == distances.ravel()).all()
graph = json.load(open("g.json"))["graph"]
degree = numpy.bincount(indices.ravel(), minlength=80)
assert graph["in_degree"]["max"] == degree.max() and graph["in_degree"]["zero"] == (degree == 0).sum()
assert abs(graph["in_degree"]["skewness"] - scipy.stats.skew(degree)) < 1e-12
assert sum(n for _, n in graph["in_degree"]["histogram"]) == 80
assert sum(d * n for d, n in graph["in_degree"]["histogram"]) == 400
edges = set(zip(rows, indices.ravel()))
assert graph["mutual_share"] == sum((j, i) in edges for i, j in edges) / 400
matrix.data[:] = 1  # distances of 0 are edges too
assert graph["components"]["count"] == connected_components(matrix.tocsr(), connection="weak")[0]
mutual = scipy.io.mmread("m.mtx")
assert mutual.nnz == graph["mutual_share"] * 400 == 2 * json.load(open("m.json"))["graph"]["edges"]
assert set(zip(mutual.row, mutual.col)) == {(i, j) for i, j in edges if (j, i) in edges}
cosine, reals = numpy.load("c-distances.npy"), scipy.io.mmread("c.mtx")
assert cosine.dtype == numpy.float32 and (numpy.diff(cosine) >= 0).all()
assert (reals.data.astype(numpy.float32) == cosine.ravel()).all()
)");
    output_of(run({"/bin/sh", "-c", "cd '" + work.folder.path().string() + "' && " + python + " check.py"}));
}

TEST_CASE("graph: images without labels, from an IDX file and from a folder of pictures") {
    const Points work(30, 4);
    output_of(work.graph("-k 3 --csv labeled.csv"));
    const auto with = [&](const std::string& images) {
        return work.plain("graph -k 3 --device cpu --csv " + images + ".csv --json " + images +
                          ".json --images " + images);
    };
    const std::string images = "train-images-idx3-ubyte";
    CHECK(!contains(output_of(with(images)), "same class"));
    CHECK(work.file(images + ".csv") == work.file("labeled.csv"));
    CHECK(!work.json(images + ".json")["graph"].contains("same_class_share"));
    if (!has_opencv) return skip(no_opencv);

    fs::create_directory(work.folder / "pictures");
    const auto write_picture = [&](const std::string& name, const std::string& size, const Image& image) {
        write(work.folder / ("pictures/" + name),
              "P5\n" + size + "\n255\n" + std::string(image.begin(), image.end()));
    };
    for (std::size_t i = 0; i < 30; ++i)
        write_picture(std::to_string(100 + i) + ".pgm", "3 5", work.set.train_images[i]);
    output_of(with("pictures"));
    CHECK(work.file("pictures.csv") == work.file("labeled.csv"));
    const json files = work.json("pictures.json")["data"]["files"];
    CHECK(files.size() == 30);
    CHECK(files[7] == "pictures/107.pgm");

    write_picture("11x.pgm", "5 3", work.set.train_images[0]);
    check_error(with("pictures"), 1, "11x.pgm: has 5x3 pixels; expected 3x5");
    fs::create_directory(work.folder / "empty");
    check_error(with("empty"), 1);
}

TEST_CASE("graph: the statistics for people, and the plot") {
    const Points work;
    check_contains(output_of(work.graph("-k 3 --plot g.svg")),
                   {"40 images of 5 x 3", "k = 3, metric l2, form directed", "edges       120 directed",
                    "skewness", "hubs        #", "same class"});
    CHECK(contains(work.file("g.svg"), "In-degrees"));
    CHECK(output_of(work.graph("-k 3 -q")).empty());
    CHECK(json::accept(output_of(work.graph("--json -"))));
    CHECK(lines_of(output_of(work.graph("-k 3 --csv -"))).size() == 121);
    CHECK(lines_of(output_of(work.graph("--csv -"))).size() == 401);  // 10 neighbors by default
}

TEST_CASE("graph: a method that re-ranks gives its transform and metric alone") {
    const Points work(60, 4, 28, 28);
    const RunResult gradients = work.graph("--method gradients -k 4 --csv -");
    const RunResult accurate = work.graph("--method accurate -k 4 --csv -");
    CHECK(output_of(accurate) == output_of(gradients));
    CHECK(gradients.err.empty());
    CHECK(contains(accurate.err, "without its re-ranking"));
    CHECK(work.graph("--method accurate -q").err.empty());
}

TEST_CASE("graph: few images, equal images and one class") {
    const Work two({.classes = {9}, .train = 2});
    CHECK(two.output("graph -k 1 --csv -").starts_with("point,rank,neighbor,distance\n0,1,1,"));
    check_error(two.run("graph -k 2"), 2);
    check_error(two.run("graph"), 2, "-k 10: each of 2 images has fewer others; expected at most 1");
    check_error(two.run("graph -k 1 --limit-train 1"), 2, "at least 2");

    const Points equal(20);
    equal.make_all_images_equal();
    const auto rows = csv_rows(output_of(equal.graph("-k 2 --csv -")));
    REQUIRE(rows.size() == 41);
    for (std::size_t i = 0; i < 20; ++i) {  // the two smallest other indices
        CHECK(rows[1 + 2 * i][2] == (i == 0 ? "1" : "0"));
        CHECK(rows[2 + 2 * i][2] == (i <= 1 ? "2" : "1"));
    }
}
