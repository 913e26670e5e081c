/// Searches and answers of the library: oracle, the program, adding rows, saving, threads.

#include <sys/stat.h>

#include <locale>
#include <optional>

#include "tests/library/api.h"
#include "tests/library/drawn_set.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/surroundings.h"

namespace knn::test {

namespace {

void check_row(const Found& found, std::int64_t query, std::size_t k,
               const std::vector<std::pair<double, std::uint32_t>>& wanted) {
    for (std::size_t rank = 0; rank < k; ++rank) {
        const std::size_t at = static_cast<std::size_t>(query) * k + rank;
        CHECK(found.indices[at] == wanted[rank].second);
        CHECK(found.distances[at] == wanted[rank].first);
    }
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
}

void write_idx(const TempFolder& folder, const std::string& part, const DrawnSet& set) {
    const auto n = static_cast<std::uint32_t>(set.n);
    folder.write(part + "-images-idx3-ubyte", idx_header(8, {n, 28, 28}) + text_of(set.pixels));
    folder.write(part + "-labels-idx1-ubyte", idx_header(8, {n}) + text_of(set.labels));
}

/// The cells of a CSV file, without its first line.
std::vector<std::vector<double>> numbers_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line, cell;
    std::getline(stream, line);
    std::vector<std::vector<double>> rows;
    while (std::getline(stream, line)) {
        std::istringstream cells(line);
        rows.emplace_back();
        while (std::getline(cells, cell, ','))
            rows.back().push_back(std::strtod(cell.c_str(), nullptr));
    }
    return rows;
}

const DrawnSet train(600, 1), queries(40, 2);

}  // namespace

TEST_CASE("library: the neighbors are the oracle's, with a pitch and without") {
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw"));
    for (const int k : {1, 7, 600}) {
        Found found(queries.n, k);
        const knn_vectors asked = queries.vectors();
        OK(knn_search(index.get(), &asked, nullptr, &found.out));
        for (std::int64_t q = 0; q < queries.n; ++q)
            check_row(found, q, static_cast<std::size_t>(k),
                      nearest(train, train.n, queries.row(q), static_cast<std::size_t>(k)));
    }
    knn_vectors every_second = queries.vectors(0, queries.n / 2);
    every_second.pitch = 2 * DrawnSet::dim;
    Found found(queries.n / 2, 3);
    OK(knn_search(index.get(), &every_second, nullptr, &found.out));
    for (std::int64_t q = 0; q < queries.n / 2; ++q)
        check_row(found, q, 3, nearest(train, train.n, queries.row(2 * q), 3));
    const knn_vectors wide = [] {
        knn_vectors some = train.vectors(0, train.n / 2);
        some.pitch = 2 * DrawnSet::dim;
        return some;
    }();
    const Set half = made_set(wide, nullptr);
    std::vector<std::uint8_t> read(DrawnSet::dim);
    OK(knn_set_read(half.get(), 5, 1, read.data(), nullptr));
    CHECK(std::equal(read.begin(), read.end(), train.row(10)));
}

TEST_CASE("library: indices of 64 bits, and roots of distances") {
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw", 4));
    const knn_vectors asked = queries.vectors();
    Found found(queries.n, 4), rooted(queries.n, 4);
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    for (double& distance : found.distances)
        distance = std::sqrt(distance);
    std::vector<std::int64_t> wide(found.indices.size(), -1);
    rooted.out.roots = 1;
    rooted.out.wide_indices = wide.data();
    OK(knn_search(index.get(), &asked, nullptr, &rooted.out));
    CHECK(rooted == found);
    CHECK(std::equal(wide.begin(), wide.end(), found.indices.begin(), found.indices.end()));
    Answers answers(queries.n);
    answers.out.neighbors = &rooted.out;
    rooted.distances.assign(rooted.distances.size(), -1);
    OK(knn_classify(index.get(), &asked, nullptr, &answers.out));
    CHECK(rooted == found);
}

TEST_CASE("library: rows of the set leave themselves out") {
    const Set set = made_set(train.vectors(), nullptr);
    const OpenIndex index = made_index(set, settings_of("raw", 4));
    const auto check = [&](const std::vector<std::uint32_t>& rows, const Found& found) {
        for (std::size_t q = 0; q < rows.size(); ++q)
            check_row(found, static_cast<std::int64_t>(q), 4,
                      nearest(train, train.n, train.row(rows[q]), 4, rows[q]));
    };
    std::vector<std::uint32_t> all(600);
    std::iota(all.begin(), all.end(), 0U);
    Found whole(train.n, 4);
    OK(knn_search_rows(index.get(), nullptr, train.n, nullptr, &whole.out));
    check(all, whole);
    const std::vector<std::uint32_t> some = {599, 3, 3, 0};
    Found few(4, 4);
    OK(knn_search_rows(index.get(), some.data(), 4, nullptr, &few.out));
    check(some, few);
    Found first(20, 4);
    OK(knn_search_rows(index.get(), nullptr, 20, nullptr, &first.out));
    check({all.begin(), all.begin() + 20}, first);
}

TEST_CASE("library: the answers are the program's") {
    const TempFolder folder;
    write_idx(folder, "train", train);
    write_idx(folder, "t10k", queries);
    const std::string images = (folder / "t10k-images-idx3-ubyte").string(), data = folder.path().string();
    folder.write("scaled",
                 "mnist-knn method 1\ntransform zscore\nrerank none\ncandidates 96\nmetric l1\n"
                 "vote majority\nk 3\nweights distance\ntie nearest\n");
    struct Case {
        std::string method, words;  ///< the settings as the program takes them
        void (*set)(knn_settings&) = [](knn_settings&) {};
    };
    for (const Case& one :
         {Case{"raw", ""},
          {"raw", "--metric cosine --weights distance --tie nearest -k 3",
           [](knn_settings& s) { s.metric = "cosine", s.weights = "distance", s.tie = "nearest", s.k = 3; }},
          {"raw", "--metric lp --p 3 -k 10", [](knn_settings& s) { s.metric = "lp", s.p = 3, s.k = 10; }},
          {"gradients", "--metric l1 -k 1", [](knn_settings& s) { s.metric = "l1", s.k = 1; }},
          {"accurate", ""},
          {folder / "scaled", ""}}) {
        CAPTURE(one.method);
        CAPTURE(one.words);
        const std::string predictions = (folder / "p.csv").string(), neighbors = (folder / "n.csv").string();
        const std::string command =
            "exec \"$0\" evaluate --device cpu --data \"$1\" --predictions \"$2\" "
            "--neighbors-csv \"$3\" --method " +
            one.method + ' ' + one.words;
        knn_settings settings = settings_of(one.method.c_str());
        one.set(settings);
        const RunResult run =
            test::run({"/bin/sh", "-c", command, MNIST_KNN_BINARY, data, predictions, neighbors},
                      {.environment = {{"XDG_CACHE_HOME", (folder / "cache").string()}}});
        REQUIRE_MESSAGE(run.exit_code == 0, run.err);

        knn_files files{sizeof files, data.c_str(), nullptr, nullptr, 0, 1, 0};
        knn_set *opened = nullptr, *tests = nullptr;
        OK(knn_set_open(&files, &opened));
        files.folder = nullptr;
        files.images = images.c_str();
        OK(knn_set_open(&files, &tests));
        const Set set(opened, knn_set_free), asked(tests, knn_set_free);
        std::vector<std::uint8_t> pixels(queries.pixels.size());
        OK(knn_set_read(asked.get(), 0, queries.n, pixels.data(), nullptr));
        CHECK(pixels == queries.pixels);
        const OpenIndex index = made_index(set, settings);
        knn_index_info info{};
        info.struct_size = sizeof info;
        OK(knn_index_get_info(index.get(), &info));
        Answers answers(queries.n, true);
        Found found(queries.n, info.k);
        answers.out.neighbors = &found.out;
        const knn_vectors vectors = queries.vectors();
        if (one.method == folder / "scaled") {  // no p-values, all the rest
            REFUSED(KNN_INVALID, "transform zscore: makes float64, and only bytes tell what is no digit",
                    knn_classify(index.get(), &vectors, nullptr, &answers.out));
            answers.out.p_values = nullptr;
            answers.p_values.assign(answers.p_values.size(), 1);
            OK(knn_index_save(index.get(), (folder / "saved").c_str()));
            const knn_picture picture{sizeof picture, queries.row(0), 0, 0, 28, 28, 0, 0};
            knn_digits* digits = nullptr;
            if (knn_has("pictures"))
                REFUSED(KNN_INVALID, "only bytes tell what is no digit",
                        knn_digits_read(index.get(), &picture, nullptr, &digits));
        }
        OK(knn_classify(index.get(), &vectors, nullptr, &answers.out));

        const auto lines = numbers_of(predictions);  // index,label,predicted,confidence,vote_share
        REQUIRE(std::ssize(lines) == queries.n);
        for (std::size_t q = 0; q < lines.size(); ++q) {
            CHECK(answers.labels[q] == lines[q][2]);
            CHECK(answers.probabilities[q] == lines[q][3]);
            CHECK(answers.vote_shares[q] == lines[q][4]);
            CHECK(answers.rejected[q] == 0);
            CHECK((answers.p_values[q] >= 0 && answers.p_values[q] <= 1));
        }
        const auto rows = numbers_of(neighbors);  // query,rank,index,label,distance
        REQUIRE(rows.size() == found.indices.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(found.indices[i] == rows[i][2]);
            // The program writes distances that are no integers with as many digits as tell two scores apart.
            const bool is_integer = rows[i][4] == std::floor(rows[i][4]);
            const double error = is_integer ? 0 : 1e-6 * rows[i][4];
            CHECK(std::abs(found.distances[i] - rows[i][4]) <= error);
        }
    }
}

TEST_CASE("library: rejection leaves labels as they are, and more of it rejects more") {
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("gradients"));
    const knn_vectors asked = queries.vectors();
    Answers none(queries.n, true), few(queries.n, true), most(queries.n, true);
    OK(knn_classify(index.get(), &asked, nullptr, &none.out));
    knn_options options{sizeof options, nullptr, nullptr, 0.1};
    OK(knn_classify(index.get(), &asked, &options, &few.out));
    options.reject = 0.99;
    OK(knn_classify(index.get(), &asked, &options, &most.out));
    CHECK(few.labels == none.labels);
    CHECK(few.p_values == none.p_values);
    for (std::size_t q = 0; q < few.labels.size(); ++q) {
        CHECK(none.rejected[q] == 0);
        CHECK(few.rejected[q] == (few.p_values[q] < 0.1 ? 1 : 0));
        CHECK(most.rejected[q] == (most.p_values[q] < 0.99 ? 1 : 0));
    }
    CHECK(std::count(most.rejected.begin(), most.rejected.end(), 1) > 0);
}

TEST_CASE("library: after rows are added, searches and answers are those of a set that had them at once") {
    const TempFolder folder;
    const std::string method = (folder / "method").string();
    std::ofstream(method) << "mnist-knn method 1\ntransform pca:8\nrerank none\ncandidates 96\nmetric l2\n"
                             "vote majority\nk 5\nweights uniform\ntie smallest\n";
    const knn_vectors asked = queries.vectors();
    for (const char* name : {"raw", "gradients", "accurate", method.c_str()}) {
        CAPTURE(name);
        if (has_sanitizer && name == method) continue;  // it is fitted eight times, which takes minutes
        const Set set = made_set(train.vectors(0, 400), train.labels.data());
        const OpenIndex index = made_index(set, settings_of(name));
        std::int64_t n = 400;
        for (const std::int64_t more : {1, 2, 0, 30, 7, 100, 60}) {  // the sum passes what is searched beside
            const knn_vectors rows = train.vectors(n, more);
            OK(knn_set_add(set.get(), &rows, train.labels.data() + n));
            n += more;
            const Set at_once = made_set(train.vectors(0, n), train.labels.data());
            const OpenIndex other = made_index(at_once, settings_of(name));
            for (const int k : {1, 40}) {
                Found grown(queries.n, k), wanted(queries.n, k);
                OK(knn_search(index.get(), &asked, nullptr, &grown.out));
                OK(knn_search(other.get(), &asked, nullptr, &wanted.out));
                CHECK(grown == wanted);
            }
            const bool scores = more == 7;
            Answers grown(queries.n, scores), wanted(queries.n, scores);
            OK(knn_classify(index.get(), &asked, nullptr, &grown.out));
            OK(knn_classify(other.get(), &asked, nullptr, &wanted.out));
            CHECK(grown == wanted);
            if (!scores) continue;
            Answers rows_grown(n), rows_wanted(n);
            OK(knn_classify_rows(index.get(), nullptr, n, nullptr, &rows_grown.out));
            OK(knn_classify_rows(other.get(), nullptr, n, nullptr, &rows_wanted.out));
            CHECK(rows_grown == rows_wanted);
        }
        CHECK(n == 600);
        knn_index_info info{};
        info.struct_size = sizeof info;
        OK(knn_index_get_info(index.get(), &info));
        CHECK(info.count == n);
        CHECK(std::string(info.metric) == "l2");
        CHECK(info.candidates == (std::string(info.method) == "accurate" ? 96 : 0));
        std::vector<std::uint8_t> pixels(train.pixels.size()), labels(train.labels.size());
        OK(knn_set_read(set.get(), 0, n, pixels.data(), labels.data()));
        CHECK(pixels == train.pixels);
        CHECK(labels == train.labels);
    }
}

TEST_CASE(
    "library: an index of fewer rows than k finds k of the rows added since, whatever was asked before") {
    const knn_vectors asked = queries.vectors(), more = train.vectors(4, 8);
    const Set at_once = made_set(train.vectors(0, 12), train.labels.data());
    const OpenIndex other = made_index(at_once, settings_of("raw"));
    for (const int before : {0, 1, 4, 5}) {
        CAPTURE(before);
        const Set set = made_set(train.vectors(0, 4), train.labels.data());
        const OpenIndex index = made_index(set, settings_of("raw"));  // k = 5
        OK(knn_set_add(set.get(), &more, train.labels.data() + 4));
        if (before > 0) {
            Found first(queries.n, before);
            OK(knn_search(index.get(), &asked, nullptr, &first.out));
        }
        Answers grown(queries.n, false), wanted(queries.n, false);
        OK(knn_classify(index.get(), &asked, nullptr, &grown.out));
        OK(knn_classify(other.get(), &asked, nullptr, &wanted.out));
        CHECK(grown == wanted);
        Found most(queries.n, 12), wanted_most(queries.n, 12);
        OK(knn_search(index.get(), &asked, nullptr, &most.out));
        OK(knn_search(other.get(), &asked, nullptr, &wanted_most.out));
        CHECK(most == wanted_most);
    }
}

TEST_CASE("library: an index is not saved over the files that it was made from, nor to a pipe") {
    const TempFolder folder;
    std::string shape = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }";
    shape.resize(117, ' ');
    const std::string array =
        folder.write("a.npy", std::string("\x93NUMPY\x01\0\x76\0", 10) + shape + "\nabcdefgh");
    std::filesystem::create_symlink("a.npy", folder / "link");
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    folder.write("m.txt",
                 "mnist-knn method 1\ntransform raw\nrerank none\ncandidates 96\nmetric l1\nvote majority\n"
                 "k 1\nweights uniform\ntie smallest\n");
    std::optional<Surroundings> there(folder.path());  // which the process leaves before it saves
    knn_files files{sizeof files, nullptr, "a.npy", nullptr, 0, 1, 0};
    knn_set* opened = nullptr;
    OK(knn_set_open(&files, &opened));
    const Set set(opened, knn_set_free);
    const OpenIndex index = made_index(set, settings_of("./m.txt")),
                    raw = made_index(set, settings_of("raw"));
    for (int time = 0; time < 2; ++time)  // the method is no file
        OK(knn_index_save(raw.get(), "raw"));
    there.reset();
    for (const char* name : {"a.npy", "./a.npy", "link", "m.txt", "pipe", "train-images-idx3-ubyte.gz"}) {
        const std::string file = (folder / name).string();
        CAPTURE(file);
        CHECK(knn_index_save(index.get(), file.c_str()) == KNN_DATA);
        CHECK(std::string(knn_last_error()).starts_with(file + ": is "));
    }
    CHECK(read_file(array).ends_with("\nabcdefgh"));
    for (int time = 0; time < 2; ++time)
        OK(knn_index_save(index.get(), (folder / "saved").c_str()));
}

TEST_CASE("library: a saved index gives the same answers, and is refused for another set or if damaged") {
    const TempFolder folder;
    const std::string file = (folder / "saved").string();
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("accurate"));
    OK(knn_index_save(index.get(), file.c_str()));
    const Set same = made_set(train.vectors(), train.labels.data());
    knn_index* opened = nullptr;
    OK(knn_index_open(same.get(), file.c_str(), nullptr, &opened));
    const OpenIndex again(opened, knn_index_free);
    const knn_vectors asked = queries.vectors();
    Answers before(queries.n, true), after(queries.n, true);
    OK(knn_classify(index.get(), &asked, nullptr, &before.out));
    OK(knn_classify(again.get(), &asked, nullptr, &after.out));
    CHECK(before == after);

    const auto refused = [&](const Set& of, const std::string& content, const char* part) {
        folder.write("other", content);
        REFUSED(KNN_DATA, part, knn_index_open(of.get(), (folder / "other").c_str(), nullptr, &opened));
        CHECK(opened == nullptr);
    };
    const std::string content = read_file(file);
    refused(made_set(train.vectors(0, 599), train.labels.data()), content, "is of another set");
    refused(made_set(train.vectors(), nullptr), content, "is of another set");
    refused(same, "", "is no saved index");
    refused(same, content.substr(0, content.size() - 1), "is damaged");
    refused(same, content + "x", "is damaged");
    std::string changed = content;
    changed.back() ^= 1;
    refused(same, changed, "is damaged");
    const std::size_t size = content.find("method ") + 7;
    refused(same, content.substr(0, size) + "9" + content.substr(size), "is damaged");
    const knn_settings settings = settings_of("raw");
    REFUSED(KNN_INVALID, "settings", knn_index_open(same.get(), file.c_str(), &settings, &opened));
}

TEST_CASE("library: a saved index is the same file in every locale") {
    struct Grouping : std::numpunct<char> {
        std::string do_grouping() const override { return "\3"; }
    };
    const TempFolder folder;
    const std::string files[] = {folder / "saved", folder / "grouped"};
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw"));
    OK(knn_index_save(index.get(), files[0].c_str()));
    const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
    CHECK(knn_index_save(index.get(), files[1].c_str()) == KNN_OK);
    std::locale::global(before);
    CHECK(read_file(files[0]) == read_file(files[1]));
}

TEST_CASE("library: a callback sees progress and stops a search, after which the index works") {
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw"));
    struct Calls {
        std::int64_t stop_at, calls = 0, last = -1, total = -1;
    };
    const auto callback = [](void* data, std::int64_t done, std::int64_t total) {
        Calls& calls = *static_cast<Calls*>(data);
        CHECK(done >= calls.last);
        calls.last = done;
        calls.total = total;
        return ++calls.calls >= calls.stop_at ? 1 : 0;
    };
    Calls calls{1};
    knn_options options{sizeof options, callback, &calls, 0};
    Found found(train.n, 5), wanted(train.n, 5);
    const knn_vectors asked = train.vectors();
    REFUSED(KNN_STOPPED, "callback", knn_search(index.get(), &asked, &options, &found.out));
    calls = {1'000'000};
    OK(knn_search(index.get(), &asked, &options, &found.out));
    CHECK(calls.last == train.n);
    CHECK(calls.total == train.n);
    OK(knn_search(index.get(), &asked, nullptr, &wanted.out));
    CHECK(found == wanted);

    knn_settings settings = settings_of("accurate");
    settings.progress = callback;
    settings.data = &calls;
    calls = {1};
    knn_index* opened = nullptr;
    REFUSED(KNN_STOPPED, "callback", knn_index_create(set.get(), &settings, &opened));
    CHECK(opened == nullptr);
}

TEST_CASE("library: eight threads search one index while another adds rows and an index is freed") {
    const Set set = made_set(train.vectors(), train.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw"));
    // Rows that are farther from each query than all others.
    std::vector<std::uint8_t> far(20 * DrawnSet::dim, 255);
    const std::vector<std::uint8_t> far_labels(20, 9);
    std::vector<std::vector<std::pair<double, std::uint32_t>>> wanted;
    for (std::int64_t q = 0; q < queries.n; ++q)
        wanted.push_back(nearest(train, train.n, queries.row(q), 5));
    std::atomic<bool> wrong = false;
    const auto search = [&](std::int64_t first, std::int64_t count) {
        for (int repeat = 0; repeat < 10; ++repeat) {
            Found found(count, 5);
            const knn_vectors asked = queries.vectors(first, count);
            Answers answers(count);
            const bool ok = knn_search(index.get(), &asked, nullptr, &found.out) == KNN_OK &&
                            knn_classify(index.get(), &asked, nullptr, &answers.out) == KNN_OK;
            for (std::size_t i = 0; ok && i < found.indices.size(); ++i) {
                const auto& row = wanted[static_cast<std::size_t>(first) + i / 5];
                if (found.indices[i] != row[i % 5].second || found.distances[i] != row[i % 5].first)
                    wrong = true;
            }
            if (!ok) wrong = true;
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back(search, t, 1 + 4 * (t % 3) + (t == 7 ? 20 : 0));
    threads.emplace_back([&] {
        knn_vectors rows = KNN_VECTORS(far.data(), 1, DrawnSet::dim);
        for (std::int64_t i = 0; i < 20; ++i, rows.data = far.data() + i * DrawnSet::dim)
            if (knn_set_add(set.get(), &rows, far_labels.data()) != KNN_OK) wrong = true;
    });
    threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
            knn_index* own = nullptr;
            const knn_settings settings = settings_of("raw");
            if (knn_index_create(set.get(), &settings, &own) != KNN_OK) wrong = true;
            knn_index_free(own);
        }
    });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(!wrong);
    Found found(1, 1);
    const knn_vectors asked = KNN_VECTORS(far.data(), 1, DrawnSet::dim);
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    CHECK(found.indices[0] == train.n);
    CHECK(found.distances[0] == 0);
}

}  // namespace knn::test
