#pragma once
/// Measurements side by side: a table with a row for each, and a panel of bars.

#include <string>
#include <vector>

#include "app/bench/run.h"

namespace knn {

/// What GFLOP/s of a whole search are.
inline constexpr const char* search_operations_note =
    "GFLOP/s: a product and a sum for each pair of images and pixel, whatever an engine does.";

/// What opening the training set took, once for all searches.
inline constexpr const char* open_heading = "open ms";
std::string open_cell(const Measurement& one);
inline constexpr const char* open_note =
    "open: the training set moved to the device and arranged there, once for all searches.";

/// What the kernels of a whole search took: the heading of that column, its cell, and what it is.
inline constexpr const char* kernels_heading = "kernels ms";
std::string kernels_cell(const Measurement& one);
inline constexpr const char* kernels_note =
    "kernels: the work on the GPU of one search, without the copies.";

class Section {
  public:
    /// `first` heads the names; `more` arrays behind the columns that every measurement has.
    Section(BenchRun& run, std::string title, const std::string& first,
            const std::vector<std::string>& more = {});

    /// One row; `more`: its cells in the columns of that name.
    void add(const Measurement& one, const std::vector<std::string>& more = {});
    /// A line below the table.
    void note(const std::string& text) { table_.notes.push_back(text); }
    /// Puts both into the report, the bars from the fastest to the slowest; nothing where there is no row.
    void finish();

  private:
    BenchRun& run_;
    BenchTable table_;
    Panel panel_;
    bool partial_ = false;
};

}  // namespace knn
