#include "classifier/features.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cpu/transform/transform.h"
#include "data/set/locate.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/skip.h"
#include "tests/support/surroundings.h"
#include "tests/support/temp_folder.h"
#include "tests/support/transform_oracle.h"
#include "tests/support/unprivileged.h"

using namespace knn;
using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// A data set of gzip files and a cache folder, for one test.
struct Kept {
    TempFolder folder;
    Surroundings surroundings{folder.path()};

    Kept() {
        surroundings.set("XDG_CACHE_HOME", (folder / "cache").string());
        write(40);
    }
    void write(std::uint32_t train) const {
        folder.write("d/train-images-idx3-ubyte.gz", gzip(idx_images(train, 9, 7)));
        folder.write("d/train-labels-idx1-ubyte.gz", gzip(idx_labels(train)));
    }
    TrainingSet training() const {
        DataOptions options;
        options.folder = (folder / "d").string();
        return load_training(locate_training(options), true, 1);
    }
    /// The files of features.
    std::vector<fs::path> entries() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(folder / "cache/mnist-knn"))
            if (entry.path().filename().string().starts_with("features-")) found.push_back(entry.path());
        return found;
    }
};

/// The features as `classify` gets them, of the first `n` images.
Features features_now(const TrainingSet& set, const std::string& text, std::int64_t n = 0,
                      bool use_cache = true) {
    return load_features(set, set.images.first(n > 0 ? n : set.images.count),
                         parse_transform("--transform", text), use_cache, 2, nullptr);
}

bool is_from_cache(const Features& features) {
    return features.made.empty() && features.mapped.span().data() != nullptr;
}

/// The features are those of the oracle, and a query gets the same transform.
void check_right(const Features& features, const TrainingSet& set, const std::string& text,
                 std::int64_t n = 0) {
    const knn::Rows images = set.images.first(n > 0 ? n : set.images.count);
    const FittedTransform fitted =
        cpu::fit(parse_transform("--transform", text), images, {set.rows, set.cols});
    const test::Rows expected = features_of(fitted, images);
    CHECK(features.transform.spec == fitted.spec);
    REQUIRE(features.rows.count == expected.n);
    REQUIRE(features.rows.dim == expected.dim);
    CHECK(std::equal(expected.pixels.begin(), expected.pixels.end(), features.rows.pixels));
    const test::Rows query = random_rows(3, images.dim, 8);
    const knn::Rows rows{query.pixels.data(), query.n, query.dim};
    CHECK(cpu::features(features.transform, rows) == features_of(fitted, rows).pixels);
}

const std::vector<std::string> texts = {"gradients",      "hog", "deskew", "pca:5", "deskew,pca:7,pca:3",
                                        "gradients,pca:4"};

}  // namespace

TEST_CASE("features: made once, then read from the cache, fitted projections too") {
    const Kept kept;
    const TrainingSet set = kept.training();
    for (const std::string& text : texts) {
        CAPTURE(text);
        for (const bool cached : {false, true, true}) {
            const Features features = features_now(set, text);
            CHECK(is_from_cache(features) == cached);
            check_right(features, set, text);
        }
        CHECK_FALSE(is_from_cache(features_now(set, text, 0, false)));
    }
    CHECK(kept.entries().size() == texts.size());
}

TEST_CASE("features: raw ones are the images, and nothing is kept") {
    const Kept kept;
    const TrainingSet set = kept.training();
    const Features features = features_now(set, "raw");
    CHECK(features.rows.pixels == set.images.pixels);
    CHECK(features.transform.is_raw());
    CHECK(kept.entries().empty());
}

TEST_CASE("features: another list, number of images or file is another entry") {
    const Kept kept;
    {
        const TrainingSet set = kept.training();
        REQUIRE_FALSE(is_from_cache(features_now(set, "pca:5")));
        for (const std::string text : {"pca:6", "deskew,pca:5", "deskew:0.5,pca:5"}) {
            CHECK_FALSE(is_from_cache(features_now(set, text)));
            check_right(features_now(set, text), set, text);
        }
        CHECK_FALSE(is_from_cache(features_now(set, "pca:5", 39)));
        check_right(features_now(set, "pca:5", 39), set, "pca:5", 39);
        CHECK(is_from_cache(features_now(set, "pca:5")));  // all of them are kept side by side
    }
    kept.write(39);
    const TrainingSet changed = kept.training();
    CHECK_FALSE(is_from_cache(features_now(changed, "pca:5")));
    check_right(features_now(changed, "pca:5"), changed, "pca:5");
}

TEST_CASE("features: a damaged or cut entry is made anew") {
    const Kept kept;
    const TrainingSet set = kept.training();
    for (const std::string text : {"pca:5", "gradients"}) {
        features_now(set, text);
        REQUIRE(is_from_cache(features_now(set, text)));
        for (const bool cut : {true, false}) {
            for (const fs::path& entry : kept.entries()) {
                std::string bytes = read_file(entry);
                bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 4);
                if (cut) bytes.resize(bytes.size() - 1);
                std::ofstream(entry, std::ios::binary | std::ios::trunc) << bytes;
            }
            const Features anew = features_now(set, text);
            CHECK_FALSE(is_from_cache(anew));
            check_right(anew, set, text);
            CHECK(is_from_cache(features_now(set, text)));
        }
    }
}

TEST_CASE("features: an entry whose content does not fit its key is made anew") {
    const Kept kept;
    const TrainingSet set = kept.training();
    features_now(set, "pca:5");
    REQUIRE(kept.entries().size() == 1);
    const std::string file = kept.entries()[0].filename();
    const std::string key = set.key + "pca:5 of 40 features 2";
    const auto content = [&] {
        const auto bytes = read_cached(file, key, 1);
        REQUIRE(bytes.has_value());
        return std::vector<std::uint8_t>(bytes->span().begin(), bytes->span().end());
    };
    const std::vector<std::uint8_t> good = content();
    std::vector<std::uint8_t> wrong_size(good.begin(), good.end() - 1), wrong_head = good;
    wrong_head[0] ^= 1;
    for (const std::vector<std::uint8_t>& bad :
         {wrong_size, wrong_head, std::vector<std::uint8_t>{1, 2, 3}, {}}) {
        const std::array<std::span<const std::uint8_t>, 1> pieces = {bad};
        write_cached(file, key, pieces);
        const Features anew = features_now(set, "pca:5");
        CHECK_FALSE(is_from_cache(anew));
        check_right(anew, set, "pca:5");
        CHECK(content() == good);
    }
}

TEST_CASE("features: a cache that cannot be written or used is no error") {
    Kept kept;
    const TrainingSet set = kept.training();
    kept.surroundings.set("XDG_CACHE_HOME", "/dev/null");
    for (int i = 0; i < 2; ++i) {
        const Features features = features_now(set, "pca:5");
        CHECK_FALSE(is_from_cache(features));
        check_right(features, set, "pca:5");
    }
    kept.surroundings.set("XDG_CACHE_HOME", (kept.folder / "cache").string());
    const fs::path folder = kept.folder / "cache/mnist-knn";
    features_now(set, "hog");
    fs::permissions(kept.folder.path(), fs::perms::all);
    fs::permissions(kept.folder / "cache", fs::perms::all);
    if (::geteuid() == 0) {
        REQUIRE(::chown(folder.c_str(), Unprivileged::user, gid_t(-1)) == 0);
        for (const auto& entry : fs::directory_iterator(folder))
            REQUIRE(::chown(entry.path().c_str(), Unprivileged::user, gid_t(-1)) == 0);
    }
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    {
        const Unprivileged user;
        if (!user.is_ordinary()) return skip("cannot act as an ordinary user");
        CHECK(is_from_cache(features_now(set, "hog")));
        const Features features = features_now(set, "pca:5");
        CHECK_FALSE(is_from_cache(features));
        check_right(features, set, "pca:5");
    }
    fs::permissions(folder, fs::perms::owner_all);
    CHECK(kept.entries().size() == 1);
}

TEST_CASE("features: a transform that does not suit the images is one line") {
    const Kept kept;
    const TrainingSet set = kept.training();
    CHECK_THROWS_WITH_AS(features_now(set, "pca:41"),
                         "transform pca: 41 components of 40 images of 63 bytes; expected 1 to 40",
                         UsageError);
}
