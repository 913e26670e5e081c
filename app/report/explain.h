#pragma once
/// How each answer of `classify` came about, as one picture.

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/answers.h"

namespace knn {

/// The most pictures that are explained, one below the other.
inline constexpr std::size_t most_explained = 50;

/// Shrinks a step to the size in which it will be shown; the input of a page stays larger.
void reduce_step(Step& step, bool page);

/// The most neighbors that are drawn of one picture.
inline constexpr std::size_t most_neighbors_drawn = 20;

/// The words above a picture's neighbors, of which the first most_neighbors_drawn are drawn.
std::string neighbors_heading(std::size_t neighbors, Metric metric);

/// A PNG: for each picture with steps its input, each step, the 28×28 result, and beside it the nearest
/// training images with labels and distances; for a page the page with a box and the digit for each
/// one found. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> explanation_png(const PictureAnswers& answers);

}  // namespace knn
