#pragma once
/// The training set only, loaded as fast as possible.

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/core/dataset.h"
#include "data/set/cache.h"
#include "data/set/locate.h"

namespace knn {

/// Says which files a training set is, for other data that is cached about it.
struct TrainingIdentity {
    std::string key;   ///< by path, size, times and inode; empty: of a pipe or device
    std::string name;  ///< for the name of a file in the cache: from the paths alone
};
TrainingIdentity identity_of(const DataLocation& location);

/// Images and labels in memory, read from their files or mapped from the cache.
struct TrainingImages {
    Rows images;                           ///< count × (rows × cols)
    std::span<const std::uint8_t> labels;  ///< of all images, also of those that were not needed
    ImageShape shape;
    std::string source;  ///< the file of the images, or what else it is, for messages
    bool cached = false;
    TrainingIdentity identity;          ///< empty without the cache
    std::shared_ptr<const void> owner;  ///< of the bytes
};

/// The training set of `location`. With `use_cache` the uncompressed content of gzip files (and the built-in
/// digits) comes from the cache if it is there, belongs to exactly these files and is intact; else it is read
/// and then kept. `first`: only that many images are needed (0: all); where the cache does not have all, only these are
/// read, and nothing is kept. Throws DataError as `load` does.
TrainingImages load_training(const DataLocation& location, bool use_cache, int threads,
                             std::int64_t first = 0);

/// The rows that are drawn for pictures (data/synthetic/drawn_forms.h), from the cache if they are there, else drawn and kept.
TrainingImages load_drawn_rows(bool use_cache, int threads);
/// These rows, followed by the 28×28 images of a file, extra_copies times each, whose label is no_digit. Throws DataError.
TrainingImages with_no_digits(const TrainingImages& drawn, const std::filesystem::path& images);

/// Whether these begin with the labels of MNIST's training images; those of extra images may follow.
bool is_mnist(std::span<const std::uint8_t> labels);

/// Whether cached bytes are a training set; then `set` shows them.
bool show_cached(const CachedBytes& bytes, TrainingImages& set);

}  // namespace knn
