#pragma once
/// A group of measurements: a table with one row each, and a bar chart.

#include <string>
#include <vector>

#include "app/bench/run.h"

namespace knn {

/// Definition of GFLOP/s for a whole search.
inline constexpr const char* search_operations_note =
    "GFLOP/s: one multiplication and one addition per pair of images and pixel, for every engine.";

/// The time to open the training set, once for all searches.
inline constexpr const char* open_heading = "open ms";
std::string open_cell(const Measurement& one);
inline constexpr const char* open_note =
    "open: uploading and arranging the training set, once for all searches.";

/// Kernel time of a whole search: the heading of that column, its cell, and its definition.
inline constexpr const char* kernels_heading = "kernels ms";
std::string kernels_cell(const Measurement& one);
inline constexpr const char* kernels_note = "kernels: the work on the GPU of one search, without the copies.";

class Section {
  public:
    /// `first`: heading of the names; `more`: columns after those that every measurement has.
    Section(BenchRun& run, std::string title, const std::string& first,
            const std::vector<std::string>& more = {}, const Unit& unit = of_queries);

    /// One row; `more`: its cells in the columns of that name.
    void add(const Measurement& one, const std::vector<std::string>& more = {});
    /// A line below the table.
    void note(const std::string& text) { table_.notes.push_back(text); }
    /// Adds both to the report, the bars from the fastest to the slowest; nothing if there is no row.
    void finish();

  private:
    BenchRun& run_;
    BenchTable table_;
    Panel panel_;
    Unit unit_;
    bool partial_ = false;
};

}  // namespace knn
