#pragma once
/// The pages of the report and of `audit`, each of which is one file that needs no network and no other file.

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "classifier/evaluation.h"
#include "data/core/round_up.h"

namespace knn {

/// The files of app/report/page/, embedded by CMake; page_js: the scripts of both pages, one after the other.
extern const std::string_view page_css, page_html, audit_html, page_js;

/// The most neighbors that a page shows of a digit.
inline constexpr std::int64_t max_page_neighbors = 10;

/// Number of digits of `dim` pixels that fit in a page with this many neighbors each.
std::int64_t page_capacity(std::int64_t dim, std::int64_t neighbors);

/// One digit with what it is compared with, as a page, a window or a terminal shows it.
struct PageDigit {
    std::int64_t index;
    int label, predicted;
    double confidence;
    std::vector<VoteShare> votes = {};
    std::span<const Neighbor> neighbors = {};  ///< the nearest are shown
};

/// A test image that was classified.
PageDigit page_digit(const Evaluation& evaluation, std::int64_t image);

/// The test images that a page shows as digits, one card each.
struct Gallery {
    std::vector<std::int64_t> images;  ///< indices in the test set, below n_test, right or wrong
    std::string title;                 ///< the heading above them
    std::string order = "confidence";  ///< initially: confidence (highest first), index, or pair (of labels)
    std::int64_t found = 0;            ///< of how many these are the first, if there are more
};

/// The digits of a page, images of `shown`, and how they were compared; `train_labels` as they were searched.
struct PageDigits {
    std::string title, order;  ///< as in Gallery
    std::int64_t total;        ///< digits that there are
    std::vector<PageDigit> digits;
    const Dataset& data;
    const LabeledImages& shown;
    const std::uint8_t* train_labels;
    const Method& method;
};

/// A page with its data and digits; `parts`: HTML for the template by its name there. The scripts find in the data
/// gallery: {title, order, total, labels, classes, distance, digits[{index, label, predicted, confidence, tile,
/// votes[{label, share}], neighbors[{index, label, distance, tile}]}]}, where `labels` are those of the confusion matrix,
/// `classes` the names of all by label, if they have names, and `tile` is an index into one picture of all images, with sprite: {columns} tiles
/// per row.
std::string page_text(std::string_view html, nlohmann::json data, const PageDigits& digits,
                      const std::map<std::string, std::string>& parts = {});

/// 8-bit pixels of one channel (gray) or three (red, green, blue), rows × cols, contiguous, rows and cols at least 1, as a
/// PNG, by zlib: so that builds without OpenCV can write pages, and builds with it need not load OpenCV's image formats,
/// whose hundred libraries take longer to load than the rest of the program. Throws DataError if zlib fails (no memory).
std::vector<std::uint8_t> encode_png(const std::uint8_t* pixels, int rows, int cols, int channels);

/// For data: addresses in a page.
std::string base64(std::span<const std::uint8_t> bytes);

/// All misclassified images.
Gallery misclassified(const Evaluation& evaluation);

/// What the report's page has as HTML, to be read also where scripts do not run: headline, lead, matrix, classes, timing and
/// timing-note.
std::map<std::string, std::string> page_tables(const Evaluation& evaluation);

/// The summary, the confusion matrix, the tables of classes and of times, and the digits with their
/// neighbors. A page has at most 1,000 digits with 10 neighbors each, fewer if the images are large, and says
/// so; they are those of the highest confidence. Throws std::out_of_range if the gallery contains an image that was not
/// classified.
std::string html_page(const Evaluation& evaluation, const Gallery& gallery);

// The same for a terminal: digits as characters.

/// The lines of one image, 8-bit gray, rows × cols, in block characters, each of which shows two pixels, one above the other; if
/// wider or higher than 56 pixels, it is reduced first. A line has as many columns as the reduced image.
std::vector<std::string> block_lines(const std::uint8_t* gray, int rows, int cols);

/// Each digit of the gallery with its labels, votes and nearest neighbors. `found`: how many were selected
/// in all.
std::string block_text(const Evaluation& evaluation, const Gallery& gallery, std::int64_t found, bool color);

// Pictures, by OpenCV. A build without it links app/view/no_pictures.cpp, whose functions throw or return false.

/// Whether this build can draw at all.
bool pictures_available();

/// The lines above the confusion matrix: accuracy, counts, method, images and device.
std::vector<std::string> confusion_words(const Evaluation& evaluation);

/// The confusion matrix as a PNG of at most about 1,100 × 1,100 pixels for any number of classes: labels,
/// counts if the cells are large enough, color scales.
std::vector<std::uint8_t> confusion_png(const Evaluation& evaluation);

// Contact sheets of digits.

/// One page of digits: "label → predicted", in one color if they are equal, index and confidence of each.
struct Sheet {
    std::string title;
    std::string words, legend;  ///< the two lines below the title
    const Dataset& data;
    const LabeledImages& images;  ///< of data
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

}  // namespace knn
