#pragma once
/// A training set that grows: snapshots of it are training sets that do not change.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "classifier/method.h"
#include "classifier/training_set.h"

namespace knn::library {

/// Throws std::invalid_argument if the method's metric cannot compare such elements.
void require_comparable(const Rows& rows, const Method& method, const char* name, const ProgressToken& token);

/// The set at one time. Thread-safe.
class Snapshot {
  public:
    /// `labels`: of all rows, or empty; `owner`: of `added` and `labels`.
    Snapshot(const TrainingSet& base, const Rows& added, std::span<const std::uint8_t> labels,
             std::shared_ptr<const void> owner);

    std::int64_t size() const { return base_.size() + added_.count; }
    const TrainingSet& base() const { return base_; }
    const Rows& added() const { return added_; }
    std::span<const std::uint8_t> labels() const { return labels_; }
    bool has_labels() const { return !labels_.empty(); }

    /// The rows from `first` on, first >= base().size().
    TrainingSet rest(std::int64_t first) const;
    /// All rows in one memory: copied on the first call, if rows were added.
    TrainingSet whole() const;
    const std::uint8_t* row(std::int64_t i) const {
        return i < base_.size() ? base_.images().row(i) : added_.row(i - base_.size());
    }

  private:
    TrainingSet base_;
    Rows added_;
    std::span<const std::uint8_t> labels_;
    std::shared_ptr<const void> owner_;
    mutable std::mutex mutex_;
    mutable std::optional<TrainingSet> whole_;
};

/// Thread-safe.
class GrowingSet {
  public:
    /// inputs: the files that it was read from.
    explicit GrowingSet(const TrainingSet& base, std::vector<std::filesystem::path> inputs = {});

    /// Absolute: the process may have changed its folder.
    const std::vector<std::filesystem::path>& inputs() const { return inputs_; }
    std::shared_ptr<const Snapshot> now() const;
    /// While this method lives, rows are added only if its metric can compare them.
    void add_method(const std::shared_ptr<const Method>& method);
    /// labels: as many, or none if the set has none. Throws std::invalid_argument.
    void add(const Rows& rows, std::span<const std::uint8_t> labels);

  private:
    /// Memory for bytes that are appended; what was there stays where it is for those who have it.
    struct Appended {
        std::shared_ptr<std::uint8_t[]> bytes = {};
        std::size_t capacity = 0;

        /// Memory for `size` bytes, or for `most` where it has to move the `used` ones.
        void reserve(std::size_t used, std::size_t size, std::size_t most);
    };

    std::vector<std::filesystem::path> inputs_;  ///< unchanged after construction
    mutable std::mutex mutex_;
    std::shared_ptr<const Snapshot> now_;
    std::vector<std::weak_ptr<const Method>> methods_;
    Appended rows_, labels_;
};

}  // namespace knn::library

struct knn_set {
    std::shared_ptr<knn::library::GrowingSet> rows;
};
