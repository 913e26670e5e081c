/// Vectors of each element type in the library: the program's neighbors, bit for bit, and what is refused.

#include "tests/library/api.h"
#include "tests/support/npy_bytes.h"

namespace knn::test {

namespace {

struct Type {
    int type, bytes;
    const char* name;  ///< as NPY has it
};
constexpr Type types[] = {{KNN_INT8, 1, "|i1"}, {KNN_FLOAT32, 4, "<f4"}, {KNN_FLOAT64, 8, "<f8"}},
               bytes_type = {KNN_UINT8, 1, "|u1"};

/// Values in steps, so that some distances are equal, and some rows too.
struct MadeRows {
    static constexpr std::int64_t dim = 37;
    const Type& type;
    std::int64_t n;
    std::string bytes;

    MadeRows(const Type& type_, std::int64_t n_, unsigned seed) : type(type_), n(n_) {
        std::mt19937 random(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::size_t row_bytes = static_cast<std::size_t>(dim * type.bytes);
            if (i % 10 == 9) {
                bytes += bytes.substr(bytes.size() - row_bytes);
                continue;
            }
            for (std::int64_t j = 0; j < dim; ++j)
                put(static_cast<int>(random() % 250) - 125, i % 3 == 0);
        }
    }
    knn_vectors vectors(std::int64_t first = 0, std::int64_t count = -1) const {
        knn_vectors all =
            KNN_VECTORS(bytes.data() + first * dim * type.bytes, count < 0 ? n - first : count, dim);
        all.type = type.type;
        return all;
    }
    /// A file of the first rows.
    std::string npy(std::int64_t rows) const {
        return npy_of(type.name, static_cast<std::size_t>(rows), dim, bytes_of(0, rows));
    }
    std::string bytes_of(std::int64_t first, std::int64_t count) const {
        const auto row_bytes = static_cast<std::size_t>(dim * type.bytes);
        return bytes.substr(static_cast<std::size_t>(first) * row_bytes,
                            static_cast<std::size_t>(count) * row_bytes);
    }

  private:
    void put(int step, bool is_coarse) {
        if (type.bytes == 1)
            bytes += raw(static_cast<std::int8_t>(is_coarse ? step % 2 : step));
        else if (type.type == KNN_FLOAT32)
            bytes += raw(static_cast<float>(is_coarse ? step : step / 7.0));
        else
            bytes += raw(is_coarse ? step : step / 7e9);
    }
};

/// The numbers of an array that the program wrote.
template <class Number>
std::vector<Number> numbers_in(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    REQUIRE(bytes.size() > 128);
    std::vector<Number> numbers((bytes.size() - 128) / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data() + 128, numbers.size() * sizeof(Number));
    return numbers;
}

knn_status made(const knn_vectors& vectors) {
    knn_set* set = nullptr;
    const knn_status status = knn_set_create(&vectors, nullptr, &set);
    CHECK((set == nullptr) == (status != KNN_OK));
    knn_set_free(set);
    return status;
}

}  // namespace

TEST_CASE("library: vectors of each type have the program's neighbors, bit for bit") {
    constexpr int k = 9, n_part = 1100;
    for (const Type& type : types)
        for (const char* metric : {"l2", "l1", "cosine", "pearson"}) {
            CAPTURE(type.name);
            CAPTURE(metric);
            const MadeRows train(type, 1300, 1), queries(type, 40, 2);
            const TempFolder folder;
            folder.write("t.npy", train.npy(train.n));
            folder.write("part.npy", train.npy(n_part));
            folder.write("q.npy", queries.npy(queries.n));
            const auto program = [&](const std::string& prefix, const char* from, const char* what,
                                     const std::string& more) {
                const RunResult run =
                    test::run({MNIST_KNN_BINARY, "neighbors", "--train", (folder / from).string(), "-k",
                               std::to_string(k), "--npy", (folder / prefix).string(), "--metric", metric,
                               "--device", "cpu", what, more});
                REQUIRE_MESSAGE(run.exit_code == 0, run.err);
            };
            const auto check = [&](const std::string& prefix, const Found& found) {
                const auto indices = numbers_in<std::int32_t>(folder / (prefix + "-indices.npy"));
                CHECK(std::ranges::equal(indices, found.indices,
                                         [](auto a, auto b) { return static_cast<std::uint32_t>(a) == b; }));
                CHECK(numbers_in<double>(folder / (prefix + "-distances.npy")) == found.distances);
            };
            program("o", "t.npy", "--queries", (folder / "q.npy").string());
            program("part", "part.npy", "--queries", (folder / "q.npy").string());
            program("self", "t.npy", "--exclude-self", "--quiet");

            knn_settings settings = settings_of("raw");
            settings.metric = metric;
            knn_vectors asked = queries.vectors();
            Found found(queries.n, k), own(train.n, k);
            // Rows that are added are found beside the others, also where they are equal or as far.
            for (const bool borrowed : {false, true})
                for (const int threads : {1, 2}) {
                    knn_vectors part = train.vectors(0, n_part);
                    part.borrowed = borrowed;
                    settings.threads = threads;
                    const Set set = made_set(part, nullptr);
                    const OpenIndex index = made_index(set, settings);
                    OK(knn_search(index.get(), &asked, nullptr, &found.out));
                    check("part", found);
                    const knn_vectors rest = train.vectors(n_part);
                    OK(knn_set_add(set.get(), &rest, nullptr));
                    OK(knn_search(index.get(), &asked, nullptr, &found.out));
                    check("o", found);
                    OK(knn_search_rows(index.get(), nullptr, train.n, nullptr, &own.out));
                    check("self", own);
                    std::string read = train.bytes_of(0, 20);
                    OK(knn_set_read(set.get(), n_part - 10, 20, read.data(), nullptr));
                    CHECK(read == train.bytes_of(n_part - 10, 20));
                }

            const Set set = made_set(train.vectors(), nullptr);
            const OpenIndex index = made_index(set, settings);
            OK(knn_search_rows(index.get(), nullptr, train.n, nullptr, &own.out));
            check("self", own);
            std::string gaps;
            for (std::int64_t i = 0; i < queries.n; ++i)
                gaps += queries.bytes_of(i, 1) + "gap";
            asked.data = gaps.data();
            asked.pitch = MadeRows::dim * type.bytes + 3;
            OK(knn_search(index.get(), &asked, nullptr, &found.out));
            check("o", found);
        }
}

TEST_CASE("library: distances of scaled vectors are the program's, of queries and of the set's rows") {
    constexpr int k = 9;
    for (const Type& type : {bytes_type, types[1], types[2]})
        for (const char* transform : {"minmax", "zscore"})
            for (const char* metric : {"l2", "cosine"}) {
                CAPTURE(type.name);
                CAPTURE(transform);
                CAPTURE(metric);
                const MadeRows train(type, 300, 1), queries(type, 20, 2);
                const TempFolder folder;
                folder.write("t.npy", train.npy(train.n));
                folder.write("q.npy", queries.npy(queries.n));
                const std::string method = folder / "method", t = folder / "t.npy";
                folder.write("method", std::string("mnist-knn method 1\ntransform ") + transform +
                                           "\nrerank none\ncandidates 96\nmetric " + metric +
                                           "\nvote majority\nk 5\nweights uniform\ntie smallest\n");
                const Set set = made_set(train.vectors(), nullptr);
                const OpenIndex index = made_index(set, settings_of(method.c_str()));
                for (const bool own : {false, true}) {
                    const RunResult run =
                        test::run({MNIST_KNN_BINARY, "neighbors", "--train", t, "-k", std::to_string(k),
                                   "--npy", folder / "o", "--metric", metric, "--transform", transform,
                                   "--device", "cpu", own ? "--exclude-self" : "--queries",
                                   own ? "--quiet" : (folder / "q.npy").string()});
                    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
                    const knn_vectors asked = queries.vectors();
                    Found found(own ? train.n : queries.n, k);
                    OK(own ? knn_search_rows(index.get(), nullptr, train.n, nullptr, &found.out)
                           : knn_search(index.get(), &asked, nullptr, &found.out));
                    CHECK(std::ranges::equal(
                        numbers_in<std::int32_t>(folder / "o-indices.npy"), found.indices,
                        [](auto a, auto b) { return static_cast<std::uint32_t>(a) == b; }));
                    CHECK(numbers_in<double>(folder / "o-distances.npy") == found.distances);
                }
            }
}

TEST_CASE("library: a set of a file has its type, and labels in it, beside it, named, or none") {
    const TempFolder folder;
    const std::string all = folder / "";
    const auto opened = [&](const char* images, const char* labels, std::int64_t first = 0,
                            bool instead = false) {
        const std::string file = folder / images, named = labels == nullptr ? "" : folder / labels;
        const knn_files files{sizeof files,
                              instead ? all.c_str() : nullptr,
                              file.c_str(),
                              labels == nullptr ? nullptr : named.c_str(),
                              first,
                              1,
                              0};
        knn_set* set = nullptr;
        OK(knn_set_open(&files, &set));
        return Set(set, knn_set_free);
    };
    const auto check = [](const Set& set, int count, int type, const std::vector<std::uint8_t>& labels) {
        knn_set_info info{};
        info.struct_size = sizeof info;
        OK(knn_set_get_info(set.get(), &info));
        CHECK(info.count == count);
        CHECK(info.dim == 2);
        CHECK(info.type == type);
        CHECK(info.has_labels == (labels.empty() ? 0 : 1));
        std::vector<std::uint8_t> read(labels.size());
        if (!labels.empty()) OK(knn_set_read(set.get(), 0, count, nullptr, read.data()));
        CHECK(read == labels);
    };
    folder.write("named.csv", "a,b,label\n1.5,2,z\n3,4,y\n5,6,z\n");
    check(opened("named.csv", nullptr), 3, KNN_FLOAT64, {1, 0, 1});
    check(opened("named.csv", nullptr, 2), 2, KNN_FLOAT64, {1, 0});
    folder.write("plain.csv", "1,2\n3,4\n");
    check(opened("plain.csv", nullptr), 2, KNN_UINT8, {});
    folder.write("labels.txt", "7\n9\n");
    check(opened("plain.csv", "labels.txt"), 2, KNN_UINT8, {7, 9});
    folder.write("plain-labels.csv", "8\n6\n");
    check(opened("plain.csv", nullptr), 2, KNN_UINT8, {8, 6});

    using namespace std::string_literals;
    folder.write("images", "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02"s + "abcd");
    folder.write("idx-labels", "\0\0\x08\x01\0\0\0\x02\x03\x04"s);
    check(opened("images", nullptr), 2, KNN_UINT8, {});
    check(opened("images", "idx-labels"), 2, KNN_UINT8, {3, 4});
    check(opened("images", "labels.txt"), 2, KNN_UINT8, {7, 9});
    // Instead of a folder's, of whose files only labels of images are read.
    check(opened("images", "labels.txt", 0, true), 2, KNN_UINT8, {7, 9});
    check(opened("named.csv", nullptr, 0, true), 3, KNN_FLOAT64, {1, 0, 1});
    check(opened("plain.csv", "idx-labels", 0, true), 2, KNN_UINT8, {3, 4});
    folder.write("train-images-idx3-ubyte", "");
    folder.write("train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x02\x05\x06"s);
    check(opened("images", nullptr, 0, true), 2, KNN_UINT8, {5, 6});

    const Set set = opened("named.csv", nullptr);
    const OpenIndex index = made_index(set, settings_of("raw", 1));
    const std::vector<double> asked = {5, 5};
    knn_vectors queries = KNN_VECTORS(asked.data(), 1, 2);
    queries.type = KNN_FLOAT64;
    Found found(1, 1);
    OK(knn_search(index.get(), &queries, nullptr, &found.out));
    CHECK(found.indices[0] == 2);
    CHECK(found.distances[0] == 1);
    folder.write("bad.csv", "1,2\n3,x\n");
    const std::string bad = folder / "bad.csv";
    const knn_files files{sizeof files, nullptr, bad.c_str(), nullptr, 0, 1, 0};
    knn_set* none = nullptr;
    REFUSED(KNN_DATA, "line 2, column 2: \"x\"", knn_set_open(&files, &none));
}

TEST_CASE(
    "library: a callback stops what is fitted to the set, and distances that are computed after a search") {
    const MadeRows train(types[2], 300, 1);
    const std::vector<std::uint8_t> labels(300, 1);
    const Set set = made_set(train.vectors(), labels.data());
    knn_settings settings = settings_of("raw");
    settings.metric = "lp";
    settings.p = 1.7;
    const OpenIndex index = made_index(set, settings);
    knn_vectors none = train.vectors(0, 0), all = train.vectors();
    Answers answers(0);
    double probability = 0;
    answers.out.probabilities = &probability;
    knn_options options{sizeof options, [](void*, std::int64_t, std::int64_t) { return 1; }, nullptr, 0};
    REFUSED(KNN_STOPPED, "callback", knn_classify(index.get(), &none, &options, &answers.out));
    OK(knn_classify(index.get(), &none, nullptr, &answers.out));
    options.progress = [](void*, std::int64_t done, std::int64_t total) { return done == total ? 1 : 0; };
    Found found(train.n, 20);
    REFUSED(KNN_STOPPED, "callback", knn_search(index.get(), &all, &options, &found.out));
    OK(knn_search(index.get(), &all, nullptr, &found.out));
}

TEST_CASE("library: borrowed rows that are no numbers any more are an error, not a crash") {
    std::vector<double> numbers(4000, 1);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = double(i * i % 97);
    knn_vectors vectors = KNN_VECTORS(numbers.data(), 1000, 4);
    vectors.type = KNN_FLOAT64;
    vectors.borrowed = 1;
    const std::vector<std::uint8_t> labels(1000, 1);
    const Set set = made_set(vectors, labels.data());
    const OpenIndex index = made_index(set, settings_of("raw"));
    const std::vector<double> one(4, 3);
    knn_vectors query = KNN_VECTORS(one.data(), 1, 4);
    query.type = KNN_FLOAT64;
    Found found(1, 5);
    OK(knn_search(index.get(), &query, nullptr, &found.out));
    std::ranges::fill(numbers, std::nan(""));
    REFUSED(KNN_DATA, "expected rows that stay as they are",
            knn_search(index.get(), &query, nullptr, &found.out));
    Answers answers(1);
    REFUSED(KNN_DATA, "stay as they are", knn_classify(index.get(), &query, nullptr, &answers.out));
}

TEST_CASE("library: vectors are refused in the caller's words") {
    std::vector<double> numbers(40, 1);
    knn_vectors vectors = KNN_VECTORS(numbers.data(), 10, 4);
    vectors.type = KNN_FLOAT64;
    const Set set = made_set(vectors, nullptr);
    const OpenIndex index = made_index(set, settings_of("raw"));
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        numbers[13] = bad;
        REFUSED(KNN_INVALID, "vectors: row 3, column 1 is not finite", made(vectors));
        Found found(10, 1);
        REFUSED(KNN_INVALID, "row 3, column 1 is not finite",
                knn_search(index.get(), &vectors, nullptr, &found.out));
    }
    numbers[13] = 1e300;
    REFUSED(KNN_INVALID, "vectors: row 3, column 1 is 1e+300, so", knn_set_add(set.get(), &vectors, nullptr));
    {
        const Set other = made_set(vectors, nullptr);
        knn_settings manhattan = settings_of("raw");
        manhattan.metric = "l1";
        const OpenIndex sums = made_index(other, manhattan);
        OK(knn_set_add(other.get(), &vectors, nullptr));
    }
    Found found(10, 1);
    REFUSED(KNN_INVALID, "row 3, column 1 is 1e+300, so",
            knn_search(index.get(), &vectors, nullptr, &found.out));
    const Set large = made_set(vectors, nullptr);
    const knn_settings raw = settings_of("raw");
    knn_index* none = nullptr;
    REFUSED(KNN_INVALID, "training set: row 3, column 1 is 1e+300, so",
            knn_index_create(large.get(), &raw, &none));
    numbers[13] = 1;
    OK(knn_search(index.get(), &vectors, nullptr, &found.out));

    knn_vectors other = KNN_VECTORS(numbers.data(), 2, 4);
    found.out.count = 2;
    for (const int type : {KNN_UINT8, KNN_INT8, KNN_FLOAT32}) {
        other.type = type;
        REFUSED(KNN_INVALID, "type", knn_search(index.get(), &other, nullptr, &found.out));
        REFUSED(KNN_INVALID, "type", knn_set_add(set.get(), &other, nullptr));
    }
    for (const int type : {-1, 4}) {
        other.type = type;
        REFUSED(KNN_INVALID, "type", made(other));
    }
    other.type = KNN_FLOAT32;
    other.dim = 65'537;
    REFUSED(KNN_INVALID, "65536", made(other));
    for (const char* method : {"gradients", "accurate"}) {
        const knn_settings settings = settings_of(method);
        knn_index* opened = nullptr;
        CHECK(knn_index_create(set.get(), &settings, &opened) != KNN_OK);
        CHECK(opened == nullptr);
        const std::string message = knn_last_error();
        CHECK_MESSAGE(message.starts_with(std::string("method ") + method + ": "), message);
        CHECK_MESSAGE(message.find("; expected") != message.npos, message);
    }
}

}  // namespace knn::test
