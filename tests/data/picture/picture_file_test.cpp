#include <doctest/doctest.h>

#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "tests/support/decoded.h"
#include "tests/support/temp_folder.h"

using namespace knn::test;
using knn::DataError;
using knn::Picture;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// 48×32, black in the upper left corner and gray in the upper right one, so that each turn shows.
cv::Mat marked(int type = CV_8UC1, double white = 255) {
    cv::Mat mat(32, 48, type, cv::Scalar::all(white));
    mat(cv::Rect(0, 0, 16, 16)).setTo(cv::Scalar(0, 0, 0, white));
    mat(cv::Rect(32, 0, 16, 16)).setTo(cv::Scalar(white / 2, white / 2, white / 2, white));
    return mat;
}

Bytes encoded(const char* format, const cv::Mat& mat, const std::vector<int>& options = {}) {
    Bytes bytes;
    REQUIRE(cv::imencode(format, mat, bytes, options));
    return bytes;
}

void insert_exif(Bytes& jpeg, int orientation) {
    Bytes exif = {0xff, 0xe1, 0, 34, 'E', 'x',  'i',  'f', 0, 0, 'M', 'M', 0, 42, 0,
                  0,    0,    8, 0,  1,   0x01, 0x12, 0,   3, 0, 0,   0,   1, 0,  std::uint8_t(orientation),
                  0,    0,    0, 0,  0,   0};
    jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
}

}  // namespace

TEST_CASE("picture file: every format, told apart by content") {
    for (const char* format : {".png", ".jpg", ".bmp", ".tiff", ".webp", ".pgm"}) {
        CAPTURE(format);
        const TempFolder folder;
        const Bytes bytes = encoded(format, marked());
        const auto file = folder.write("wrong.txt", std::string(bytes.begin(), bytes.end()));
        const Picture picture = knn::read_picture(file.string());
        CHECK(picture.cols == 48);
        CHECK(picture.rows == 32);
        CHECK(picture.gray.size() == 48 * 32);
        CHECK(corners(picture) == "bgww");
    }
}

TEST_CASE("picture file: all eight orientations of EXIF") {
    // Positions of the stored corners, clockwise b g w w, in the upright picture (EXIF 2.3, table 6).
    const char* expected[] = {"bgww", "gbww", "wwbg", "wwgb", "bwwg", "wbgw", "wgbw", "gwwb"};
    for (int orientation = 1; orientation <= 8; ++orientation) {
        CAPTURE(orientation);
        Bytes bytes = encoded(".jpg", marked());
        insert_exif(bytes, orientation);
        const Picture picture = knn::decode_picture(bytes, "it");
        CHECK(picture.cols == (orientation >= 5 ? 32 : 48));
        CHECK(corners(picture) == expected[orientation - 1]);
    }
}

TEST_CASE("picture file: depth, color and transparency") {
    for (const char* format : {".png", ".tiff"}) {
        CAPTURE(format);
        CHECK(corners(knn::decode_picture(encoded(format, marked(CV_16UC1, 65535)), "it")) == "bgww");
        CHECK(corners(knn::decode_picture(encoded(format, marked(CV_16UC3, 65535)), "it")) == "bgww");
    }
    CHECK(corners(knn::decode_picture(encoded(".png", marked() > 60, {cv::IMWRITE_PNG_BILEVEL, 1}), "it")) ==
          "bwww");
    // Black ink with the picture in its opacity; transparent pixels show white.
    cv::Mat ink(32, 48, CV_8UC4, cv::Scalar(0, 0, 0, 0));
    ink(cv::Rect(0, 0, 16, 16)).setTo(cv::Scalar(0, 0, 0, 255));
    ink(cv::Rect(32, 0, 16, 16)).setTo(cv::Scalar(0, 0, 0, 128));
    for (const char* format : {".png", ".tiff", ".webp"}) {
        CAPTURE(format);
        CHECK(corners(knn::decode_picture(encoded(format, ink), "it")) == "bgww");
    }
    const Bytes progressive = encoded(".jpg", marked(), {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
    CHECK(corners(knn::decode_picture(progressive, "it")) == "bgww");
}

TEST_CASE("picture file: of several pages the first") {
    Bytes bytes;
    const TempFolder folder;
    const std::string file = (folder.path() / "pages.tiff").string();
    REQUIRE(cv::imwritemulti(file, std::vector<cv::Mat>{marked(), cv::Mat(10, 10, CV_8U, cv::Scalar(0))}));
    CHECK(corners(knn::read_picture(file)) == "bgww");
}

TEST_CASE("picture file: cut short at every hundredth of its length") {
    cv::Mat noisy(64, 64, CV_8UC3);
    cv::RNG(1).fill(noisy, cv::RNG::UNIFORM, 0, 255);
    for (const char* format : {".png", ".jpg", ".bmp", ".tiff", ".webp", ".ppm"}) {
        const Bytes whole = encoded(format, noisy);
        REQUIRE(error_of(whole).empty());
        for (std::size_t percent = 0; percent < 100; ++percent) {
            CAPTURE(format);
            CAPTURE(percent);
            const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() * percent / 100));
            CHECK_FALSE(error_of(part).empty());
        }
    }
}

TEST_CASE("picture file: what is no picture, or too large, or lies") {
    CHECK(error_of({}).find("is empty") != std::string::npos);
    CHECK(error_of({'h', 'e', 'l', 'l', 'o'}).find("is no picture") != std::string::npos);
    Bytes png = encoded(".png", marked());
    png[16] = 0, png[17] = 1;  // 65,584 pixels wide
    png[20] = 0, png[21] = 1;
    CHECK(error_of(png).find("has 65584x65568 pixels; expected at most 100 megapixels") != std::string::npos);
    Bytes pgm = {'P', '5', '\n', '9', '9', '9', ' ', '9', '9', '9', '\n', '2', '5', '5', '\n', 1, 2, 3};
    CHECK(error_of(pgm).find("is cut short") != std::string::npos);
    const TempFolder folder;
    CHECK_THROWS_WITH_AS(knn::read_picture(folder.path().string()),
                         doctest::Contains("is a folder; expected a picture"), DataError);
    CHECK_THROWS_WITH_AS(knn::read_picture((folder.path() / "none.png").string()),
                         doctest::Contains("cannot be read: No such file"), DataError);
}
