#pragma once
/// The training set only, loaded as fast as possible.

#include <string>

#include "data/core/dataset.h"
#include "data/set/cache.h"
#include "data/set/locate.h"

namespace knn {

/// Images and labels in memory, read from their files or mapped from the cache. Can be moved, not copied.
struct TrainingImages {
    Rows images;                           ///< count × (rows × cols)
    std::span<const std::uint8_t> labels;  ///< count
    int rows = 0, cols = 0;
    std::string source;  ///< the file of the images, or what else it is, for messages
    bool cached = false;
    /// Says which files these are, by path, size, times and inode, for other data that is cached
    /// about them; empty: they are no files that could be recognized (pipes).
    std::string key;
    std::string name;  ///< the same for the name of a file in the cache: from the paths alone

    LabeledImages loaded;  ///< where the bytes are: here,
    CachedBytes mapped;    ///< or here
};

/// The key and the name of the training set of `location`, as TrainingImages has them.
struct TrainingIdentity {
    std::string key, name;
};
TrainingIdentity identity_of(const DataLocation& location);

/// The training set of `location`. With `use_cache` the uncompressed content of gzip files (and the built-in
/// digits) comes from the cache if it is there, belongs to exactly these files and is intact; else it is read
/// and then kept. Throws DataError as `load` does.
TrainingImages load_training(const DataLocation& location, bool use_cache, int threads);

/// Whether cached bytes are a training set; then `set` shows them.
bool show_cached(CachedBytes bytes, TrainingImages& set);

}  // namespace knn
