/// `neighbors` as a user runs it: the files against plain loops, and read back by NumPy and SciPy.

#include "tests/cli/program.h"
#include "tests/support/npy_bytes.h"

using namespace knn::test;

namespace {

/// All (distance, index) of a query in order.
using Ordered = std::vector<std::pair<double, int>>;

/// Rows of float64 in a file, and their exact squared distances: whole numbers, so that any order of summation gives them.
struct Vectors {
    std::size_t n, dim;
    std::vector<double> numbers = {};

    Vectors(std::size_t n_, std::size_t dim_, int seed, int levels = 7) : n(n_), dim(dim_) {
        for (std::size_t i = 0; i < n * dim; ++i)
            numbers.push_back(static_cast<double>((i * 7919 + static_cast<std::size_t>(seed)) * 104729 %
                                                  1'000'003 % static_cast<std::size_t>(levels)) -
                              2.0);
    }
    std::string file() const { return npy_of("<f8", n, dim, raw(numbers)); }
    const double* row(std::size_t i) const { return numbers.data() + i * dim; }
    Ordered from(const double* query) const {
        Ordered all;
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < dim; ++j) {
                const double d = numbers[i * dim + j] - query[j];
                sum += d * d;
            }
            all.emplace_back(sum, static_cast<int>(i));
        }
        std::sort(all.begin(), all.end());
        return all;
    }
};

/// A line of the CSV; all distances are whole.
std::string csv_line(std::size_t query, std::size_t rank, const std::pair<double, int>& found) {
    return std::to_string(query) + ',' + std::to_string(rank + 1) + ',' + std::to_string(found.second) + ',' +
           std::to_string(static_cast<std::int64_t>(found.first)) + '\n';
}

}  // namespace

TEST_CASE_FIXTURE(Work, "neighbors: the arrays, the CSV and the ground truth are those of plain loops") {
    const Vectors train(90, 4, 1), queries(23, 4, 5);
    write(folder / "t.npy", train.file());
    write(folder / "q.npy", queries.file());
    std::string csv = "query,rank,index,distance\n", indices, floats, distances;
    for (std::size_t q = 0; q < queries.n; ++q) {
        const Ordered row = train.from(queries.row(q));
        for (std::size_t rank = 0; rank < 8; ++rank) {
            csv += csv_line(q, rank, row[rank]);
            indices += raw(row[rank].second);
            floats += raw(static_cast<float>(row[rank].first));
            distances += raw(row[rank].first);
        }
    }
    silent_output(
        plain("neighbors --train t.npy --queries q.npy -k 8 --npy o --csv o.csv --ibin o.ibin --json "
              "o.json --device cpu"));
    CHECK(file("o.csv") == csv);
    CHECK(file("o.ibin") == raw(std::vector{23, 8}) + indices + floats);
    CHECK(file("o-indices.npy") == npy_of("<i4", 23, 8, indices));
    CHECK(file("o-distances.npy") == npy_of("<f8", 23, 8, distances));
    CHECK(json_of("o.json")["train"]["type"] == "float64");
    CHECK(json_of("o.json")["result"]["pairs"] == 23 * 8);
}

TEST_CASE_FIXTURE(Work, "neighbors: without queries each row finds itself, unless it is left out") {
    const Vectors train(60, 3, 2, 3);  // equal rows
    write(folder / "t.npy", train.file());
    for (const bool excluded : {false, true}) {
        std::string csv = "query,rank,index,distance\n";
        for (std::size_t q = 0; q < train.n; ++q) {
            Ordered row = train.from(train.row(q));
            if (excluded) std::erase_if(row, [&](auto& one) { return one.second == static_cast<int>(q); });
            for (std::size_t rank = 0; rank < 5; ++rank)
                csv += csv_line(q, rank, row[rank]);
        }
        CHECK(silent_output(plain(Words("neighbors --train t.npy -k 5 --csv - --device cpu") +
                                  (excluded ? Words("--exclude-self") : Words()))) == csv);
    }
}

TEST_CASE_FIXTURE(
    Work, "neighbors: all within a range, those at it too, from none to more than any k, by each metric") {
    const Vectors train(34'000, 2, 3);
    Vectors queries(5, 2, 9);
    queries.numbers[0] = 100;  // far from all
    write(folder / "t.npy", train.file());
    write(folder / "q.npy", queries.file());
    struct Case {
        Words metric;
        long double p;
        bool has_root = true;
    };
    for (const Case& one : {Case{"--metric l2", 2, false},
                            {"--metric l1", 1},
                            {"--metric lp --p 2.5", 2.5},
                            {"--metric lp --p 3", 3}})
        for (const int range : {0, 2, 5, 4'000}) {
            const long double most =
                one.has_root ? std::pow(static_cast<long double>(range), one.p) * (1 + 1e-12L) : range;
            std::vector<std::vector<std::string>> wanted;  // all of a row but its distance
            std::vector<double> distances;
            for (std::size_t q = 0; q < queries.n; ++q) {
                std::vector<std::pair<long double, int>> row;
                for (std::size_t i = 0; i < train.n; ++i) {
                    long double sum = 0;
                    for (std::size_t j = 0; j < 2; ++j)
                        sum += std::pow(
                            std::abs(static_cast<long double>(train.row(i)[j]) - queries.row(q)[j]), one.p);
                    if (sum <= most) row.emplace_back(sum, static_cast<int>(i));
                }
                std::sort(row.begin(), row.end());
                for (std::size_t rank = 0; rank < row.size(); ++rank) {
                    const auto& [sum, index] = row[rank];
                    wanted.push_back({std::to_string(q), std::to_string(rank + 1), std::to_string(index)});
                    distances.push_back(static_cast<double>(one.has_root ? std::pow(sum, 1 / one.p) : sum));
                }
            }
            CAPTURE(one.metric.line());
            CAPTURE(range);
            auto rows = csv_rows(
                silent_output(plain("neighbors --train t.npy --queries q.npy --csv - --device cpu --range" +
                                    Words{std::to_string(range)} + one.metric)));
            REQUIRE(rows.size() == wanted.size() + 1);
            bool same = true;
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const double distance = std::stod(rows[i + 1][3]);
                rows[i + 1].pop_back();
                same = same && rows[i + 1] == wanted[i] && distance <= range * (1 + 4e-16) &&
                       std::abs(distance - distances[i]) <= 4e-16 * distances[i] * one.has_root;
            }
            CHECK(same);
        }
}

TEST_CASE_FIXTURE(Work, "neighbors: of a range that most rows are in, each query has its own, part by part") {
    constexpr std::size_t n = 4'000, apart = 8;
    std::string rows(n, 'a');
    for (std::size_t i = 0; i < apart; ++i)
        rows[i * n / apart] = 'b';
    write(folder / "t.npy", npy_of("|u1", n, 1, rows));
    const auto report = nlohmann::json::parse(
        silent_output(plain("neighbors --train t.npy --range 0 --json - --device cpu")));
    const auto same = n - apart;
    CHECK(report["result"] == nlohmann::json{{"queries", n},
                                             {"pairs", same * same + apart * apart},
                                             {"fewest", apart},
                                             {"most", same},
                                             {"without", 0}});
}

TEST_CASE_FIXTURE(Work, "neighbors: a range has the bytes at it, however the root is rounded") {
    write(folder / "t.csv", "5,0\n0,5\n3,4\n6,0\n");
    write(folder / "q.csv", "0,0\n");
    for (const char* p : {"1.5", "2", "2.5", "3", "7.3", "15"}) {
        CAPTURE(p);
        const auto rows = csv_rows(silent_output(plain(
            Words("neighbors --train t.csv --queries q.csv --csv - --device cpu --range 5 --metric lp --p") +
            Words(p))));
        CHECK(rows.size() == (std::string(p) == "1.5" ? 3 : 4));
    }
}

TEST_CASE_FIXTURE(Work, "neighbors: a range has the rows that are shown at it, of 24 bits or more") {
    write(folder / "t.csv", "4,1,4\n1,5,2\n3,3,1\n0,2,5\n");
    write(folder / "q.csv", "5,1,5\n2,4,4\n");
    for (const char* metric : {"cosine", "pearson", "lp --p 2", "lp --p 0.3", "l1", "l2"}) {
        CAPTURE(metric);
        const Words words =
            "neighbors --train t.csv --queries q.csv --csv - --device cpu --metric" + Words(metric);
        const auto all = csv_rows(silent_output(plain(words + Words("-k 4"))));
        REQUIRE(all.size() == 9);
        for (std::size_t i = 1; i < all.size(); ++i) {
            const auto within = csv_rows(silent_output(plain(words + Words("--range " + all[i][3]))));
            CHECK(std::ranges::count(within, all[i]) == 1);
        }
    }
}

TEST_CASE_FIXTURE(Work, "neighbors: distances of bytes are the numbers that graph and evaluate write") {
    write(folder / "t.csv", "0,1\n2,3\n3,1\n255,7\n");
    for (const char* metric :
         {"lp --p 0.5", "lp --p 1", "lp --p 3", "lp --p 15", "cosine", "pearson", "l1"}) {
        CAPTURE(metric);
        const Words words = "--train t.csv -k 3 --csv - --device cpu --metric" + Words(metric);
        const auto graph = csv_rows(silent_output(plain("graph" + words)));
        const auto found = csv_rows(silent_output(plain("neighbors --exclude-self" + words)));
        REQUIRE(found.size() == graph.size());
        for (std::size_t i = 1; i < found.size(); ++i)
            CHECK(found[i] == graph[i]);
    }
    write(folder / "u.csv", "0\n2\n3\n");
    for (const char* words : {"-k 2", "--range 2"})
        CHECK(contains(silent_output(plain("neighbors --train u.csv --csv - --device cpu --metric lp --p 1" +
                                           Words(words))),
                       "\n0,2,1,2\n"));
}

TEST_CASE_FIXTURE(
    Work, "neighbors: queries need not have the column of labels that is named for the training set") {
    write(folder / "t.csv", "sepal,petal,species\n5.1,1.4,setosa\n7.0,4.7,versicolor\n");
    write(folder / "n.csv", "5.1,1.4,setosa\n7.0,4.7,versicolor\n");
    write(folder / "q.csv", "sepal,petal\n5,1.5\n");
    for (const char* words : {"--train t.csv --label-column species", "--train t.csv --label-column 3",
                              "--train n.csv --label-column 3"})
        for (const char* queries : {"q.csv", "t.csv"})
            CHECK(contains(silent_output(plain("neighbors -k 1 --csv - --device cpu --queries" +
                                               Words(queries) + Words(words))),
                           "\n0,1,0,"));
    write(folder / "q.csv", "sepal\n5\n");
    check_error(plain("neighbors -k 1 --device cpu --train t.csv --label-column species --queries q.csv"), 1,
                "q.csv: has no column \"species\"");
}

TEST_CASE_FIXTURE(
    Work,
    "neighbors: rows whose roots are equal are in the order of their sums, however many are within the "
    "range") {
    Vectors train(34'000, 2, 3);
    for (std::size_t i = 0; i < train.n; ++i)
        train.numbers[2 * i] += 10;
    constexpr int n_near = 40;  // sums 1 + 39 units of the last place, 1 + 38 ...
    for (int i = 0; i < n_near; ++i) {
        train.numbers[static_cast<std::size_t>(2 * i)] = 1;
        train.numbers[static_cast<std::size_t>(2 * i + 1)] = std::cbrt((n_near - 1 - i) * 0x1p-52);
    }
    write(folder / "t.npy", train.file());
    write(folder / "q.csv", "0,0\n");
    for (const char* range : {"2", "1000"}) {
        const auto rows = csv_rows(silent_output(plain(
            Words("neighbors --train t.npy --queries q.csv --csv - --device cpu --metric lp --p 3 --range") +
            Words(range))));
        REQUIRE(rows.size() > n_near);
        for (int i = 0; i < n_near; ++i)
            CHECK(rows[static_cast<std::size_t>(i + 1)][2] == std::to_string(n_near - 1 - i));
        CHECK(rows[1][3] == rows[2][3]);
    }
}

TEST_CASE_FIXTURE(Work, "neighbors: bytes have integers, by any metric the distances of evaluate") {
    silent_output(run("evaluate -q -k 4 --metric cosine --neighbors-csv e.csv"));
    silent_output(
        plain("neighbors -q --train train-images-idx3-ubyte --queries t10k-images-idx3-ubyte -k 4 "
              "--metric cosine --csv n.csv --device cpu"));
    auto with_labels = csv_rows(file("e.csv"));
    for (auto& row : with_labels)
        row.erase(row.begin() + 3, row.end());
    auto found = csv_rows(file("n.csv"));
    for (auto& row : found)
        row.erase(row.begin() + 3, row.end());
    CHECK(found == with_labels);
    silent_output(plain("neighbors --train train-images-idx3-ubyte -k 4 --npy b --device cpu"));
    CHECK(contains(file("b-distances.npy"), "'<i8'"));
}

TEST_CASE_FIXTURE(Work, "neighbors: vectors of different types, and what is wrong with them") {
    write(folder / "a.csv", "x,y,label\n1,2,red\n3,4,blue\n5,7,red\n");
    write(folder / "b.csv", "x,y\n0.5,2\n");
    CHECK(silent_output(plain("neighbors --train a.csv --queries b.csv -k 2 --csv - --device cpu")) ==
          "query,rank,index,distance\n0,1,0,0.25\n0,2,1,10.25\n");
    check_contains(output_of(plain("neighbors --train a.csv --queries b.csv -k 2 --device cpu")),
                   {"3 rows of 2 columns", "0      0 (0.25)  1 (10.25)"});
    for (const auto& [words, all] :
         {std::pair("--train a.csv", 3), std::pair("--train a.csv --exclude-self", 2)}) {
        const Words usual = Words("neighbors --csv - --device cpu") + Words(words);
        CHECK(output_of(plain(usual)) == output_of(plain(usual + Words({"-k", std::to_string(all)}))));
    }
    write(folder / "c.csv", "x,y,z\n1,2,3\n");
    check_error(plain("neighbors --train a.csv --queries c.csv -k 1"), 1,
                "c.csv: has 3 columns, but a.csv has 2; expected as many");
    write(folder / "d.csv", "x,y\n0.5,2\n3,-1e300\n");
    const std::string large =
        "d.csv: row 2, column 2 is -1e+300, so that a sum of 2 squares could be infinite; expected a "
        "magnitude of at most "
        "1.15e+150";
    check_error(plain("neighbors --train a.csv --queries d.csv -k 1"), 1, large);
    check_error(plain("neighbors --train d.csv -k 1"), 1, large);
    check_error(plain("neighbors --train d.csv -k 1 --transform zscore"), 1, large);
    check_error(plain("graph --train d.csv -k 1"), 1, large);
    output_of(plain("neighbors --train d.csv -k 1 --transform minmax --device cpu"));
    output_of(plain("neighbors --train d.csv -k 1 --metric l1 --device cpu"));
    for (const auto& [words, message] : std::initializer_list<std::pair<const char*, const char*>>{
             {"", "--train: is missing; expected --train FILE"},
             {"--train a.csv -k 4", "k = 4 is out of range; expected at most 3"},
             {"--train a.csv -k 16385", "expected a whole number from 1 to 16384"},
             {"--train a.csv -k 3 --exclude-self", "expected at most 2"},
             {"--train a.csv --queries b.csv --exclude-self",
              "--exclude-self and --queries: the queries are not"},
             {"--train a.csv --npz n", "--npz: has no effect without --range"},
             {"--train a.csv --range 3 -k 2", "-k and --range: both say"},
             {"--train a.csv --range 3 --ibin g", "--ibin and --range: a range has any number"},
             {"--train a.csv --range -1", "--range -1: out of range"},
             {"--train a.csv -k 1 --transform zscore,pca:1", "expected zscore last"}})
        check_error(plain(Words("neighbors") + Words(words)), 2, message);
    check_error(plain("neighbors --train a.csv -k 1 --csv a.csv"), 1, "a.csv");
}

TEST_CASE_FIXTURE(Work, "neighbors: scaled attributes count alike") {
    write(folder / "a.csv", "x,y\n0,0\n1,1000\n2,100\n");
    CHECK(silent_output(
              plain("neighbors --train a.csv -k 2 --exclude-self --transform minmax --csv - --device cpu")) ==
          "query,rank,index,distance\n0,1,2,1.01\n0,2,1,1.25\n1,1,2,1.06\n1,2,0,1.25\n2,1,0,1.01\n2,2,1,1."
          "06\n");
    check_contains(output_of(plain("neighbors --train a.csv -k 1 --transform zscore --device cpu")),
                   {"transform zscore, k = 1"});
    // Fitting and transforming, of queries too, are parts of the search, as with evaluate.
    std::string bytes;
    for (int i = 0; i < 40 * 300; ++i)
        bytes += static_cast<char>(i * 7919 % 251);
    write(folder / "b.npy", npy_of("|u1", 40, 300, bytes));
    output_of(
        plain("neighbors -q --train b.npy --queries b.npy -k 1 --transform pca:2 --device cpu --json j"));
    const json timing = json_of("j")["timing"];
    double before = 0;
    for (const json& stage : timing["stages"])
        if (stage["name"] == "fit" || stage["name"] == "transform") before += stage["total_ms"].get<double>();
    CHECK(timing["stages"][1]["launches"] == 2);
    CHECK(timing["search_ms"] > before);
    // A query far outside the scale: the place is that of the file.
    write(folder / "t.csv", "x,y\n1e-300,2\n2e-300,3\n0,1\n");
    write(folder / "t-labels.csv", "1\n2\n3\n");
    write(folder / "q-labels.csv", "1\n2\n");
    for (const auto& [number, is] : {std::pair{"1e10", "not finite"}, {"1e-100", "5e+199, so that"}}) {
        write(folder / "q.csv", std::string("x,y\n0,1\n") + number + ",1\n");
        const std::string place = std::string(": row 2, column 1 is ") + is;
        check_error(plain("neighbors --train t.csv --queries q.csv -k 1 --transform minmax --device cpu"), 1,
                    "q.csv by --transform minmax" + place);
        check_error(plain("evaluate --train t.csv --test q.csv -k 1 --transform minmax --device cpu"), 1,
                    "queries by --transform minmax, counted from 1" + place);
    }
}

TEST_CASE("neighbors: NumPy and SciPy read the files") {
    const std::string python = python_with_scipy();
    if (python.empty()) return skip("no Python with NumPy and SciPy");
    const Work work;
    const Vectors train(400, 3, 1), queries(20, 3, 5);
    write(work.folder / "t.npy", train.file());
    write(work.folder / "q.npy", queries.file());
    silent_output(work.plain("neighbors --train t.npy --queries q.npy --range 6 --npz o.npz --device cpu"));
    write(work.folder / "far.csv", "1000,1000,1000.5\n");
    silent_output(
        work.plain("neighbors --train t.npy --queries far.csv --range 6 --npz none.npz --device cpu"));
    silent_output(
        work.plain("neighbors --train t.npy --queries q.npy -k 400 --npy o --ibin o.ibin --device cpu"));
    const std::string script =
        "import numpy, scipy.sparse\n"
        "t, q = numpy.load('t.npy'), numpy.load('q.npy')\n"
        "d = ((q[:, None] - t[None]) ** 2).sum(2)\n"
        "m = scipy.sparse.load_npz('o.npz')\n"
        "assert m.shape == (20, 400) and m.nnz == (d <= 6).sum()\n"
        "rows, cols = numpy.repeat(numpy.arange(20), numpy.diff(m.indptr)), m.indices\n"
        "assert (d[rows, cols] == m.data).all() and len(set(zip(rows, cols))) == m.nnz\n"
        "assert scipy.sparse.load_npz('none.npz').nnz == 0\n"
        "i, near = numpy.load('o-indices.npy'), numpy.load('o-distances.npy')\n"
        "assert (numpy.take_along_axis(d, i.astype(int), 1) == near).all() and (numpy.diff(near) >= "
        "0).all()\n"
        "head = numpy.fromfile('o.ibin', 'uint32', 2)\n"
        "assert list(head) == [20, 400]\n"
        "assert (numpy.fromfile('o.ibin', 'int32', 8000, offset=8).reshape(20, 400) == i).all()\n"
        "assert (numpy.fromfile('o.ibin', 'float32', offset=8 + 32000).reshape(20, 400) == near).all()\n";
    write(work.folder / "check.py", script);
    output_of(run({"/bin/sh", "-c", "cd '" + work.folder.path().string() + "' && " + python + " check.py"}));
}
