#pragma once
/// What `tune` found, for people and machines.

#include <string>

#include "classifier/tune.h"

namespace knn {

/// The table of the first `limit` configurations, the best first.
std::string tune_text(const TuneResult& result, std::int64_t limit);

/// One line: the best configuration and its errors.
std::string tune_line(const TuneResult& result);

/// Schema mnist-knn/tune/1: all configurations.
std::string tune_json(const TuneResult& result);

/// The same row by row.
std::string tune_csv(const TuneResult& result);

/// An SVG of errors over k: a panel for each search, a line for each kind of vote.
std::string tune_plot(const TuneResult& result);

/// What a search compares: "gradients, l2, both of 96 candidates".
std::string search_text(const Method& method);

/// The options that give a method: "--transform gradients -k 3".
std::string options_text(const Method& method);

}  // namespace knn
