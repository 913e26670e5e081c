#pragma once
/// Sketches of a training set (data/sketch/sketch.h) as the CPU engine makes and reads them.

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/scanner.h"
#include "data/core/clock.h"
#include "data/sketch/sketch.h"

namespace knn::cpu {

/// Rows of sketches and their errors.
struct SketchRows {
    SketchRows(std::int64_t count, std::int64_t columns);

    std::int64_t columns;
    Uninitialized<std::uint8_t> bytes;  ///< count × columns
    Uninitialized<std::uint32_t> errors;

    Rows view() const { return {bytes.data(), std::ssize(errors), columns}; }
};

/// The sketches of `rows`, as sketch_row makes them, written to `columns` and `errors`.
void sketch_rows(const Sketch& sketch, const Kernel& kernel, const Rows& rows, std::uint8_t* columns,
                 std::uint32_t* errors);

/// Of a whole training set, packed into panels.
class Sketched {
  public:
    /// Makes them, and adds the stages `sketch`, since `start`, and `pack` to the timeline. Throws std::bad_alloc, Interrupted.
    Sketched(Sketch sketch, const Resident& exact, Team& team, Timeline& timeline,
             Clock::time_point start = Clock::now());

    /// The same sketches, and rows, in another order.
    Sketched(const Sketched& other, std::span<const std::uint32_t> order, Team& team, Timeline& timeline);

    static std::int64_t bytes(const Kernel& kernel, const Rows& train, std::int64_t columns);

    const Sketch& sketch() const { return sketch_; }
    const Kernel& kernel() const { return resident_.kernel; }
    std::uint32_t error(std::int64_t image) const { return rows_.errors[static_cast<std::size_t>(image)]; }
    /// The largest error of a panel's images.
    std::uint32_t panel_error(std::int64_t panel) const {
        return panel_errors_[static_cast<std::size_t>(panel)];
    }
    const Resident& resident() const { return resident_; }
    Rows rows() const { return rows_.view(); }
    /// The rows themselves, in memory that is fast to read at random.
    Rows exact() const { return {exact_.data(), rows_.view().count, sketch_.dim}; }

  private:
    Sketched(Sketch sketch, std::int64_t count, const Resident& like);
    void finish(Team& team, Timeline& timeline, Clock::time_point start, std::int64_t launches);

    Sketch sketch_;
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
