#pragma once
/// Vectors of any kind in memory, with labels if there are any, and the files that they come from:
///
///   IDX     uint8, int8, float32, float64; three sizes of uint8 are images; one size: labels
///   NPY     versions 1 to 3, C or Fortran order, any byte order; 2-D, or 3-D (of uint8: images); 1-D integers: labels
///   CSV     comma, semicolon or tab; quotes; with a header or without; a column may be labels of any text
///   .fvecs .bvecs .ivecs             each row is preceded by its length as int32
///   .fbin .u8bin .i8bin .ibin        two uint32, rows and columns, then the rows
///
/// plain or gzip. IDX and NPY are recognized by their magic, the last two lines by the file's name, and a text is CSV. int32
/// becomes float64, which holds it exactly. Each number is finite.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory_resource>
#include <string>
#include <vector>

#include "data/core/dataset.h"
#include "data/core/element_type.h"
#include "data/core/metric.h"

namespace knn {

class ByteSource;  // data/file/byte_source.h

/// The most classes of labels.
inline constexpr std::size_t max_classes = 256;

struct VectorOptions {
    /// The column of a CSV that has labels: a name in its header, a number from 1, or "none"; empty: the one that the header
    /// calls label or class, if there is one. No other format has such a column.
    std::string label_column = {};
    std::int64_t first = 0;        ///< only that many rows, and no more of the file is read; 0: all
    int threads = 0;               ///< that read; 0: one for each processor
    std::int64_t free_bytes = -1;  ///< of memory: what needs more is refused; -1: unknown
    std::pmr::memory_resource* memory = std::pmr::get_default_resource();  ///< of the elements
    std::int64_t unlabeled = 0;  ///< a CSV of that many columns has not the one that is named; 0: each has it
};

/// One class number for each row.
struct Labels {
    Bytes numbers;
    std::vector<std::string> classes;  ///< their names; empty: the labels are the numbers
};

struct VectorSet {
    std::string name;    ///< of the file, without folder and ending: "iris"
    std::string source;  ///< the file, as it was named
    ElementType type = ElementType::uint8;
    std::int64_t count = 0, dim = 0;
    ImageShape shape = {};                  ///< of images, which are uint8; else 0 × 0
    Bytes elements;                         ///< count × dim, in the order of the machine
    Labels labels;                          ///< one for each row, or none
    std::vector<std::string> columns = {};  ///< their names in the header of a CSV; empty: none
    bool is_csv = false;

    bool are_images() const { return shape.rows > 0; }
    bool has_labels() const { return labels.numbers.size() > 0; }
    Rows rows() const { return {elements.data(), count, dim, type}; }
};

/// Sizes are checked against those of the file before memory is asked for. Large files are read by several threads. Throws
/// DataError "FILE: what is wrong; what was expected", with line and column or with row and column, both from 1; Interrupted.
VectorSet load_vectors(const std::filesystem::path& file, const VectorOptions& options = {});
/// The same from an open source, whose name is that of the file.
VectorSet read_vectors(ByteSource& source, const VectorOptions& options = {});

/// Labels in a file of their own: IDX or NPY of integers; a text with one on each line; any other file of vectors with one column of
/// whole numbers. `first`: only that many (0: all). Throws the same.
Labels load_labels(const std::filesystem::path& file, std::int64_t first = 0);
Labels read_labels(ByteSource& source, std::int64_t first = 0);

/// Where `generate` writes the labels of a file: iris-labels.csv for iris.csv, NAME-labels.npy for any other NAME.ENDING.
std::filesystem::path labels_beside(const std::filesystem::path& file);
/// Where they are looked for, in this order, if neither the file nor the user says: the same, then the other of .npy and .csv.
std::array<std::filesystem::path, 2> label_names(const std::filesystem::path& file);
/// The existing files of vectors among whose `label_names` is `labels`.
std::vector<std::filesystem::path> vectors_of_labels(const std::filesystem::path& labels);

/// The file's name in small letters, without ".gz".
std::string plain_name(const std::filesystem::path& file);

/// Throws DataError unless `other` has as many columns as `train`, and images of the same size if both have images; or where both have
/// names and a column of `other` has that of another column of `train`.
void check_same_columns(const VectorSet& train, const VectorSet& other);

/// Throws DataError where a column of labels is named, other than "none", and neither set (`other` may be null) is of a CSV.
void check_label_column(const std::string& label_column, const VectorSet& train, const VectorSet* other);

/// Gives both sets the same numbers for the same names. `file`: of the message. Throws DataError if there are more than max_classes.
void unify_classes(Labels& a, Labels& b, const std::string& file);

/// Throws DataError "FILE: row 3, column 5 is 1e+300, so that ...", both from 1, where an element is so large that a sum of n terms of the
/// measure could be infinite; Interrupted.
void check_elements(const std::string& file, const Rows& rows, const Measure& measure, std::int64_t n,
                    int threads);

/// Rows of another type that holds all values of this one.
Bytes converted(const Rows& rows, ElementType type,
                std::pmr::memory_resource* memory = std::pmr::get_default_resource());
/// The smallest type that holds the values of both.
ElementType common_type(ElementType a, ElementType b);

}  // namespace knn
