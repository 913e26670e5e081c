#pragma once
/// Images that are searched among themselves: a training set, or images without labels.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "classifier/plan.h"
#include "data/set/dataset.h"
#include "data/set/locate.h"

namespace knn {

/// Where the points are: the training set of the data options, an IDX file, or a folder of pictures.
struct PointsLocation {
    DataLocation training;              ///< unless `images` is given
    std::string images;                 ///< --images; a file or a folder
    std::vector<std::string> pictures;  ///< of a folder, in the order of the points

    std::vector<std::filesystem::path> files() const;
};

/// Throws UsageError (--images with a data set), DataError.
PointsLocation locate_points(const Options& options);

class Points {
  public:
    /// Reads them, into pinned memory for a GPU. Prints notes on standard error, as LoadedSet does. Throws
    /// DataError.
    Points(const Planner& planner, const PointsLocation& location, const Options& options);

    /// The plan of a search of all of them by all of them. Throws DeviceError, UsageError.
    Resolved resolve(Planner& planner, const Method& method) const;

    /// The first images, limited by the options; without labels where there are none.
    const Training& training() const { return training_; }
    /// All that were read.
    const LabeledImages& images() const { return images_; }
    double load_ms() const { return load_ms_; }

  private:
    std::unique_ptr<HostMemory> memory_;
    LabeledImages images_;
    Training training_;
    double load_ms_ = 0;
};

}  // namespace knn
