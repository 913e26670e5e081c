#pragma once
/// The machine-readable report: schema mnist-knn/evaluate/1.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "classifier/evaluation.h"
#include "data/core/metric.h"

namespace knn {

std::string json_report(const Evaluation& evaluation);

/// The same as an object, from which the report's page takes its data.
nlohmann::ordered_json report_object(const Evaluation& evaluation);

/// A device as in all JSON output; unknown members are omitted.
nlohmann::ordered_json json_device(const Device& device);

/// What is computed and where: the settings of a report.
nlohmann::ordered_json settings_json(const Method& method, const Plan& plan);

/// Stages, sums and total times of a search of `images` images.
nlohmann::ordered_json timing_json(const Timeline& timeline, std::int64_t images, double search_ms,
                                   double load_ms, double wall_ms);

/// An integer if the metric's distances are integral.
nlohmann::ordered_json distance_json(const Measure& measure, std::uint32_t score);

/// JSON text with one member per line; lists of plain values are on one line. Ends with a line feed.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace knn
