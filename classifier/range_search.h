#pragma once
/// All rows of a training set within a distance of a query, however many they are.
///
/// A top-k search with a small k answers most queries: those whose k-th neighbor is farther. The others are searched again with larger k,
/// up to the largest that the engine finds, and those that even this does not answer in pieces of the training set with max_k rows, of
/// which all are found.

#include <functional>
#include <memory>
#include <vector>

#include "classifier/index.h"

namespace knn {

/// In order of (distance, index); by lp the order is that of the sums without their roots.
struct RowsWithin {
    std::vector<std::uint32_t> rows;
    std::vector<double> distances;  ///< as users see them; exact, as exact_distances gives them
};

class RangeSearch {
  public:
    /// `index` compares its rows as they are, and outlives this. Rows at exactly the distance `range` are within: as it is shown, or by lp as the
    /// sum to which the range belongs.
    RangeSearch(const Index& index, double range, int max_k_of_engine, int threads);
    ~RangeSearch();

    /// The k of the first search among `n` rows.
    static int first_k(std::int64_t n);

    /// Gets what one query has, which it may change.
    using Take = std::function<void(RowsWithin& row)>;

    /// One result for each query, in their order: all of them together may not fit the memory. Adds to `timeline`. Throws as
    /// Index::search, and what `take` throws.
    void search(const Queries& queries, Timeline& timeline, const ProgressToken& token, const Take& take);

    /// Of the searches, wall clock, without `take`.
    double search_ms() const { return search_ms_; }
    const Plan& plan() const { return plan_; }

  private:
    /// Which of the queries are still without an answer.
    using Open = std::vector<std::uint32_t>;

    /// The rows that can be neighbors of each query.
    std::int64_t candidates_of(const Queries& queries) const;
    Queries some_of(const Queries& queries, const Open& open) const;
    Open search_nearest(const Queries& queries, const Open& open, int k, std::vector<RowsWithin>& found,
                        Timeline& timeline, const ProgressToken& token);
    void search_pieces(const Queries& queries, const Open& open, std::vector<RowsWithin>& found,
                       Timeline& timeline, const ProgressToken& token);
    /// Appends a row that is within the range, as it is shown or ordered.
    void add(RowsWithin& row, double distance, std::uint32_t index) const;
    Rows rows_of_piece(std::int64_t piece) const;
    void open_pieces();

    const Index& index_;
    const Rows& train_;
    Measure measure_;
    double range_;
    double at_range_;  ///< by which rows at the range are ordered
    double limit_;     ///< no row within the range is ordered by more
    int max_k_, threads_;
    std::vector<std::unique_ptr<DeviceIndex>> pieces_;  ///< of max_k rows, once one is needed
    double search_ms_ = 0;
    Plan plan_;
};

}  // namespace knn
