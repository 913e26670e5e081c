#pragma once
/// An index over a set that grows.

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "classifier/confidence.h"
#include "classifier/index.h"
#include "library/call.h"
#include "library/set.h"

namespace knn::library {

/// What one or several searches of a snapshot share. The rows behind those of `index` are searched beside them.
struct Opened {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const Index> index;
    std::shared_ptr<const Index> rest;  ///< null: none are behind

    std::int64_t size() const { return snapshot->size(); }
    /// As Index::search, of images that are no rows of the set unless there is no rest.
    Results search(const Queries& queries, const SearchOptions& options) const;
};

/// What a leave-one-out sample says of answers; only of an index without a rest.
struct Scoring {
    LeaveOneOut sample;
    AnswerScorer scorer;

    explicit Scoring(const Index& index, const ProgressToken& token)
        : sample(fitted_sample(index, token)), scorer(index, sample) {}
};

}  // namespace knn::library

/// Thread-safe.
struct knn_index {
    /// Opens nothing yet. Throws UsageError if the request contradicts itself.
    knn_index(std::shared_ptr<knn::library::GrowingSet> set, const knn::Method& method,
              const knn::PlanRequest& request, std::filesystem::path method_file)
        : set_(std::move(set)),
          method_file_(std::move(method_file)),
          method_(std::make_shared<const knn::Method>(method)),
          threads_(request.threads),
          planner_(request) {
        set_->add_method(method_);
    }

    const knn::Method& method() const { return *method_; }
    /// Throws DataError if the set or the method was read from this file, if it is a pipe, or if it has a name by which a data set is
    /// read.
    void require_can_save(const std::filesystem::path& file) const;
    /// Of the CPU; 0: all.
    int threads() const { return threads_; }
    /// With all rows of now, for k neighbors; `whole`: without a rest.
    std::shared_ptr<const knn::library::Opened> open(bool whole, int k, const knn::ProgressToken& token);
    /// Of an index without a rest, whose set has labels.
    std::shared_ptr<const knn::library::Scoring> scoring(const knn::library::Opened& opened,
                                                         const knn::ProgressToken& token);
    /// What was opened last.
    std::shared_ptr<const knn::library::Opened> last() const;

  private:
    std::shared_ptr<const knn::Index> open_rows(const knn::TrainingSet& rows,
                                                const knn::ProgressToken& token);

    std::shared_ptr<knn::library::GrowingSet> set_;
    std::filesystem::path method_file_;  ///< absolute; empty: the method was not read from one
    std::shared_ptr<const knn::Method> method_;
    int threads_;
    std::mutex opening_;  ///< one thread opens or fits, others wait; of what follows
    knn::Planner planner_;
    std::shared_ptr<const knn::library::Scoring> scoring_;
    std::shared_ptr<const knn::Index> scored_;  ///< by it
    mutable std::mutex mutex_;                  ///< of what follows
    std::shared_ptr<const knn::library::Opened> opened_;
};
