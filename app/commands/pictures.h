#pragma once
/// The picture files that a command line names, the digits in them, and what `classify` makes of these.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/report/page.h"
#include "classifier/form.h"
#include "data/core/progress_token.h"

namespace knn {

/// One requested picture; `error` if it cannot be read at all.
struct PictureSource {
    std::string file;  ///< "-" is standard input
    std::string error;
};

struct PictureSources {
    std::vector<PictureSource> pictures;
    std::vector<std::string> notices;  ///< of what is left out of folders
};

/// Whether the folders in a folder are read: they are, the option -r would, no option does.
enum class Subfolders { read, with_r, never };

/// Files and "-" as they are; for a folder the picture files directly in it, with Subfolders::read also those in its
/// folders, by content or ending, sorted by name; links to folders are not followed. Names that begin with a dot are left
/// out; a folder that cannot be read is an error of its own. Throws UsageError where standard input is named twice.
PictureSources find_pictures(const std::vector<std::string>& names, Subfolders subfolders);

/// The digit that the name of a file tells: its folder is called 3, or its name without the ending is 3 or ends
/// with _3 or -3. The folder is asked first.
std::optional<int> expected_digit(const std::string& file);

/// Whether it says in the same way that the picture is no digit, by a ? in place of the digit.
bool names_no_digit(const std::string& file);

/// Reads the pictures and extracts their digits, several at a time. Returns one element per source, in order,
/// without labels yet; a picture that fails has its `error`. If they are to be explained, the first max_explained keep their
/// steps. `form`: what the pictures are pages of, or null. Throws Interrupted.
std::vector<PictureAnswer> extract_pictures(const std::vector<PictureSource>& sources,
                                            const ClassifyOptions& options, int threads,
                                            const ProgressToken& token, const Form* form = nullptr);

/// Says on standard error why pictures failed, a line for each; returns how many.
std::size_t report_failures(std::span<const PictureAnswer> pictures);

/// --template: the description of a form. Reads the schema mnist-knn/template/1 (docs/classify.md). Throws DataError.
Form read_form(const std::string& file);

}  // namespace knn
