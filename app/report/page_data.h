#pragma once
/// What the scripts of the page read.

#include <nlohmann/json_fwd.hpp>

#include "app/report/html.h"
#include "app/report/sprite.h"

namespace knn {

/// The parts of report.json that the page shows, under their names there, and besides them
///   gallery{title, order, total, distance (what it is called), digits[{index, label, predicted, confidence,
///   tile, votes[{label, share}],
///           neighbors[{index, label, distance, tile}]}]}, sprite{columns}
/// where `tile` counts the images of `sprite`, which gets those that the page needs.
nlohmann::json page_data(const Evaluation& evaluation, const Gallery& gallery, Sprite& sprite);

}  // namespace knn
