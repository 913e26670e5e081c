#pragma once
/// The answers of `classify` for people and machines, and one picture that explains them.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "classifier/picture_answers.h"

namespace knn {

/// The digit, or ? for one that was rejected.
std::string symbol(const Answer& answer);
/// "? (1, 62 %)": what a rejected digit would be.
std::string symbol_and_guess(const Answer& answer);

/// The digits of a page as text: one line for each row of the page, a space where a wide gap separates
/// numbers; ? for a digit that was rejected, and for a page without any; with the marks that were asked for. Rows without a single
/// digit, which are text, are left out if another has one. Of a form its fields; of a grid, with this many columns, its
/// rows, with . for an empty cell.
std::vector<std::string> page_lines(const PictureAnswer& page, int columns = 0);

/// How many digits of a page were answered and rejected: "3 digits, 1 rejected".
std::string digits_text(const PictureAnswer& page);

/// For people: what was found, how sure that is, and the nearest training images with their
/// distances, but for pictures that failed. With `quiet` the digits alone, of a picture that failed "error".
std::string answers_text(const PictureAnswers& answers, bool quiet, bool color);

/// For machines: schema mnist-knn/classify/2, an object with the array `pictures`; `version` 1 is this array alone.
std::string answers_json(const PictureAnswers& answers, int version = 2);
/// The object of version 2.
nlohmann::ordered_json answers_object(const PictureAnswers& answers);

/// Maximum number of pictures that are explained, one below the other.
inline constexpr std::size_t max_explained = 50;

/// Reduces a step to the size in which it will be shown; the input of a page stays larger.
void reduce_step(Step& step, bool page);

/// Maximum number of neighbors drawn per picture.
inline constexpr std::size_t max_neighbors_drawn = 20;

/// The heading of a picture's neighbors, of which the first max_neighbors_drawn are drawn.
std::string neighbors_heading(std::size_t neighbors, const Method& method);

/// The heading of the candidates before re-ranking.
std::string candidates_heading(std::size_t candidates, const Method& method);

/// The rank of a neighbor among the candidates before re-ranking: "was 7 of 96".
std::string rank_before(const Answer& answer, const Neighbor& neighbor);

/// A PNG: for each picture with steps its input, each step, the 28×28 result, and the nearest training images
/// with labels and distances; with re-ranking also the candidates before it, and where pixels moved; for a page, the
/// page with a box and the answer for each digit. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> explanation_png(const PictureAnswers& answers);

}  // namespace knn
