/// `graph` as a user runs it: the files against plain loops, and read back by NumPy and SciPy.

#include "tests/cli/program.h"
#include "tests/support/npy_bytes.h"

using namespace knn::test;

namespace {

/// Without a test set.
SmallSet points(int train = 40, int levels = 4) {
    return {.train = train, .test = 0, .levels = levels};
}

/// Numbers with what stands between them, as a line.
std::string row(std::initializer_list<std::int64_t> numbers, char between) {
    std::string line;
    for (const std::int64_t number : numbers)
        line += std::to_string(number) + between;
    line.back() = '\n';
    return line;
}

}  // namespace

TEST_CASE("graph: arrays, CSV and matrix of each form are those of plain loops, without a test set") {
    for (const int levels : {2, 4}) {  // 2: equal images
        const Work work(points(60, levels));
        const auto nearest = nearest_others(work.set.train_images);
        std::set<std::pair<std::int64_t, std::int64_t>> edges;
        std::string indices, distances;
        for (std::int64_t i = 0; i < 60; ++i)
            for (std::size_t rank = 0; rank < 7; ++rank) {
                const auto& [distance, j] = nearest[i][rank];
                edges.emplace(i, j);
                indices += raw(static_cast<std::int32_t>(j));
                distances += raw(distance);
            }
        for (const std::string form : {"directed", "mutual", "symmetric"}) {
            const bool directed = form == "directed";
            silent_output(work.run("graph -k 7 --csv g.csv --mtx g.mtx --json g.json --form " + form));
            std::string csv = "point,rank,neighbor,distance\n", entries;
            std::int64_t count = 0;
            for (std::int64_t i = 0; i < 60; ++i) {
                std::int64_t rank = 0;
                for (const auto& [distance, j] : nearest[i]) {
                    const bool there = edges.contains({i, j}), back = edges.contains({j, i});
                    if (directed ? !there : form == "mutual" ? !there || !back : !there && !back) continue;
                    csv += row({i, ++rank, j, distance}, ',');
                    if (!directed && j > i) continue;  // the lower triangle
                    entries += row({i + 1, j + 1, distance}, ' ');
                    ++count;
                }
            }
            CHECK(work.file("g.csv") == csv);
            const std::string mtx = work.file("g.mtx");
            CHECK(mtx.starts_with("%%MatrixMarket matrix coordinate integer " +
                                  std::string(directed ? "general\n%" : "symmetric\n%")));
            CHECK(mtx.substr(mtx.find('\n', mtx.find('\n') + 1) + 1) == row({60, 60, count}, ' ') + entries);
            const json graph = work.json_of("g.json")["graph"];
            CHECK(graph["edges"] == count);
            CHECK(graph["form"] == form);
        }
        work.output("graph -k 7 --npy g");
        CHECK(work.file("g-indices.npy") == npy_of("<i4", 60, 7, indices));
        CHECK(work.file("g-distances.npy") == npy_of("<i8", 60, 7, distances));
    }
}

TEST_CASE("graph: NumPy and SciPy read the files and count the same") {
    const std::string python = python_with_scipy();
    if (python.empty()) return skip("no Python with NumPy and SciPy: install python3-numpy python3-scipy");
    const Work work(points(80, 3));
    for (const Words words :
         {"--npy g --mtx g.mtx --json g.json", "--mtx m.mtx --form mutual --json m.json",
          "--npy cosine --mtx cosine.mtx --metric cosine", "--npy lp --mtx lp.mtx --metric lp --p 0.3"})
        work.output("graph -k 5" + words);
    write(work.folder / "check.py", R"(
import json, numpy, scipy.io, scipy.stats
from scipy.sparse.csgraph import connected_components
indices, distances = numpy.load("g-indices.npy"), numpy.load("g-distances.npy")
assert indices.dtype == numpy.int32 and distances.dtype == numpy.int64
assert indices.shape == distances.shape == (80, 5)
matrix = scipy.io.mmread("g.mtx")
assert matrix.shape == (80, 80) and matrix.nnz == 400 and (matrix.data == distances.ravel()).all()
graph = json.load(open("g.json"))["graph"]
assert abs(graph["in_degree"]["skewness"] - scipy.stats.skew(numpy.bincount(indices.ravel(), minlength=80))) < 1e-12
assert sum(d * n for d, n in graph["in_degree"]["histogram"]) == 400
edges = set(zip(matrix.row, matrix.col))
assert edges == set(zip(numpy.repeat(numpy.arange(80), 5), indices.ravel()))
assert graph["mutual_share"] == sum((j, i) in edges for i, j in edges) / 400
matrix.data[:] = 1  # distances of 0 are edges too
assert graph["components"]["count"] == connected_components(matrix.tocsr(), connection="weak")[0]
mutual = scipy.io.mmread("m.mtx")
assert mutual.nnz == graph["mutual_share"] * 400 == 2 * json.load(open("m.json"))["graph"]["edges"]
assert set(zip(mutual.row, mutual.col)) == {(i, j) for i, j in edges if (j, i) in edges}
for metric in "cosine", "lp":
    distances, reals = numpy.load(f"{metric}-distances.npy"), scipy.io.mmread(f"{metric}.mtx")
    assert distances.dtype == numpy.float64 and (numpy.diff(distances) >= 0).all()
    assert (reals.data == distances.ravel()).all()
)");
    output_of(run({"/bin/sh", "-c", "cd '" + work.folder.path().string() + "' && " + python + " check.py"}));
}

TEST_CASE("graph: images without labels, from an IDX file and from a folder of pictures") {
    const Work work(points(30));
    work.output("graph -k 3 --csv labeled.csv");
    const auto with = [&](const std::string& images) {
        return work.plain("graph -k 3 --device cpu --csv " + images + ".csv --json " + images +
                          ".json --images " + images);
    };
    const std::string images = "train-images-idx3-ubyte";
    CHECK(!contains(output_of(with(images)), "same class"));
    CHECK(work.file(images + ".csv") == work.file("labeled.csv"));
    CHECK(!work.json_of(images + ".json")["graph"].contains("same_class_share"));
    if (!has_opencv) return skip(no_opencv);

    const auto write_picture = [&](const std::string& name, const std::string& size, std::size_t image) {
        write(work.folder / ("pictures/" + name), "P5\n" + size + "\n255\n" + work.set.train_pixels(image));
    };
    for (std::size_t i = 0; i < 30; ++i)
        write_picture(std::to_string(100 + i) + ".pgm", "3 5", i);
    write_picture("more/a.pgm", "3 5", 0);
    write(work.folder / "pictures/b.gif", "GIF89a");
    const RunResult read = with("pictures");
    output_of(read);
    CHECK(contains(read.err, "pictures: 1 folder in it left out\n"));  // without an option that none has
    CHECK(contains(read.err, "pictures: 1 file of other formats (b.gif, a GIF file) left out"));
    CHECK(work.file("pictures.csv") == work.file("labeled.csv"));
    const json files = work.json_of("pictures.json")["data"]["files"];
    CHECK(files.size() == 30);
    CHECK(files[7] == "pictures/107.pgm");

    fs::remove_all(work.folder / "pictures/more");
    fs::remove(work.folder / "pictures/b.gif");
    write_picture("11x.pgm", "5 3", 0);
    check_error(with("pictures"), 1, "11x.pgm: has 5x3 pixels; expected 3x5");
    // Before the others are read.
    write(work.folder / "pictures/0.pgm", "P5\n300 300\n255\n" + std::string(90'000, 'a'));
    check_error(with("pictures"), 1, "0.pgm: has 300x300 = 90,000 pixels; expected at most 66,051 pixels");
    fs::create_directory(work.folder / "empty");
    check_error(with("empty"), 1);
    fs::create_directory(work.folder / "empty/in");
    check_error(with("empty"), 1, "holds no pictures but 1 folder; expected pictures in it");
}

TEST_CASE("graph, neighbors: more neighbors than fit into the free memory are refused at once") {
    const std::string free = read_file("/proc/meminfo"), name = "MemAvailable:";
    const std::int64_t kilobytes = std::stoll(free.substr(free.find(name) + name.size()));
    const auto n = static_cast<std::uint32_t>(kilobytes / 50);  // 16,384 distances take 64 kB
    const Folder folder;
    std::string rows(8 + std::size_t{n}, '\0');
    for (int i = 0; i < 4; ++i)
        rows[static_cast<std::size_t>(i)] = static_cast<char>(n >> 8 * i & 255);
    rows[4] = 1;
    write(folder / "rows.u8bin", rows);
    const auto graph = [&](const std::string& form) {
        return program("graph --train " + (folder / "rows.u8bin") + " --device cpu -k 16384 --csv " +
                       (folder / "g.csv") + " --form " + form);
    };
    check_error(graph("mutual"), 1, "memory: the mutual graph of ");
    check_error(graph("symmetric"), 1, "memory: the symmetric graph of ");
    check_error(program("neighbors --train " + (folder / "rows.u8bin") + " --device cpu -k 16384 --ibin " +
                        (folder / "g.ibin")),
                1, "memory: --ibin ");
    CHECK(folder.names() == std::vector<std::string>{"rows.u8bin"});
}

TEST_CASE("graph: the statistics for people, and the plot") {
    const Work work(points());
    check_contains(work.output("graph -k 3 --plot g.svg"),
                   {"40 images of 5 x 3", "k = 3, metric l2, form directed", "edges       120 directed",
                    "skewness", "hubs        #", "same class"});
    CHECK(contains(work.file("g.svg"), "In-degrees"));
    CHECK(work.output("graph -k 3 -q").empty());
    CHECK(lines_of(work.output("graph -k 3 --csv -")).size() == 121);
    CHECK(lines_of(work.output("graph --csv -")).size() == 401);  // 10 neighbors by default
}

TEST_CASE("graph: a method that re-ranks gives its transform and metric alone") {
    const Work work({.rows = 28, .cols = 28, .train = 60, .test = 0});
    const RunResult accurate = work.run("graph --method accurate -k 4 --csv -");
    CHECK(output_of(accurate) == silent_output(work.run("graph --method gradients -k 4 --csv -")));
    CHECK(contains(accurate.err, "without its re-ranking"));
    CHECK(work.run("graph --method accurate -q").err.empty());
    const json settings = work.report("graph --method accurate -q")["settings"];
    CHECK(settings["transform"] == "gradients");
    for (const char* of_votes : {"method", "rerank", "candidates", "vote", "weights", "tie"})
        CHECK(!settings.contains(of_votes));
}

TEST_CASE("graph: few images, equal images and one class") {
    const Work two({.classes = {9}, .train = 2});
    CHECK(two.output("graph -k 1 --csv -").starts_with("point,rank,neighbor,distance\n0,1,1,"));
    CHECK(two.output("graph --csv -") == two.output("graph -k 1 --csv -"));
    check_error(two.run("graph -k 10"), 2, "k = 10 is out of range; expected at most 1,");

    const Work equal(points(20));
    equal.make_all_images_equal();
    const auto rows = csv_rows(equal.output("graph -k 2 --csv -"));
    REQUIRE(rows.size() == 41);
    for (std::size_t i = 0; i < 20; ++i) {  // the two smallest other indices
        CHECK(rows[1 + 2 * i][2] == (i == 0 ? "1" : "0"));
        CHECK(rows[2 + 2 * i][2] == (i <= 1 ? "2" : "1"));
    }
}
