/// `graph` as a user runs it: the files against plain loops, and read back by NumPy and SciPy.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/cli/evaluated.h"
#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Squared distances of all pairs: (distance, index), in order, without the point itself.
std::vector<std::vector<std::pair<long, long>>> nearest_others(const std::vector<std::vector<int>>& images) {
    std::vector<std::vector<std::pair<long, long>>> all(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
        for (std::size_t j = 0; j < images.size(); ++j) {
            if (i == j) continue;
            long sum = 0;
            for (std::size_t p = 0; p < images[i].size(); ++p)
                sum += long{images[i][p] - images[j][p]} * (images[i][p] - images[j][p]);
            all[i].emplace_back(sum, static_cast<long>(j));
        }
        std::sort(all[i].begin(), all[i].end());
    }
    return all;
}

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

/// A small training set without a test set, and the program in its folder.
struct Work {
    Folder folder;
    SmallSet set;
    RunOptions here;

    explicit Work(int train = 40, int levels = 4, int side = 0) {
        set.train = train;
        if (side > 0) set.rows = set.cols = side;
        set.levels = levels;
        set.write(folder.path);
        fs::remove(folder / "t10k-images-idx3-ubyte");
        fs::remove(folder / "t10k-labels-idx1-ubyte");
        here.folder = folder.path.string();
    }
    RunResult graph(const std::vector<std::string>& extra, RunOptions options = {}) const {
        std::vector<std::string> words = {"graph", "--data", ".", "--device", "cpu"};
        words.insert(words.end(), extra.begin(), extra.end());
        options.folder = here.folder;
        return program(words, options);
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
        const Work work(60, levels);
        const RunResult result = work.graph({"-k", "7", "--npy", "g", "--csv", "g.csv", "--mtx", "g.mtx"});
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        CHECK(result.err.empty());
        const Npy<std::int32_t> indices(work.folder / "g-indices.npy");
        const Npy<std::int64_t> distances(work.folder / "g-distances.npy");
        CHECK(indices.header.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (60, 7), }"));
        CHECK(distances.header.starts_with("{'descr': '<i8', 'fortran_order': False, 'shape': (60, 7), }"));
        const auto rows = csv_rows(read_file(work.folder / "g.csv"));
        const auto lines = lines_of(read_file(work.folder / "g.mtx"));
        REQUIRE(rows.size() == 1 + 420);
        CHECK(rows[0] == std::vector<std::string>{"point", "rank", "neighbor", "distance"});
        REQUIRE(lines.size() == 3 + 420);
        CHECK(lines[0] == "%%MatrixMarket matrix coordinate integer general");
        CHECK(lines[2] == "60 60 420");
        REQUIRE(indices.numbers.size() == 420);
        REQUIRE(distances.numbers.size() == 420);
        const auto expected = nearest_others(work.set.train_images);
        for (std::size_t i = 0, at = 0; i < 60; ++i)
            for (std::size_t rank = 0; rank < 7; ++rank, ++at) {
                const auto& [distance, index] = expected[i][rank];
                CHECK(indices.numbers[at] == index);
                CHECK(distances.numbers[at] == distance);
                const std::string d = std::to_string(distance);
                CHECK(rows[1 + at] == std::vector<std::string>{std::to_string(i), std::to_string(rank + 1),
                                                               std::to_string(index), d});
                CHECK(lines[3 + at] == std::to_string(i + 1) + ' ' + std::to_string(index + 1) + ' ' + d);
            }
    }
}

TEST_CASE("graph: mutual and symmetric forms") {
    const Work work(50, 3);
    const auto expected = nearest_others(work.set.train_images);
    std::set<std::pair<long, long>> edges;
    for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t rank = 0; rank < 4; ++rank)
            edges.emplace(i, expected[i][rank].second);
    for (const std::string form : {"mutual", "symmetric"}) {
        std::set<std::pair<long, long>> wanted;
        for (const auto& [i, j] : edges)
            if (form == "symmetric" || edges.contains({j, i})) wanted.insert({{i, j}, {j, i}});
        const RunResult result =
            work.graph({"-k", "4", "--form", form, "--csv", "g.csv", "--mtx", "g.mtx", "--json", "g.json"});
        REQUIRE(result.exit_code == 0);
        std::set<std::pair<long, long>> found;
        long point = -1, rank = 0;
        for (const auto& row : csv_rows(read_file(work.folder / "g.csv"))) {
            if (row[0] == "point") continue;
            rank = std::stol(row[0]) == point ? rank + 1 : 1;
            CHECK(std::stol(row[0]) >= point);
            point = std::stol(row[0]);
            CHECK(std::stol(row[1]) == rank);
            found.emplace(point, std::stol(row[2]));
        }
        CHECK(found == wanted);
        const auto lines = lines_of(read_file(work.folder / "g.mtx"));
        CHECK(lines[0] == "%%MatrixMarket matrix coordinate integer symmetric");
        CHECK(lines[2] == "50 50 " + std::to_string(wanted.size() / 2));
        CHECK(lines.size() == 3 + wanted.size() / 2);
        const json report = json::parse(read_file(work.folder / "g.json"));
        CHECK(report["graph"]["edges"] == wanted.size() / 2);
        CHECK(report["graph"]["form"] == form);
    }
    CHECK(is_usage_error(work.graph({"--form", "mutual", "--npy", "g"}).err));
    CHECK(is_usage_error(work.graph({"--npy", "-"}).err));
}

TEST_CASE("graph: NumPy and SciPy read the files and count the same") {
    const std::string python = python_with_scipy();
    if (python.empty()) return skip("no Python with NumPy and SciPy: install python3-numpy python3-scipy");
    const Work work(80, 3);
    REQUIRE(work.graph({"-k", "5", "--npy", "g", "--mtx", "g.mtx", "--json", "g.json"}).exit_code == 0);
    REQUIRE(work.graph({"-k", "5", "--mtx", "m.mtx", "--form", "mutual", "--json", "m.json"}).exit_code == 0);
    REQUIRE(work.graph({"-k", "5", "--npy", "c", "--mtx", "c.mtx", "--metric", "cosine"}).exit_code == 0);
    std::ofstream(work.folder / "check.py") << R"(
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
)";
    const RunResult checked =
        run({"/bin/sh", "-c", "cd '" + (work.folder / "") + "' && " + python + " check.py"});
    CAPTURE(checked.err);
    CHECK(checked.exit_code == 0);
}

TEST_CASE("graph: images without labels, from an IDX file and from a folder of pictures") {
    const Work work(30, 4);
    REQUIRE(work.graph({"-k", "3", "--csv", "labeled.csv"}).exit_code == 0);
    const auto with = [&](const std::string& images, const std::vector<std::string>& extra) {
        std::vector<std::string> words = {"graph", "--images", images, "-k", "3", "--device", "cpu"};
        words.insert(words.end(), extra.begin(), extra.end());
        return program(words, work.here);
    };
    const RunResult file = with("train-images-idx3-ubyte", {"--csv", "file.csv", "--json", "file.json"});
    CAPTURE(file.err);
    REQUIRE(file.exit_code == 0);
    CHECK(file.out.find("same class") == std::string::npos);
    CHECK(read_file(work.folder / "file.csv") == read_file(work.folder / "labeled.csv"));
    CHECK(!json::parse(read_file(work.folder / "file.json"))["graph"].contains("same_class_share"));
    CHECK(is_usage_error(with("train-images-idx3-ubyte", {"--data", "."}).err));
    if (!has_opencv) return skip(no_opencv);

    fs::create_directory(work.folder / "pictures");
    const auto write_picture = [&](const std::string& name, const std::string& size,
                                   const std::vector<int>& pixels) {
        std::ofstream file_(work.folder / ("pictures/" + name), std::ios::binary);
        file_ << "P5\n" << size << "\n255\n";
        for (const int pixel : pixels)
            file_.put(static_cast<char>(pixel));
    };
    for (std::size_t i = 0; i < 30; ++i)
        write_picture(std::to_string(100 + i) + ".pgm", "3 5", work.set.train_images[i]);
    const RunResult folder = with("pictures", {"--csv", "folder.csv", "--json", "folder.json"});
    CAPTURE(folder.err);
    REQUIRE(folder.exit_code == 0);
    CHECK(read_file(work.folder / "folder.csv") == read_file(work.folder / "labeled.csv"));
    const json files = json::parse(read_file(work.folder / "folder.json"))["data"]["files"];
    CHECK(files.size() == 30);
    CHECK(files[7] == "pictures/107.pgm");

    write_picture("11x.pgm", "5 3", work.set.train_images[0]);
    const RunResult odd = with("pictures", {});
    CHECK(odd.exit_code == 1);
    CHECK(is_one_error_line(odd.err));
    CHECK(odd.err.find("11x.pgm: has 5x3 pixels; expected 3x5") != std::string::npos);
    fs::create_directory(work.folder / "empty");
    CHECK(is_one_error_line(with("empty", {}).err));
}

TEST_CASE("graph: the statistics for people, and the plot") {
    const Work work;
    const RunResult result = work.graph({"-k", "3", "--plot", "g.svg"});
    REQUIRE(result.exit_code == 0);
    for (const char* part : {"40 images of 5 x 3", "k = 3, metric l2, form directed",
                             "edges       120 directed", "skewness", "hubs        #", "same class"})
        CHECK(result.out.find(part) != std::string::npos);
    CHECK(read_file(work.folder / "g.svg").find("In-degrees") != std::string::npos);
    CHECK(work.graph({"-k", "3", "-q"}).out.empty());
    CHECK(json::accept(work.graph({"--json", "-"}).out));
    CHECK(lines_of(work.graph({"-k", "3", "--csv", "-"}).out).size() == 121);
}

TEST_CASE("graph: the same bytes for any number of threads, 10 neighbors by default") {
    const Work work(300, 2);
    REQUIRE(work.graph({"--csv", "1.csv", "--threads", "1"}).exit_code == 0);
    REQUIRE(work.graph({"--csv", "3.csv", "--threads", "3", "--batch", "17"}).exit_code == 0);
    CHECK(read_file(work.folder / "1.csv") == read_file(work.folder / "3.csv"));
    CHECK(lines_of(read_file(work.folder / "1.csv")).size() == 3001);
}

TEST_CASE("graph: a method that re-ranks gives its transform and metric alone") {
    const Work work(60, 4, 28);
    const RunResult gradients = work.graph({"--method", "gradients", "-k", "4", "--csv", "-"});
    const RunResult accurate = work.graph({"--method", "accurate", "-k", "4", "--csv", "-"});
    REQUIRE(gradients.exit_code == 0);
    CHECK(gradients.err.empty());
    CHECK(accurate.out == gradients.out);
    CHECK(contains(accurate.err, "without its re-ranking"));
    CHECK(work.graph({"--method", "accurate", "-q"}).err.empty());
}

TEST_CASE("graph: few images, equal images and one class") {
    SmallSet two;
    two.train = 2;
    two.classes = {9};
    const Folder folder;
    two.write(folder.path);
    const std::vector<std::string> words = {"graph", "--data", folder / "", "--device", "cpu"};
    const auto with = [&](std::vector<std::string> extra) {
        extra.insert(extra.begin(), words.begin(), words.end());
        return program(extra);
    };
    CHECK(with({"-k", "1", "--csv", "-"}).out.starts_with("point,rank,neighbor,distance\n0,1,1,"));
    CHECK(is_usage_error(with({"-k", "2"}).err));
    CHECK(with({}).err.find("-k 10: each of 2 images has fewer others; expected at most 1") !=
          std::string::npos);
    CHECK(with({"-k", "1", "--limit-train", "1"}).err.find("at least 2") != std::string::npos);

    const Work equal(20, 4);
    std::ofstream same(equal.folder / "train-images-idx3-ubyte", std::ios::binary | std::ios::in);
    same.seekp(16);
    same << std::string(20 * 15, '\x05');
    same.close();
    const auto rows = csv_rows(equal.graph({"-k", "2", "--csv", "-"}).out);
    REQUIRE(rows.size() == 41);
    for (std::size_t i = 0; i < 20; ++i) {  // the two smallest other indices
        CHECK(rows[1 + 2 * i][2] == (i == 0 ? "1" : "0"));
        CHECK(rows[2 + 2 * i][2] == (i <= 1 ? "2" : "1"));
    }
}

TEST_CASE("graph: a reader of standard output that goes away costs no other file") {
    const Work work;
    RunOptions gone;
    gone.broken_stdout = true;
    CHECK(work.graph({"--npy", "g", "--csv", "-"}, gone).exit_code == 0);
    CHECK(Npy<std::int32_t>(work.folder / "g-indices.npy").numbers.size() == 400);
}
