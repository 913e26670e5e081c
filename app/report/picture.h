#pragma once
/// Pictures, by OpenCV. A build without it links app/view/no_pictures.cpp, whose functions throw or return false.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/report/page.h"
#include "data/core/round_up.h"

namespace knn {

/// Whether this build can draw at all.
bool pictures_available();

/// The lines above the confusion matrix: accuracy, counts, method, images and device.
std::vector<std::string> confusion_words(const Evaluation& evaluation);

/// The confusion matrix as a PNG of at most about 1,000 × 1,000 pixels for any number of classes: labels,
/// counts if the cells are large enough, color scales.
std::vector<std::uint8_t> confusion_png(const Evaluation& evaluation);

// Contact sheets of digits.

/// One page of digits: "label → predicted", in one color if they are equal, index and confidence of each.
struct Sheet {
    std::string title;
    std::string words, legend;  ///< the two lines below the title
    const LabeledImages& images;
    std::vector<PageDigit> digits = {};
    std::int64_t of = 0;  ///< digits of all pages, if there are more
};

/// The most digits of one page.
inline constexpr std::int64_t sheet_digits = 168;

/// A PNG of at most about 1,500 × 1,800 pixels.
std::vector<std::uint8_t> sheet_png(const Sheet& sheet);

/// Number of pages for `digits` digits; at least one.
inline std::int64_t sheet_pages(std::int64_t digits) {
    return std::max<std::int64_t>(1, divide_up(digits, sheet_digits));
}

/// Page `page` (from 0) of the gallery: each digit with "true → predicted", its index and the confidence; above them how
/// many of how many they are, and the method.
Sheet sheet_of(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page);

/// The same as a PNG of at most about 1,500 × 1,800 pixels.
std::vector<std::uint8_t> sheet_png(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page);

}  // namespace knn
