#pragma once
/// A data set in memory with a plan, ready for a classifier: shared by the commands that evaluate.

#include <memory>
#include <string>

#include "app/cli/options.h"
#include "classifier/fitted_cache.h"
#include "classifier/plan.h"
#include "data/set/dataset.h"
#include "data/set/locate.h"

namespace knn {

class LoadedSet {
  public:
    /// Reads the files, into pinned memory for a GPU, while the planner looks for GPUs. Prints notes on standard
    /// error: synthetic digits, no GPU. Throws DataError, DeviceError, UsageError.
    LoadedSet(Planner& planner, const DataLocation& location, const Options& options);

    const Dataset& data() const { return data_; }
    const Resolved& resolved() const { return resolved_; }
    /// The first images of each set, limited by the options.
    const Training& training() const { return training_; }
    const Rows& queries() const { return queries_; }
    double load_ms() const { return load_ms_; }

    /// A classifier. What its method fits is read from the cache, or fitted, with a progress bar, and kept there. This must
    /// outlive it. Throws as Classifier.
    std::unique_ptr<Classifier> open(const Options& options);
    const FittedCache& cache() const { return cache_; }

  private:
    std::unique_ptr<HostMemory> memory_;
    Dataset data_;
    Training training_;
    Rows queries_;
    Resolved resolved_;
    FittedCache cache_;
    std::unique_ptr<const KeptReranking> kept_;  ///< once a classifier is open
    double load_ms_ = 0;
};

/// The first `n` training images and their labels; 0: all.
Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n);

}  // namespace knn
