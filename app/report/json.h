#pragma once
/// The report for machines: schema mnist-knn/evaluate/1.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "classifier/evaluation.h"
#include "data/core/metric.h"

namespace knn {

std::string json_report(const Evaluation& evaluation);

/// The same as an object, from which the page of the report takes what it shows.
nlohmann::ordered_json report_object(const Evaluation& evaluation);

/// A device as all JSON output shows it; what is not known is left out.
nlohmann::ordered_json json_device(const Device& device);

/// A whole number where the metric's distances are.
nlohmann::ordered_json distance_json(const Measure& measure, std::uint32_t score);

/// JSON text with one member a line; lists of plain values stand on one line. Ends in a line feed.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace knn
