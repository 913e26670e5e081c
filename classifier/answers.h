#pragma once
/// What `classify` found out about each picture, and its forms for people and machines.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/core/metric.h"
#include "data/core/searcher.h"
#include "data/picture/digit_image.h"

namespace knn {

/// One digit of a picture.
struct Answer {
    DigitImage image;
    std::optional<int> label;  ///< none: rejected, with a `reason`
    std::string reason;
    double confidence = 0;                   ///< the winner's share of the votes, also where it is rejected
    std::vector<std::pair<int, int>> votes;  ///< labels that neighbors have, ascending, and how many
    std::vector<Neighbor> neighbors;         ///< in order; empty where there was nothing to search for
};

/// One picture, whose answer is an `error` or `digits`.
struct PictureAnswer {
    std::string file;
    std::string error;           ///< "what is wrong; what was expected"
    int rows = 0, cols = 0;      ///< of the picture
    std::vector<Answer> digits;  ///< exactly one unless pages were asked for
    std::vector<Step> steps;     ///< where they shall be explained; reduced in size
};

struct Answers {
    bool pages = false;  ///< pictures with any number of digits (--many)
    Rows train;     ///< 28×28
    std::span<const std::uint8_t> labels;
    Measure measure;
    std::vector<PictureAnswer> pictures;  ///< in the order given
};

/// The digits of a page as text: one line for each row of the page, a space where a wide gap separates
/// numbers; ? for a digit that was rejected, and for a page without any.
std::vector<std::string> page_lines(const PictureAnswer& page);

/// For people: what was found, how sure that is, and the nearest training images with their
/// distances. With `quiet` the digits alone. Pictures that failed are left out.
std::string answers_text(const Answers& answers, bool quiet, bool color);

/// For machines: schema mnist-knn/classify/1.
std::string answers_json(const Answers& answers);

}  // namespace knn
