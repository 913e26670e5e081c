#pragma once
/// The papers' serial baseline: one thread, one query at a time, all its distances and then a selection. Slow
/// and simple; `bench` compares with it and checks others against it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/core/bench.h"

namespace knn::cpu {

/// One way to find a row's k smallest values on one thread.
struct SerialSelector {
    const char* name;
    const char* summary;
    /// `row`: n_train values; out: k neighbors in order. `scratch` keeps its memory from row to row.
    void (*select)(std::span<const std::uint32_t> row, std::span<Neighbor> out,
                   std::vector<std::uint64_t>& scratch);
};
/// `nth_element` comes first.
std::span<const SerialSelector> serial_selectors();

/// The one of this name; null if there is none.
const SerialSelector* find_serial_selector(std::string_view name);

/// Squared distances of one query to the training images from `first` on: `row` has n_train values.
void serial_distances(const Rows& train, const std::uint8_t* query, std::span<std::uint32_t> row,
                      std::int64_t first = 0);

/// The steps of seed 003's wrong bitonic sorts (§2), by the names of the GPU's: `bitonic_unpadded` and `bitonic_blocks`.
/// Null if there is none of this name.
const SerialSelector* find_wrong_sort(std::string_view name);

/// The name of the serial search in Plan::distance.
inline constexpr const char* serial_distance = "serial";

/// Why the serial search cannot answer the problem; else sets the plan's kernel, threads and batch, and the selector
/// if it has none.
UnsupportedReason configure_serial(const Problem& problem, Plan& plan);

/// The whole search by `nth_element`. Stages: `distance`, `select`.
std::unique_ptr<DeviceIndex> open_serial(const Rows& train);

/// Rows of distances, one for each query.
struct SerialRows {
    std::function<void(std::int64_t q, std::span<std::uint32_t> row)> fill;
    /// `fill` makes the part of a row behind its query, which the rows of later ones get from it.
    bool half = false;
};
/// The images must outlive the rows.
SerialRows serial_rows(const Rows& train, const Rows& query);
/// For queries that are the training points, as in seed 004: one of each two equal distances is computed and written to both
/// places, and no point is its own neighbor.
SerialRows half_of_rows(const Rows& points);

/// Both parts of the serial search, timed on as many of the queries as the options allow; what the selection found is right if
/// both are. Of half of the rows these are the first ones, which have more than their share of the pairs: distance.n_query is the
/// number of rows with as many pairs on average.
struct SerialTrial {
    Trial distance, select;
};
SerialTrial time_serial(const Problem& problem, const SerialRows& rows, const SerialSelector& selector,
                        TrialOptions options, const ProgressToken& token);

/// GB/s read and written by one thread that copies more memory than a cache holds. Throws Interrupted.
double copy_gb_per_s(const ProgressToken& token);

}  // namespace knn::cpu
