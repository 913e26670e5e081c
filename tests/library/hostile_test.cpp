/// Callers that pass what they should not.

#include <sys/stat.h>

#include "tests/library/api.h"
#include "tests/library/drawn_set.h"
#include "tests/support/idx_bytes.h"

namespace knn::test {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

struct Opened {
    DrawnSet drawn{300, 5};
    Set set = made_set(drawn.vectors(), drawn.labels.data());
    OpenIndex index = made_index(set, settings_of("raw"));
    knn_vectors asked = drawn.vectors(0, 2);
    Found found{2, 3};
    Answers answers{2};
};

/// A struct with more bytes behind it than this version has, all `byte`.
template <class Struct>
struct Longer {
    Struct known;
    unsigned char more[16];

    Longer(const Struct& from, unsigned char byte) : known(from) {
        std::memset(more, byte, sizeof more);
        known.struct_size = sizeof *this;
    }
};

}  // namespace

TEST_CASE("library: versions, features and names") {
    const auto part = [](int number) { return std::to_string(number); };
    CHECK(knn_version() ==
          part(KNN_VERSION_MAJOR) + '.' + part(KNN_VERSION_MINOR) + '.' + part(KNN_VERSION_PATCH));
    for (const char* type : {"uint8", "int8", "float32", "float64"})
        CHECK(knn_has(type) == 1);
    CHECK(knn_has("pictures") == MNIST_KNN_HAS_OPENCV);
    CHECK(knn_has("cuda") == MNIST_KNN_HAS_CUDA);
    CHECK(knn_has("device-memory") == MNIST_KNN_HAS_CUDA);
    for (const char* none : {"float16", "", "uint", "uint8 "})
        CHECK(knn_has(none) == 0);
    CHECK(knn_has(nullptr) == 0);
    CHECK(std::string(knn_status_name(KNN_NO_MEMORY)) == "KNN_NO_MEMORY");
    CHECK(std::string(knn_status_name(KNN_INTERNAL)) == "KNN_INTERNAL");
}

TEST_CASE_FIXTURE(Opened, "library: the last error is the thread's own") {
    CHECK(knn_search(nullptr, &asked, nullptr, &found.out) == KNN_INVALID);
    const std::string mine = knn_last_error();
    CHECK(mine == "index: is NULL; expected an index");
    std::string other = "?";
    std::thread([&] { other = knn_last_error(); }).join();
    CHECK(other.empty());
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    CHECK(mine == knn_last_error());
}

TEST_CASE_FIXTURE(Opened, "library: NULL is refused, or allowed where the header says so") {
    knn_set* made = nullptr;
    REFUSED(KNN_INVALID, "vectors", knn_set_create(nullptr, nullptr, &made));
    REFUSED(KNN_INVALID, "set", knn_set_create(&asked, nullptr, nullptr));
    REFUSED(KNN_INVALID, "set", knn_set_open(nullptr, nullptr));
    REFUSED(KNN_INVALID, "set", knn_set_add(nullptr, &asked, nullptr));
    REFUSED(KNN_INVALID, "vectors", knn_set_add(set.get(), nullptr, nullptr));
    REFUSED(KNN_INVALID, "labels", knn_set_add(set.get(), &asked, nullptr));
    REFUSED(KNN_INVALID, "info", knn_set_get_info(set.get(), nullptr));
    REFUSED(KNN_INVALID, "set", knn_set_read(nullptr, 0, 0, nullptr, nullptr));
    OK(knn_set_read(set.get(), 0, 300, nullptr, nullptr));
    knn_index* opened = nullptr;
    REFUSED(KNN_INVALID, "set", knn_index_create(nullptr, nullptr, &opened));
    REFUSED(KNN_INVALID, "index", knn_index_create(set.get(), nullptr, nullptr));
    REFUSED(KNN_INVALID, "file", knn_index_open(set.get(), nullptr, nullptr, &opened));
    REFUSED(KNN_INVALID, "file", knn_index_save(index.get(), nullptr));
    REFUSED(KNN_INVALID, "index", knn_index_save(nullptr, "x"));
    REFUSED(KNN_INVALID, "index", knn_index_get_info(nullptr, nullptr));
    REFUSED(KNN_INVALID, "queries", knn_search(index.get(), nullptr, nullptr, &found.out));
    REFUSED(KNN_INVALID, "neighbors", knn_search(index.get(), &asked, nullptr, nullptr));
    REFUSED(KNN_INVALID, "answers", knn_classify(index.get(), &asked, nullptr, nullptr));
    knn_digits* digits = nullptr;
    REFUSED(KNN_INVALID, "index", knn_digits_read(nullptr, nullptr, nullptr, &digits));
    REFUSED(KNN_INVALID, "digits", knn_digits_read(index.get(), nullptr, nullptr, nullptr));
    REFUSED(KNN_INVALID, "digits", knn_digits_get(nullptr, 0, nullptr));
    REFUSED(KNN_INVALID, "digits", knn_digits_get_count(nullptr, nullptr));
    asked.data = nullptr;
    REFUSED(KNN_INVALID, "its data", knn_search(index.get(), &asked, nullptr, &found.out));
    knn_set_free(nullptr);
    knn_index_free(nullptr);
    knn_digits_free(nullptr);
    const knn_vectors rows = drawn.vectors(0, 2);
    knn_neighbors nothing = KNN_NEIGHBORS(2, 3);
    OK(knn_search(index.get(), &rows, nullptr, &nothing));
    knn_answers none = KNN_ANSWERS(2);
    OK(knn_classify(index.get(), &rows, nullptr, &none));
}

TEST_CASE_FIXTURE(Opened, "library: wrong sizes of structs are refused, later ones where they set more") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{4096}, ~std::size_t{0}}) {
        asked.struct_size = size;
        REFUSED(KNN_INVALID, "struct_size", knn_search(index.get(), &asked, nullptr, &found.out));
    }
    asked.struct_size = sizeof asked.struct_size;  // a caller that sets no field
    REFUSED(KNN_INVALID, "dim 0", knn_search(index.get(), &asked, nullptr, &found.out));
    const Longer<knn_vectors> same(drawn.vectors(0, 2), 0), more(drawn.vectors(0, 2), 1);
    OK(knn_search(index.get(), &same.known, nullptr, &found.out));
    REFUSED(KNN_UNSUPPORTED, "later version", knn_search(index.get(), &more.known, nullptr, &found.out));
    Longer<knn_set_info> info(knn_set_info{}, 9);
    OK(knn_set_get_info(set.get(), &info.known));
    CHECK(info.known.count == 300);
    CHECK(info.known.struct_size == sizeof info);
    CHECK(info.more[0] == 9);
    knn_set_info first{};
    first.struct_size = offsetof(knn_set_info, dim);
    first.dim = -5;
    OK(knn_set_get_info(set.get(), &first));
    CHECK(first.count == 300);
    CHECK(first.dim == -5);
}

TEST_CASE_FIXTURE(Opened, "library: wrong vectors are refused") {
    const auto refused = [&](knn_status status, const char* part, const auto& change) {
        knn_vectors wrong = drawn.vectors(0, 2);
        change(wrong);
        REFUSED(status, part, knn_search(index.get(), &wrong, nullptr, &found.out));
        knn_set* made = nullptr;
        if (wrong.dim == DrawnSet::dim && wrong.count != 0)
            REFUSED(status, "", knn_set_create(&wrong, nullptr, &made));
        CHECK(made == nullptr);
    };
    refused(KNN_INVALID, "dim", [](knn_vectors& v) { v.dim = 783, v.image_rows = v.image_cols = 0; });
    refused(KNN_INVALID, "dim", [](knn_vectors& v) { v.dim = 0; });
    refused(KNN_INVALID, "dim", [](knn_vectors& v) { v.dim = most; });
    refused(KNN_INVALID, "count", [](knn_vectors& v) { v.count = -1; });
    refused(KNN_INVALID, "count", [](knn_vectors& v) { v.count = most; });
    refused(KNN_INVALID, "count", [](knn_vectors& v) { v.count = most / 784 + 1; });
    refused(KNN_INVALID, "pitch", [](knn_vectors& v) { v.pitch = 783; });
    refused(KNN_INVALID, "pitch", [](knn_vectors& v) { v.pitch = -784; });
    refused(KNN_INVALID, "count", [](knn_vectors& v) { v.pitch = most; });
    refused(KNN_INVALID, "type", [](knn_vectors& v) { v.type = 9; });
    knn_vectors signed_ones = KNN_VECTORS(drawn.pixels.data(), 2, DrawnSet::dim);
    signed_ones.type = KNN_INT8;
    REFUSED(KNN_INVALID, "has dim 784 and type int8; expected dim 784 and type uint8",
            knn_search(index.get(), &signed_ones, nullptr, &found.out));
    refused(KNN_INVALID, "space", [](knn_vectors& v) { v.space = -1; });
    refused(KNN_INVALID, "images", [](knn_vectors& v) { v.image_rows = 27; });
    refused(KNN_INVALID, "images", [](knn_vectors& v) { v.image_rows = v.image_cols = -28; });
    refused(KNN_INVALID, "borrowed", [](knn_vectors& v) { v.borrowed = 2; });
    refused(KNN_INVALID, "borrowed", [](knn_vectors& v) { v.borrowed = 1, v.pitch = 785, v.count = 1; });
    refused(KNN_INVALID, "reserved", [](knn_vectors& v) { v.reserved = 1; });
    refused(knn_has("device-memory") ? KNN_DEVICE : KNN_UNSUPPORTED, "expected",
            [](knn_vectors& v) { v.space = KNN_CUDA; });
    knn_set* made = nullptr;
    const knn_vectors none = drawn.vectors(0, 0);
    REFUSED(KNN_INVALID, "count 0", knn_set_create(&none, nullptr, &made));
    const knn_vectors small = KNN_VECTORS(drawn.pixels.data(), 1, 7);
    REFUSED(KNN_INVALID, "dim 7", knn_set_add(set.get(), &small, drawn.labels.data()));
    knn_vectors wide = drawn.vectors(0, 2);
    wide.image_rows = 14;
    wide.image_cols = 56;
    REFUSED(KNN_INVALID, "queries: has images of 14x56; expected 28x28, as the set",
            knn_classify(index.get(), &wide, nullptr, &answers.out));
    REFUSED(KNN_INVALID, "vectors: has images of 14x56", knn_set_add(set.get(), &wide, drawn.labels.data()));
}

TEST_CASE_FIXTURE(Opened, "library: wrong counts, k and rows are refused; no query is no error") {
    for (const int k : {0, -1, 1025, std::numeric_limits<int>::max(), 301}) {
        knn_neighbors out = KNN_NEIGHBORS(2, k);
        REFUSED(KNN_INVALID, "k", knn_search(index.get(), &asked, nullptr, &out));
    }
    found.out.roots = 2;
    REFUSED(KNN_INVALID, "roots", knn_search(index.get(), &asked, nullptr, &found.out));
    found.out.roots = 0, found.out.reserved = 1;
    REFUSED(KNN_INVALID, "reserved", knn_search(index.get(), &asked, nullptr, &found.out));
    found.out.reserved = 0;
    knn_neighbors out = KNN_NEIGHBORS(2, 300);
    OK(knn_search(index.get(), &asked, nullptr, &out));
    REFUSED(KNN_INVALID, "299 vectors", knn_search_rows(index.get(), nullptr, 2, nullptr, &out));
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, most}) {
        found.out.count = answers.out.count = count;
        REFUSED(KNN_INVALID, "count", knn_search(index.get(), &asked, nullptr, &found.out));
        REFUSED(KNN_INVALID, "count", knn_classify(index.get(), &asked, nullptr, &answers.out));
    }
    for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{301}, most}) {
        found.out.count = count;
        REFUSED(KNN_INVALID, "count", knn_search_rows(index.get(), nullptr, count, nullptr, &found.out));
    }
    const std::uint32_t rows[] = {0, 300};
    found.out.count = 2;
    REFUSED(KNN_INVALID, "rows: has 300", knn_search_rows(index.get(), rows, 2, nullptr, &found.out));
    found.out.space = KNN_CUDA;
    REFUSED(knn_has("device-memory") ? KNN_DEVICE : KNN_UNSUPPORTED, "expected",
            knn_search(index.get(), &asked, nullptr, &found.out));
    found.out.space = KNN_HOST;
    answers.out.count = 2;
    answers.out.neighbors = &found.out;
    REFUSED(KNN_INVALID, "k 3", knn_classify(index.get(), &asked, nullptr, &answers.out));
    for (const double reject : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
        const knn_options options{sizeof options, nullptr, nullptr, reject};
        REFUSED(KNN_INVALID, "reject", knn_classify(index.get(), &asked, &options, &answers.out));
    }
    for (const auto& [first, count] :
         {std::pair{std::int64_t{-1}, std::int64_t{1}}, {300, 1}, {0, 301}, {most, most}})
        REFUSED(KNN_INVALID, "first", knn_set_read(set.get(), first, count, nullptr, nullptr));

    asked.count = found.out.count = 0;
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    OK(knn_search_rows(index.get(), nullptr, 0, nullptr, &found.out));
    OK(knn_set_add(set.get(), &asked, nullptr));
    asked = drawn.vectors(0, 2);
    found.out.count = 2;
    OK(knn_search(index.get(), &asked, nullptr, &found.out));  // after all these errors
    CHECK(found.indices[0] == 0);
}

TEST_CASE_FIXTURE(Opened, "library: wrong settings are refused in the caller's words") {
    const auto refused = [&](knn_status status, const char* part, const auto& change) {
        knn_settings settings = settings_of(nullptr);
        change(settings);
        knn_index* opened = nullptr;
        REFUSED(status, part, knn_index_create(set.get(), &settings, &opened));
        CHECK(opened == nullptr);
    };
    refused(KNN_INVALID, "method no such: is unknown; expected raw, gradients, accurate or a file",
            [](knn_settings& s) { s.method = "no such"; });
    refused(KNN_DATA, "o such file", [](knn_settings& s) { s.method = "no such.txt"; });
    refused(KNN_DATA, "/", [](knn_settings& s) { s.method = "/"; });
    knn_files files{sizeof files, "§engine", nullptr, nullptr, 0, 1, 0};
    knn_set* no_set = nullptr;
    CHECK(knn_set_open(&files, &no_set) == KNN_DATA);
    CHECK(std::string(knn_last_error()).starts_with("§engine: no such folder"));
    const knn_settings named = settings_of("a/§5§x");
    knn_index* none = nullptr;
    CHECK(knn_index_create(set.get(), &named, &none) == KNN_DATA);
    CHECK(std::string(knn_last_error()).starts_with("a/§5§x: cannot be read"));
    refused(KNN_INVALID, "metric l3: is unknown; expected l2, l1, lp, cosine, pearson",
            [](knn_settings& s) { s.metric = "l3"; });
    refused(KNN_INVALID, "weights", [](knn_settings& s) { s.weights = ""; });
    refused(KNN_INVALID, "tie", [](knn_settings& s) { s.tie = "smalest"; });
    refused(KNN_INVALID, "p", [](knn_settings& s) { s.p = 3; });
    const std::vector<float> numbers(40, 10);
    knn_vectors vectors = KNN_VECTORS(numbers.data(), 10, 4);
    vectors.type = KNN_FLOAT32;
    const Set reals = made_set(vectors, nullptr);
    for (const double p : {0.0, -1.0, 1e-300, 99.0, std::nan(""), HUGE_VAL})
        for (const knn_set* one : {set.get(), reals.get()}) {
            knn_settings settings = settings_of("raw");
            settings.metric = "lp";
            settings.p = p;
            REFUSED(KNN_INVALID, "is out of range; expected 0.1 to 15",
                    knn_index_create(one, &settings, &none));
        }
    for (const char* device : {"tpu", "gpu:", "gpu:x", "gpu:-1", "gpu:99999999999", ""})
        refused(KNN_INVALID, "; expected auto, cpu, gpu, gpu:N or gpu:all",
                [&](knn_settings& s) { s.device = device; });
    refused(KNN_INVALID, "engine fast", [](knn_settings& s) { s.engine = "fast"; });
    refused(KNN_INVALID, "engine classic", [](knn_settings& s) { s.engine = "classic"; });
    refused(KNN_INVALID, "threads", [](knn_settings& s) { s.threads = -1; });
    refused(KNN_INVALID, "memory", [](knn_settings& s) { s.memory = -1; });
    refused(KNN_INVALID, "memory", [](knn_settings& s) { s.memory = 1; });
    for (const int k : {-1, 16'385, std::numeric_limits<int>::min()})
        refused(KNN_INVALID, "k", [&](knn_settings& s) { s.k = k; });
    refused(KNN_INVALID, "k 1025", [](knn_settings& s) { s.method = "accurate", s.k = 1025; });
    refused(KNN_INVALID, "weights", [](knn_settings& s) { s.method = "accurate", s.weights = "distance"; });
}

TEST_CASE_FIXTURE(Opened, "library: what is no regular file is no saved index, no method and no set") {
    const TempFolder folder;
    const std::string pipe = folder / "pipe", missing = folder / "missing";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    folder.write("train-images-idx3-ubyte", idx_images(3, 28, 28));
    const std::string data = folder / "";
    knn_index* none = nullptr;
    for (const auto& [name, why] : {std::pair{pipe, "is no regular file"},
                                    {missing, "o such file"},
                                    {"/dev/zero", "is no regular file"}}) {
        knn_settings settings = settings_of(name.c_str());
        REFUSED(KNN_DATA, why, knn_index_open(set.get(), name.c_str(), nullptr, &none));
        REFUSED(KNN_DATA, why, knn_index_create(set.get(), &settings, &none));
        CHECK(none == nullptr);
        knn_set* made = nullptr;
        knn_files files{sizeof files, nullptr, name.c_str(), nullptr, 0, 1, 0};
        REFUSED(KNN_DATA, why, knn_set_open(&files, &made));
        std::swap(files.images, files.labels);
        files.folder = data.c_str();
        REFUSED(KNN_DATA, why, knn_set_open(&files, &made));
        files.reserved = 1;
        REFUSED(KNN_INVALID, "files: has reserved 1; expected 0", knn_set_open(&files, &made));
        files = {sizeof files, nullptr, name.c_str(), nullptr, 0, 7, 0};
        REFUSED(KNN_INVALID, "no_cache 7", knn_set_open(&files, &made));
    }
}

TEST_CASE("library: sets without labels or shape, and small ones, do what they can") {
    const DrawnSet drawn(3, 8);
    const Set set = made_set(drawn.vectors(), nullptr);
    knn_vectors flat = drawn.vectors();
    flat.image_rows = flat.image_cols = 0;
    const Set vectors = made_set(flat, drawn.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw")),
                    small = made_index(vectors, settings_of("raw"));
    Answers answers(3);
    const knn_vectors asked = drawn.vectors();
    REFUSED(KNN_INVALID, "labels", knn_classify(index.get(), &asked, nullptr, &answers.out));
    REFUSED(KNN_INVALID, "k 5", knn_classify(small.get(), &asked, nullptr, &answers.out));
    REFUSED(KNN_INVALID, "labels", knn_set_add(set.get(), &asked, drawn.labels.data()));
    REFUSED(KNN_INVALID, "labels", knn_set_read(set.get(), 0, 3, nullptr, answers.labels.data()));
    Found found(3, 3);
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    OK(knn_search(small.get(), &asked, nullptr, &found.out));
    knn_set_info info{};
    info.struct_size = sizeof info;
    OK(knn_set_get_info(vectors.get(), &info));
    CHECK((info.image_rows == 0 && info.image_cols == 0 && info.has_labels == 1 && info.dim == 784));
    for (const char* method : {"gradients", "accurate"}) {
        const knn_settings settings = settings_of(method, 1);
        knn_index* opened = nullptr;
        REFUSED(KNN_INVALID, std::string("method ") + method + ": transform gradients: compares images",
                knn_index_create(vectors.get(), &settings, &opened));
        OK(knn_index_create(set.get(), &settings, &opened));
        knn_index_free(opened);
    }
    const OpenIndex one = made_index(vectors, settings_of("raw", 1));
    OK(knn_classify_rows(one.get(), nullptr, 3, nullptr, &answers.out));
    Answers scored(3, true);
    OK(knn_classify(one.get(), &asked, nullptr, &scored.out));  // too few for a sample: shares of votes
    CHECK(scored.probabilities == scored.vote_shares);
}

TEST_CASE("library: borrowed vectors are not copied, and rows are added behind them") {
    DrawnSet drawn(40, 9);
    knn_vectors lent = drawn.vectors(0, 30);
    lent.borrowed = 1;
    const Set set = made_set(lent, drawn.labels.data());
    const OpenIndex index = made_index(set, settings_of("raw", 1));
    const knn_vectors more = drawn.vectors(30);
    OK(knn_set_add(set.get(), &more, drawn.labels.data() + 30));
    Answers answers(40);
    const knn_vectors all = drawn.vectors();
    OK(knn_classify(index.get(), &all, nullptr, &answers.out));
    CHECK(answers.labels == drawn.labels);
    drawn.pixels[5] = 77;
    std::vector<std::uint8_t> read(DrawnSet::dim);
    const Set same = made_set(lent, nullptr);
    drawn.pixels[5] = 78;
    OK(knn_set_read(same.get(), 0, 1, read.data(), nullptr));
    CHECK(read[5] == 78);
}

TEST_CASE_FIXTURE(Opened, "library: a set is freed before its index") {
    set.reset();
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    CHECK(found.indices[0] == 0);
    knn_files files{sizeof files, "/no/such/folder", nullptr, nullptr, 0, 1, 0};
    knn_set* made = nullptr;
    REFUSED(KNN_DATA, "/no/such/folder", knn_set_open(&files, &made));
    files.folder = nullptr;
    files.images = "/no/such/file";
    REFUSED(KNN_DATA, "/no/such/file", knn_set_open(&files, &made));
    files.first = -1;
    REFUSED(KNN_INVALID, "first", knn_set_open(&files, &made));
    ::setenv("MNIST_KNN_CACHE_MB", "much", 1);
    REFUSED(KNN_INVALID, "MNIST_KNN_CACHE_MB", knn_set_open(nullptr, &made));
    ::unsetenv("MNIST_KNN_CACHE_MB");
}

}  // namespace knn::test
