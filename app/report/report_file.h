#pragma once
/// The folder of --report, written, and its report.json, read back.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/console/console.h"
#include "classifier/evaluation.h"
#include "data/set/locate.h"

namespace knn {

/// An evaluation as stored in a report: everything except the votes, the neighbors and the images.
struct SavedReport {
    std::string file;   ///< its name, for messages
    DataLocation data;  ///< of four files, of pictures two; none: not given, or built-in digits
    std::int64_t n_extra = 0;
    std::string test_checksum;  ///< as report/json.h has it; empty in reports of older versions
    int rows = 0, cols = 0;     ///< of images; of other vectors 1 and their columns
    std::string type;           ///< of the elements of vectors that are no images
    Evaluation evaluation;      ///< data is null, found has no neighbors and no votes

    /// Whether `classify --expected` judged pictures: they are beside the report, in no data set.
    bool of_pictures() const { return !evaluation.pictures.empty(); }
};

/// Reads a report of `evaluate --json`; a folder means the report.json in it, "-" is standard input.
/// Everything is checked, including that the numbers are consistent. Throws DataError.
SavedReport read_report(const std::string& file);

/// The same for who shows images: throws DataError also where it is a report of other vectors.
SavedReport read_image_report(const std::string& file);

/// The same of its text; `name` begins the messages.
SavedReport parse_report(std::string_view text, const std::string& name);

/// The files of the folder, with all that takes long done before the first is written; `evaluation` must outlive them. Throws DataError,
/// Interrupted.
std::vector<OutputFile> report_folder(const Evaluation& evaluation, const OutputOptions& output);

}  // namespace knn
