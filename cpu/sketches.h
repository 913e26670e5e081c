#pragma once
/// Sketches of a training set (data/sketch/sketch.h) as the CPU engine makes and reads them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/scanner.h"
#include "data/core/clock.h"
#include "data/sketch/directions.h"
#include "data/sketch/sketch.h"

namespace knn::cpu {

/// Rows of sketches, their errors, and of cosine and pearson the sums of the rows themselves.
struct SketchRows {
    SketchRows(std::int64_t count, std::int64_t columns);

    std::int64_t columns;
    Uninitialized<std::uint8_t> bytes;  ///< count × columns
    Uninitialized<std::uint32_t> errors;
    Uninitialized<PixelSums> sums;  ///< count; not read for l2

    Rows view() const { return {bytes.data(), std::ssize(errors), columns}; }
};

/// How rows of a metric are sketched: those of l2 as they are, those of cosine and pearson by their directions.
struct Sketcher {
    Sketch sketch;
    std::optional<Directions> directions;  ///< nothing: l2

    /// Writes the sketches of `rows` from place `first` on. kernel: of squares.
    void make(const Rows& rows, const Kernel& kernel, std::int64_t first, SketchRows& made) const;
    /// At least 1024 times the sketches' distance, without errors, of rows with this score.
    std::uint32_t reach(std::uint32_t score) const;
};

/// Of a whole training set, packed into panels.
class Sketched {
  public:
    /// Makes them, and adds the stages `sketch`, since `start`, and `pack` to the timeline. Throws std::bad_alloc, Interrupted.
    Sketched(Sketcher sketcher, const Resident& exact, Team& team, Timeline& timeline,
             Clock::time_point start = Clock::now());

    /// The same sketches, and rows, in another order.
    Sketched(const Sketched& other, std::span<const std::uint32_t> order, Team& team, Timeline& timeline);

    static std::int64_t bytes(const Kernel& kernel, const Rows& train, std::int64_t columns);

    const Sketcher& sketcher() const { return sketcher_; }
    std::int64_t columns() const { return rows_.columns; }
    /// That compares sketches, by squares.
    const Kernel& kernel() const { return resident_.kernel; }
    const PixelSums& sums(std::int64_t image) const { return rows_.sums[static_cast<std::size_t>(image)]; }
    /// The exact score of a row and an image.
    std::uint32_t score(const std::uint8_t* row, const PixelSums& sums_of_row, std::int64_t image) const;
    std::uint32_t error(std::int64_t image) const { return rows_.errors[static_cast<std::size_t>(image)]; }
    /// The largest error of a panel's images.
    std::uint32_t panel_error(std::int64_t panel) const {
        return panel_errors_[static_cast<std::size_t>(panel)];
    }
    const Resident& resident() const { return resident_; }
    Rows rows() const { return rows_.view(); }
    /// The rows themselves, in memory that is fast to read at random.
    Rows exact() const { return {exact_.data(), rows_.view().count, sketcher_.sketch.dim}; }

  private:
    Sketched(Sketcher sketcher, std::int64_t count, const Kernel& kernel, const Plan& plan);
    void finish(Team& team, Timeline& timeline, Clock::time_point start, std::int64_t launches);

    Sketcher sketcher_;
    const Kernel* exact_kernel_;  ///< of the metric
    SketchRows rows_;
    Uninitialized<std::uint8_t> exact_;
    Resident resident_;
    std::vector<std::uint32_t> panel_errors_;
};

/// The time of refining a candidate, in direct products of a pair of this training set.
double refinement_cost(const Resident& exact);

/// The same in a search of the training set in itself: rows that are near in the order are near in memory, and few wait in a list.
double pair_refinement_cost(const Resident& exact);

/// Fits and makes them. Null if the plan leaves the choice, and too few pairs of a sample of the training set are pruned.
std::unique_ptr<const Sketched> make_sketched(const Resident& exact, std::int64_t columns, int k,
                                              bool is_training_set, Team& team, Timeline& timeline,
                                              const ProgressToken& token);

/// The time of fitting and making them, in direct products of a pair of this training set.
double sketching_cost(const Resident& exact);

/// Whether n_query queries by sketches, with `making` beside, take less time than by direct products, if sketches prune as well as
/// those of digits do. is_training_set: the queries are all images, and each pair is compared once.
bool sketches_pay(const Resident& exact, std::int64_t columns, std::int64_t n_query, int k, double making,
                  bool is_training_set);

}  // namespace knn::cpu
