#pragma once
/// The machine-readable report, schema mnist-knn/evaluate/1, and the parts that it shares with the JSON of other commands.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "classifier/evaluation.h"
#include "data/core/metric.h"

namespace knn {

/// What all JSON begins with: the schema, and the program's name and version.
nlohmann::ordered_json json_head(const char* schema);
nlohmann::ordered_json program_json();

std::string json_report(const Evaluation& evaluation);

/// The same as an object, from which the report's page takes its data.
nlohmann::ordered_json report_object(const Evaluation& evaluation);

struct Inventory;
/// What `info` writes: schema mnist-knn/info/1.
std::string inventory_json(const Inventory& inventory);

/// A device as in all JSON output; unknown members are omitted.
nlohmann::ordered_json json_device(const Device& device);

/// What is computed and where: the settings of a report.
nlohmann::ordered_json settings_json(const Method& method, const Plan& plan);
/// The same without what has no effect where nothing votes.
nlohmann::ordered_json neighbor_settings_json(const Method& method, const Plan& plan);

/// Stages, sums and total times of a search of `images` images.
nlohmann::ordered_json timing_json(const Timeline& timeline, std::int64_t images, double search_ms,
                                   double load_ms, double wall_ms);

/// A list of index, label and distance: an integer if the metric's distances are integral. `classes`: as in Dataset.
nlohmann::ordered_json neighbors_json(std::span<const Neighbor> neighbors, const std::uint8_t* labels,
                                      const Measure& measure, const std::vector<std::string>& classes = {});

/// A label: a number, or the name of its class.
nlohmann::ordered_json label_json(int label, const std::vector<std::string>& classes);

/// The size of the rows of a data set: rows and cols of images, else type and columns.
void put_shape(nlohmann::ordered_json& object, const Dataset& data);

/// JSON text with one member per line; lists of plain values are on one line. Ends with a line feed.
std::string json_text(const nlohmann::ordered_json& value);

// File names in all JSON, which is UTF-8: a file name may be any bytes. Different names are different there.

/// The name with "%", characters that are not visible and bytes that are not UTF-8 written as "%" and two hexadecimal
/// digits for each byte: "100%25", "caf%E9".
std::string report_path(const std::filesystem::path& file);

/// The inverse of `report_path`.
std::filesystem::path path_in_report(const std::string& text);

/// SHA-256 (hex) of the size, the pixels and the labels of the first `n` images: tells whether two reports are of one test
/// set, wherever its files are and however they are compressed, and whatever the training set is: rows that are no images count as
/// float64, labels by their names unless those are all numbers from 0 to 255.
std::string test_checksum(const Dataset& data, std::int64_t n);

}  // namespace knn
