#pragma once
/// A picture to be encoded, and helpers to check decoded or refused ones. Needs OpenCV.

#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "tests/support/codecs.h"
#include "tests/support/test.h"

namespace knn::test {

/// 48×32, black in the upper left corner, gray in the upper right one, else white, so that each turn shows.
inline cv::Mat marked(int type = CV_8UC1, double white = 255) {
    cv::Mat mat(32, 48, type, cv::Scalar::all(white));
    mat(cv::Rect(0, 0, 16, 16)).setTo(cv::Scalar(0, 0, 0, white));
    mat(cv::Rect(32, 0, 16, 16)).setTo(cv::Scalar(white / 2, white / 2, white / 2, white));
    return mat;
}

inline std::vector<std::uint8_t> encoded(const char* format, const cv::Mat& mat = marked(),
                                         const std::vector<int>& options = {}) {
    std::vector<std::uint8_t> bytes;
    REQUIRE(codecs().imencode(format, mat, bytes, options));
    return bytes;
}

/// The corners, clockwise from the upper left one, as letters: black, gray or white.
inline std::string corners(const Picture& picture) {
    std::string result;
    const int right = picture.cols - 8, bottom = picture.rows - 8;
    for (const auto& [x, y] : {std::pair{8, 8}, {right, 8}, {right, bottom}, {8, bottom}}) {
        const int value = picture.gray[static_cast<std::size_t>(y * picture.cols + x)];
        result += value < 40 ? 'b' : value > 215 ? 'w' : 'g';
    }
    return result;
}

/// The error line for a file of these bytes; empty if it can be read.
inline std::string error_of(const std::vector<std::uint8_t>& bytes) {
    try {
        decode_picture(bytes, "it");
    } catch (const DataError& error) {
        const std::string text = error.what();
        CHECK(text.find('\n') == std::string::npos);
        CHECK(text.starts_with("it: "));
        CHECK(text.find("; expected") != std::string::npos);
        return text;
    }
    return "";
}

}  // namespace knn::test
