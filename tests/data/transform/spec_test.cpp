#include "data/transform/spec.h"

#include "data/core/errors.h"
#include "data/core/problem.h"
#include "tests/support/test.h"

namespace knn {

namespace {

using enum TransformKind;

UnsupportedReason refused(const std::string& text, ImageShape image, std::int64_t n_train) {
    return refuse_transform(parse_transform("--transform", text), image, n_train);
}

std::int64_t dim_of(const std::string& text, ImageShape image) {
    return output_dim(parse_transform("--transform", text), image);
}

}  // namespace

TEST_CASE("transform: lists are read, and written as short as they can be") {
    struct Case {
        const char* text;
        std::vector<TransformStep> steps;
        const char* short_text;
    };
    const std::vector<Case> cases = {
        {"raw", {}, "raw"},
        {"raw,raw", {}, "raw"},
        {"deskew", {{deskew, 1}}, "deskew"},
        {"deskew:1", {{deskew, 1}}, "deskew"},
        {"deskew:0.75", {{deskew, 0.75}}, "deskew:0.75"},
        {"deskew:0", {{deskew, 0}}, "deskew:0"},
        {"deskew:2", {{deskew, 2}}, "deskew:2"},
        {"normalize", {{normalize, 0}}, "normalize"},
        {"blur", {{blur, 1}}, "blur"},
        {"blur:.5", {{blur, 0.5}}, "blur:0.5"},
        {"blur:2e0", {{blur, 2}}, "blur:2"},
        {"blur:0.1", {{blur, 0.1}}, "blur:0.1"},
        {"blur:20", {{blur, 20}}, "blur:20"},
        {"pca:50", {{pca, 50}}, "pca:50"},
        {"pca:4096", {{pca, 4096}}, "pca:4096"},
        {"hog", {{hog, 0}}, "hog"},
        {"gradients", {{gradients, 0}}, "gradients"},
        {"deskew,raw,pca:100", {{deskew, 1}, {pca, 100}}, "deskew,pca:100"},
        {"gradients,pca:9,pca:3", {{gradients, 0}, {pca, 9}, {pca, 3}}, "gradients,pca:9,pca:3"},
        {"deskew,deskew", {{deskew, 1}, {deskew, 1}}, "deskew,deskew"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.text);
        const TransformSpec spec = parse_transform("--transform", one.text);
        CHECK(spec.steps == one.steps);
        CHECK(spec.text() == one.short_text);
        CHECK(spec.is_raw() == one.steps.empty());
        CHECK(parse_transform("--transform", spec.text()) == spec);
    }
}

TEST_CASE("transform: the line for every list that cannot be read") {
    const std::string known =
        "expected raw, deskew[:S], normalize, blur[:SIGMA], pca:N, hog, gradients, minmax, zscore";
    const std::string s = " is no number from 0 to 2; expected deskew:S";
    const std::string sigma = " is no number from 0.1 to 20; expected blur:SIGMA";
    const std::string n = " is no whole number from 1 to 4096; expected pca:N";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "unknown transform ''; " + known},
        {"deskew,", "unknown transform ''; " + known},
        {"deskew,,blur", "unknown transform ''; " + known},
        {"gradient", "unknown transform 'gradient'; " + known + " (did you mean gradients?)"},
        {"deskew,normalise", "unknown transform 'normalise'; " + known + " (did you mean normalize?)"},
        {"desekw:1", "unknown transform 'desekw'; " + known + " (did you mean deskew?)"},
        {" hog", "unknown transform ' hog'; " + known + " (did you mean hog?)"},
        {"sift", "unknown transform 'sift'; " + known},
        {"deskew;blur", "unknown transform 'deskew;blur'; " + known},
        {":1", "unknown transform ''; " + known},
        {"deskew:", "S = ''" + s},
        {"deskew:-0.1", "S = '-0.1'" + s},
        {"deskew:2.01", "S = '2.01'" + s},
        {"deskew:1x", "S = '1x'" + s},
        {"deskew:nan", "S = 'nan'" + s},
        {"deskew:1:1", "S = '1:1'" + s},
        {"blur:0.09", "SIGMA = '0.09'" + sigma},
        {"blur:20.5", "SIGMA = '20.5'" + sigma},
        {"blur:1e999", "SIGMA = '1e999'" + sigma},
        {"pca:0", "N = '0'" + n},
        {"pca:-3", "N = '-3'" + n},
        {"pca:2.5", "N = '2.5'" + n},
        {"pca:4097", "N = '4097'" + n},
        {"pca:", "N = ''" + n},
        {"pca", "pca has no N; expected pca:N, such as pca:50"},
        {"raw:1", "raw takes no parameter; expected none"},
        {"normalize:2", "normalize takes no parameter; expected none"},
        {"hog:", "hog takes no parameter; expected none"},
        {"gradients:16", "gradients takes no parameter; expected none"},
        {"hog,deskew", "deskew needs an image, and hog makes none; expected it before that"},
        {"gradients,gradients",
         "gradients needs an image, and gradients makes none; expected it before that"},
        {"pca:5,normalize", "normalize needs an image, and pca makes none; expected it before that"},
        {"gradients,pca:5,blur", "blur needs an image, and pca makes none; expected it before that"},
    };
    for (const auto& [text, why] : cases)
        CHECK(test::error_of<UsageError>([&list = text] { parse_transform("--transform", list); }) ==
              "--transform " + text + ": " + why);
}

TEST_CASE("transform: at most 64 steps, counted before any is read") {
    std::string list = "normalize";
    for (int i = 1; i < 64; ++i)
        list += ",normalize";
    CHECK(parse_transform("--transform", list).steps.size() == 64);
    list += ",unknown";
    CHECK(test::error_of<UsageError>([&] { parse_transform("--transform", list); }) ==
          "--transform: has 65 transforms; expected at most 64");
}

TEST_CASE("transform: the number of features") {
    constexpr ImageShape digit{28, 28};
    CHECK(dim_of("raw", digit) == 784);
    CHECK(dim_of("deskew,normalize,blur", digit) == 784);
    CHECK(dim_of("pca:50", digit) == 50);
    CHECK(dim_of("gradients", digit) == 7 * 7 * 16);
    CHECK(dim_of("gradients,pca:60", digit) == 60);
    CHECK(dim_of("hog", digit) == 6 * 6 * 4 * 9);
    CHECK(dim_of("hog", {1, 784}) == 195 * 2 * 9);  // blocks of one row of cells
    CHECK(dim_of("hog", {5, 3}) == 9);
    // Cells of about 4 pixels: 1 for less than 6, then one for each 4.
    for (const auto& one :
         {std::pair{1, 1}, {2, 1}, {5, 1}, {6, 2}, {9, 2}, {10, 3}, {257, 64}, {784, 196}}) {
        const auto [side, cells] = one;
        CAPTURE(one.first);
        CHECK(dim_of("gradients", {side, side}) == std::int64_t{cells} * cells * 16);
        CHECK(dim_of("gradients", {1, side}) == cells * 16);
        CHECK(dim_of("gradients", {side, 1}) == cells * 16);
    }
}

TEST_CASE("transform: what cannot be fitted is refused in one line") {
    constexpr ImageShape digit{28, 28};
    CHECK_FALSE(refused("raw", digit, 1));
    CHECK_FALSE(refused("deskew,normalize,blur,gradients", {1, 1}, 1));
    CHECK_FALSE(refused("hog", {1, 784}, 1));
    CHECK_FALSE(refused("gradients", {257, 257}, 1));
    CHECK_FALSE(refused("pca:784", digit, 784));
    CHECK_FALSE(refused("pca:1", {1, 1}, 1));
    CHECK_FALSE(refused("pca:50,pca:50", digit, 50));
    CHECK(*refused("pca:785", digit, 60'000) ==
          "transform pca: 785 components of 60,000 images of 784 bytes; expected 1 to 784");
    CHECK(*refused("pca:50", digit, 49) ==
          "transform pca: 50 components of 49 images of 784 bytes; expected 1 to 49");
    CHECK(*refused("pca:50,pca:51", digit, 60'000) ==
          "transform pca: 51 components of 60,000 images of 50 bytes; expected 1 to 50");
    CHECK(*refused("pca:1", {65, 64}, 60'000) ==
          "transform pca: rows of 4,160 bytes are too long; expected at most 4,096");
    CHECK_FALSE(refused("pca:1", {64, 64}, 60'000));
    CHECK(*refused("gradients", {256, 258}, 5) ==
          "transform gradients: 66,560 features of 256x258 pixels are too many; expected at most 66,051");
    CHECK_FALSE(refused("gradients", {256, 256}, 5));
    CHECK(*refused("hog", {257, 257}, 5) ==
          "transform hog: 142,884 features of 257x257 pixels are too many; expected at most 66,051");
    CHECK(*refused("minmax", {257, 257}, 5) ==
          "transform minmax: 66,049 features of 257x257 pixels are too many; expected at most 65,536");
    CHECK_FALSE(refused("zscore", {256, 256}, 5));
}

}  // namespace knn
