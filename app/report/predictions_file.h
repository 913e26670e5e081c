#pragma once
/// predictions.csv, read back.

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "data/core/searcher.h"

namespace knn {

/// One entry per test image.
struct Predictions {
    std::vector<std::uint8_t> truth;
    std::vector<Vote> votes;
    std::vector<double> confidence;
};

/// Reads the CSV of `evaluate --predictions` of `n_test` images. Throws DataError.
Predictions read_predictions(const std::filesystem::path& file, std::int64_t n_test);

/// The same from a stream; `name` begins the messages.
Predictions read_predictions(std::istream& stream, const std::string& name, std::int64_t n_test);

}  // namespace knn
