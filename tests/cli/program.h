#pragma once
/// The program under test, and small data sets for it.

#include <nlohmann/json.hpp>

#include "tests/support/oracle.h"
#include "tests/support/test.h"

namespace knn::test {

namespace fs = std::filesystem;
using nlohmann::json;

/// A command line: a list of words, or one line of words with blanks between them.
class Words : public std::vector<std::string> {
  public:
    using std::vector<std::string>::vector;
    Words(const char* line);
    Words(const std::string& line) : Words(line.c_str()) {}
    Words& operator+=(const Words& more);
    friend Words operator+(Words words, const Words& more) { return words += more; }
    std::string line() const;
};

/// Runs mnist-knn with these arguments, in a folder and an environment without a data set.
RunResult program(const Words& words, RunOptions options = {});

/// The same surroundings for another command line, which starts the program itself: words[0] is a file.
RunResult started(const Words& words, RunOptions options = {});
std::string program_file();

/// The output of a run that must succeed.
std::string output_of(const RunResult& result);
/// The same of one that says nothing on standard error beside the names of the files that it wrote.
std::string silent_output(const RunResult& result);
/// CHECKs that the run ended with `exit_code`, nothing on standard output and one error line with `part`; below it is
/// the usage if the code is 2. `late`: text may have been written before.
void check_error(const RunResult& result, int exit_code, const std::string& part = "", bool late = false);

/// A temporary folder for one test, of which names are strings.
class Folder : public TempFolder {
  public:
    std::string operator/(const std::string& name) const { return (path() / name).string(); }
    /// Names of its entries, including hidden files.
    std::vector<std::string> names() const;
};

/// Random images and labels, and the plain IDX files that hold them.
struct SmallSet {
    int rows = 5, cols = 3;
    std::vector<int> classes = {1, 7, 200};
    int train = 40, test = 17;  ///< test: 0: no files
    int levels = 4;             ///< different pixel values; few make many equal distances
    Rows train_images = {}, test_images = {};
    std::vector<std::uint8_t> train_labels = {}, test_labels = {};

    /// Draws the images and writes the files into `folder`.
    void write(const std::filesystem::path& folder);
    /// The bytes of a training image.
    std::string train_pixels(std::size_t i) const;
};

/// A small data set in a folder of its own, where the program runs on the CPU.
struct Work {
    explicit Work(SmallSet set = {});

    /// Runs a command, with --data . --device cpu behind its name.
    RunResult run(const Words& words, RunOptions options = {}) const;
    /// The same, and it must succeed: what it writes to standard output, and its JSON.
    std::string output(const Words& words) const { return output_of(run(words)); }
    nlohmann::json report(const Words& words) const {
        return nlohmann::json::parse(output(words + "--json -"));
    }
    /// Runs a command as it is.
    RunResult plain(const Words& words, RunOptions options = {}) const;

    std::string file(const std::string& name) const;
    nlohmann::json json_of(const std::string& name) const { return nlohmann::json::parse(file(name)); }
    void make_all_images_equal() const;

    Folder folder;
    SmallSet set;
};

/// The k nearest (score, index) of each query in order; for each of the images, all others.
using Nearest = std::vector<std::pair<std::int64_t, std::int64_t>>;
std::vector<Nearest> nearest_rows(const Rows& train, const Rows& query, int k, const Measure& measure = {});
std::vector<Nearest> nearest_others(const Rows& images);

/// The most frequent label of the first k, ties to the smallest, and its share.
std::pair<int, double> majority(const SmallSet& set, const Nearest& nearest, std::size_t k);

/// Makes the folders on the way.
void write(const std::string& name, const std::string& content);
/// Replaces bytes in the middle of a file.
void overwrite(const std::string& name, std::size_t at, const std::string& bytes);
/// CHECKs that the text contains each part.
void check_contains(const std::string& text, std::initializer_list<const char*> parts);
std::vector<std::string> lines_of(const std::string& text);
std::vector<std::vector<std::string>> csv_rows(const std::string& text);
/// The data that a page's scripts read.
nlohmann::json page_data(const std::string& page);
/// Width and height.
std::pair<int, int> png_size(const std::string& png);

/// Standard error without the first lines "mnist-knn: wrote FILE".
std::string without_written(std::string err);
/// Whether `text`, but for these, is the one line "mnist-knn: error: ...", with a semicolon and what was expected.
bool is_one_error_line(const std::string& text);

/// A Python that has NumPy and SciPy; empty: none. Debian's own comes after the first in PATH.
std::string python_with_scipy();

}  // namespace knn::test
