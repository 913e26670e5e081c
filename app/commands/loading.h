#pragma once
/// The images of a command: where they are, in memory, and with what is fitted to them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "classifier/index.h"
#include "classifier/plan.h"
#include "data/core/dataset.h"
#include "data/core/host_memory.h"
#include "data/set/locate.h"

namespace knn {

/// What a command reads: both sets, the training set alone, or that or the images of --images, which have no labels.
enum class Needed { both, training, points };

struct ImagesLocation {
    Needed needed = Needed::both;
    DataLocation data;                  ///< unless `images` is given
    std::string images;                 ///< --images; a file or a folder
    std::vector<std::string> pictures;  ///< of a folder, in the order of the images

    std::vector<std::filesystem::path> files() const;
};

/// Throws UsageError (--images with a data set), DataError.
ImagesLocation locate_images(const Options& options, Needed needed);

/// Images in memory. They must outlive the training set that is made of them.
class LoadedSet {
  public:
    /// Reads the files, into pinned memory for a GPU, while the planner looks for GPUs. Prints a note on synthetic digits.
    /// Throws DataError, Interrupted.
    LoadedSet(Planner& planner, const ImagesLocation& location, const Options& options);

    /// All that was read; without a test set if none was needed.
    const Dataset& data() const { return data_; }
    /// The first images of each set, limited by the options.
    const TrainingSet& training() const { return *training_; }
    const Rows& queries() const { return queries_; }
    double load_ms() const { return load_ms_; }

    /// The plan of a search of this many queries; prints a note where it is another than the options say. Throws
    /// DeviceError, UsageError.
    Resolved resolve(Planner& planner, const Method& method, std::int64_t n_query);

  private:
    std::unique_ptr<HostMemory> memory_;
    Dataset data_;
    std::unique_ptr<const TrainingSet> training_;
    Rows queries_;
    std::string data_notice_;  ///< until the first `resolve`
    double load_ms_ = 0;
};

/// An index, with a progress bar if something has to be fitted. Throws as Index.
std::unique_ptr<Index> open_index(const TrainingSet& training, const Method& method, const Resolved& resolved,
                                  const OutputOptions& output);

/// The first images of the training set, as many as the options want, from the cache where that is faster. Throws DataError.
struct CachedTraining {
    TrainingSet set;
    std::string source;  ///< the file of the images, or what else it is
    Training all;        ///< whatever the options want
};
CachedTraining load_cached_training(const DataLocation& location, const Options& options, int threads);

}  // namespace knn
