#pragma once
/// OpenCV's image formats, in a module that is loaded on first use: their hundred libraries took most of the time of each test's start.

#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

namespace knn::test {

/// What the module exports, as `extern "C" const Codecs knn_test_codecs`: the functions of cv with these names.
struct Codecs {
    bool (*imencode)(const std::string& format, cv::InputArray image, std::vector<std::uint8_t>& bytes,
                     const std::vector<int>& options);
    cv::Mat (*imdecode)(cv::InputArray bytes, int flags);
    bool (*imwrite)(const std::string& file, cv::InputArray image, const std::vector<int>& options);
};

/// Loads the module on the first call, from the program's own folder. Throws DataError if it is missing.
const Codecs& codecs();

}  // namespace knn::test
