#pragma once
/// The data for the scripts of the page.

#include <nlohmann/json_fwd.hpp>

#include "app/report/html.h"
#include "app/report/sprite.h"

namespace knn {

/// The parts of report.json that the page shows, with the same names, and
///   gallery{title, order, total, distance (its name),
///           digits[{index, label, predicted, confidence, tile, votes[{label, share}],
///                   neighbors[{index, label, distance, tile}]}]}, sprite{columns}
/// where `tile` is an index into `sprite`, which receives the images that the page needs.
nlohmann::json page_data(const Evaluation& evaluation, const Gallery& gallery, Sprite& sprite);

}  // namespace knn
