#pragma once
/// Finds and loads the data set of a command.

#include <filesystem>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "data/core/dataset.h"

namespace knn {

/// The user's data options; all empty: search the default folders.
struct DataOptions {
    std::string folder;  ///< --data
    std::string train_images, train_labels, test_images,
        test_labels;  ///< --train-images ... ; each overrides
};

/// Four files, or the built-in digits if none were found.
struct DataLocation {
    std::string source;  ///< the folder (or files) as the user would name it, or "built-in synthetic digits"
    std::filesystem::path train_images, train_labels, test_images,
        test_labels;  ///< empty for the built-in digits
    bool synthetic = false;
    std::vector<std::string> looked_in;  ///< the folders searched, in order, for `info` and for messages
    /// Skipped folders that have some of the files: "data/mnist: lacks t10k-labels-idx1-ubyte".
    std::vector<std::string> incomplete;

    /// The files, training images first: four, or the two of the training set; none for the built-in digits.
    std::vector<std::filesystem::path> files() const;
};

/// Order: --data, else $MNIST_KNN_DATA, else data/mnist, else the XDG data folder (mnist-knn/mnist below
/// $XDG_DATA_HOME and each of $XDG_DATA_DIRS), else the built-in digits. Each file is taken plain or as .gz,
/// in either spelling, plain first. If a folder named by the user (option or variable) lacks a file, a
/// DataError says which; a default folder that lacks one is skipped, and listed in `incomplete` if it has
/// others. Files given individually replace the folder's; with all four no folder is searched. Some of them
/// and no folder with the rest is a DataError that says which options are missing.
DataLocation locate(const DataOptions& options);

/// Only the training images and their labels, by the same rules: the test set may be missing.
DataLocation locate_training(const DataOptions& options);

/// Which of the four files `folder` has, in any spelling, plain or .gz; includes dangling links.
std::vector<std::filesystem::path> dataset_files(const std::filesystem::path& folder);

/// Reads the four files in parallel, or draws the digits. Throws DataError: the errors of idx.h, images and
/// labels of different counts, training and test images of different sizes, images of more than max_dim
/// pixels. `memory` provides pixels and labels, and is called from several threads concurrently.
Dataset load(const DataLocation& location,
             std::pmr::memory_resource* memory = std::pmr::get_default_resource());

/// Only the training set, with the same checks. Throws DataError.
LabeledImages load_training_images(const DataLocation& location,
                                   std::pmr::memory_resource* memory = std::pmr::get_default_resource());

/// SHA-256 (hex) of a file's uncompressed content as `info` prints it, and that of the same part of MNIST.
struct FileChecksum {
    std::filesystem::path file;
    std::string sha256, mnist_sha256;

    bool is_mnist() const { return sha256 == mnist_sha256; }
};
/// In the order training images, training labels, test images, test labels; none for the built-in digits.
/// Throws DataError.
std::vector<FileChecksum> checksums(const DataLocation& location);

}  // namespace knn
