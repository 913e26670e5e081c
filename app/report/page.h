#pragma once
/// The pages of the report and of `audit`, each of which is one file that needs no network and no other file.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// The files of app/report/page/, embedded by CMake; js: all scripts of a page, one after the other.
extern const std::string_view page_css, page_html, page_js, audit_html, audit_js;

/// Collects images of rows × cols pixels, which must outlive it.
class Sprite {
  public:
    Sprite(int rows, int cols) : rows_(rows), cols_(cols) {}

    /// The tile of image `index` of `images`; the same image gets the same tile.
    std::int64_t tile(const LabeledImages& images, std::int64_t index);

    /// Tiles per row.
    int columns() const;

    /// The picture: tiles in order, row by row. At least one row, because a PNG cannot be empty.
    std::vector<std::uint8_t> png() const;

  private:
    int rows_, cols_;
    std::vector<const std::uint8_t*> tiles_;
    std::map<const std::uint8_t*, std::int64_t> numbers_;
};

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
};

/// The images that a page shows, and how they were compared; `train_labels` as they were searched.
struct PageImages {
    const LabeledImages &shown, &train;
    const std::uint8_t* train_labels;
    const Method& method;
};

/// {title, order, total, distance, digits[{index, label, predicted, confidence, tile, votes[{label, share}],
/// neighbors[{index, label, distance, tile}]}]} where `tile` is an index into the sprite, which receives the images.
/// total: digits that there are.
nlohmann::json gallery_json(const Gallery& gallery, std::int64_t total, const std::vector<PageDigit>& digits,
                            const PageImages& images, Sprite& sprite);

/// A page of these scripts: its data, which gets the sprite's size, its images, and an SVG for the page that shows one.
std::string page_text(std::string_view html, std::string_view js, nlohmann::json& data, const Sprite& sprite,
                      std::string_view svg = {});

/// For data: addresses in a page.
std::string base64(std::span<const std::uint8_t> bytes);

/// All misclassified images.
Gallery misclassified(const Evaluation& evaluation);

/// The summary, the confusion matrix, the tables of classes and of times, and the digits with their
/// neighbors. A page has at most 1,000 digits with 10 neighbors each, fewer if the images are large, and says
/// so; they are taken from all cells of the matrix in turn, highest confidence first. Throws
/// std::out_of_range if the gallery contains an image that was not classified.
std::string html_page(const Evaluation& evaluation, const Gallery& gallery);

// The same for a terminal: digits as characters.

/// Characters for an image, each of which shows two pixels, one above the other: letters of increasing ink,
/// block characters, or block characters in 24 grays (escape codes for 256 colors).
enum class Blocks { ascii, unicode, color };

/// The lines of one image, 8-bit gray, rows × cols; if wider or higher than 56 pixels, it is reduced
/// first. A line has as many columns as the reduced image.
std::vector<std::string> block_lines(const std::uint8_t* gray, int rows, int cols, Blocks blocks);

/// Each digit of the gallery with its labels, votes and nearest neighbors. `found`: how many were selected
/// in all.
std::string block_text(const Evaluation& evaluation, const Gallery& gallery, std::int64_t found,
                       Blocks blocks);

}  // namespace knn
