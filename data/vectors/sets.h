#pragma once
/// The data set of a command, images or any vectors.

#include "data/set/locate.h"
#include "data/vectors/vectors.h"

namespace knn {

/// As `locate`; where the options name files of vectors, these: §train and §test, and for each a file of labels, named or beside it.
/// Throws DataError.
DataLocation locate_data(const DataOptions& options);
/// As `locate_training`, likewise.
DataLocation locate_training_data(const DataOptions& options);

struct LoadOptions {
    FirstImages first = {};
    bool labels_needed = true;     ///< of vectors: else they may have none
    int threads = 0;               ///< as in VectorOptions
    std::int64_t free_bytes = -1;  ///< the same
    std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

/// Images as `load` (data/set/locate.h) reads them, or vectors. Vectors of both sets have the same columns; their types become
/// one, and so do the numbers of their classes. Throws DataError.
Dataset load_data(const DataLocation& location, const LoadOptions& options = {});

/// "iris.csv: 150 rows of 4 columns, not images; expected images".
std::string not_images(const std::string& file, std::int64_t rows, std::int64_t columns);
/// Of the training set.
std::string not_images(const Dataset& data);

}  // namespace knn
