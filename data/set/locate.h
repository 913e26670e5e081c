#pragma once
/// Finds and loads the data set of a command.

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory_resource>
#include <string>
#include <vector>

#include "data/core/dataset.h"

namespace knn {

/// One of the four files of MNIST, and the checksums of its uncompressed content. CRC-32 is what gzip carries anyway,
/// so that loading can compare it at no cost; SHA-256 is for `info` and for downloads, which may be malicious.
struct MnistFile {
    const char* name;
    std::uint32_t crc32;
    const char* sha256;
};

/// Training images and labels, test images and labels.
inline constexpr std::array<MnistFile, 4> mnist_files = {{
    {"train-images-idx3-ubyte", 0xe9f4d8b3,
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", 0xe0cb4ad2,
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", 0x91373bdf,
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", 0x4ab9eff9,
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

/// The name of a data set whose test images are the pictures of a report of `classify`.
inline constexpr const char* pictures_name = "pictures";

/// The user's data options; all empty: search the default folders.
struct DataOptions {
    std::string folder;  ///< --data
    std::string train_images, train_labels, test_images,
        test_labels;           ///< --train-images ... ; each overrides
    std::string extra;         ///< --extra: a folder with more training images
    std::string train, test;   ///< files of vectors instead (data/vectors/sets.h)
    std::string label_column;  ///< of those that are CSV
};

/// How many times each extra image is in the training set. A few of one hand stand among thousands of others: once, they
/// are outvoted. Chosen by leave-one-writer-out, docs/classify.md.
inline constexpr int extra_copies = 2;
/// The file of the images in such a folder that are no digit.
inline constexpr const char* no_digits_file = "no-digits-idx3-ubyte";

/// Number of images of each set to use, from the first; 0: all.
struct FirstImages {
    std::int64_t train = 0, test = 0;
};

/// Four files, or the built-in digits if none were found.
struct DataLocation {
    std::string source;  ///< the folder (or files) as the user would name it, or "built-in synthetic digits"
    /// Training images and labels, test images and labels; or the two of the training set; none for the built-in digits.
    std::vector<std::filesystem::path> files;
    /// The images and labels that a report of `classify` keeps of its pictures, which replace the test set; else none.
    std::vector<std::filesystem::path> pictures;
    /// Images and labels that are added to the training set, extra_copies times each, behind all others; else none.
    std::vector<std::filesystem::path> extra;
    /// Images of the same folder that are no digit, for `classify`; empty: none.
    std::filesystem::path no_digits;
    bool synthetic = false;
    bool training_only = false;  ///< no test set is read
    /// Files of vectors: those of labels may be empty, or, unless they were named, are used only where the vectors have none.
    bool vectors = false;
    bool train_labels_named = false, test_labels_named = false;
    std::string label_column;
    std::vector<std::string> looked_in;  ///< the folders searched, in order, for `info` and for messages
    /// Skipped folders that have some of the files: "data/mnist: lacks t10k-labels-idx1-ubyte".
    std::vector<std::string> incomplete;

    /// All that is read.
    std::vector<std::filesystem::path> inputs() const;
    /// How many of the loaded training images are wanted if the user wants the `first` of the data set; 0: all. With extra
    /// images no others were loaded.
    std::int64_t limit(std::int64_t first) const { return extra.empty() ? first : 0; }
};

/// Order: --data, else $MNIST_KNN_DATA, else data/mnist, else the XDG data folder (mnist-knn/mnist below
/// $XDG_DATA_HOME and each of $XDG_DATA_DIRS), else the built-in digits. Each file is taken plain or as .gz,
/// in either spelling, plain first; only regular files, since nobody may ever write to a pipe in a folder. If a folder
/// named by the user (option or variable) lacks a file, a DataError says which; a default folder that lacks one is
/// skipped, and listed in `incomplete` if it has others. Files given individually replace the folder's; with all four no
/// folder is searched. Some of them and no folder with the rest is a DataError that says which options are missing.
DataLocation locate(const DataOptions& options);

/// Only the training images and their labels, by the same rules: the test set may be missing.
DataLocation locate_training(const DataOptions& options);

/// The other names by which the folder of `file` is read for the same part of a data set; none if `file` has no such name.
std::vector<std::filesystem::path> other_spellings(const std::filesystem::path& file);

/// Which of the four files `folder` has, in any spelling, plain or .gz; includes dangling links.
std::vector<std::filesystem::path> dataset_files(const std::filesystem::path& folder);

/// Reads the four files, or the two of the training set, in parallel, or draws the digits. Throws DataError: the errors of idx.h, images and
/// labels of different counts, training and test images of different sizes, images of more than max_dim
/// pixels; files that do not fit each other are refused by their headers, before their data take memory. `memory` provides
/// pixels and labels, and is called from several threads concurrently. `first` limits the images, except the extra ones; the
/// labels are all there, so that the classes are.
Dataset load(const DataLocation& location,
             std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
             const FirstImages& first = {});

/// Only the training set, or the `first` of it (0: all), with the same checks. Throws DataError.
LabeledImages load_training_images(const DataLocation& location,
                                   std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                                   std::int64_t first = 0);

/// How many training images the location's extra ones become. Throws DataError.
std::int64_t count_extra(const DataLocation& location);

/// SHA-256 (hex) of a file's uncompressed content as `info` prints it, and that of the same part of MNIST.
struct FileChecksum {
    std::filesystem::path file;
    std::string sha256, mnist_sha256;

    bool is_mnist() const { return sha256 == mnist_sha256; }
};
/// In the order training images, training labels, test images, test labels; none for the built-in digits.
/// Of content of more than `most_bytes` it is empty. Throws DataError.
std::vector<FileChecksum> checksums(const DataLocation& location,
                                    std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace knn
