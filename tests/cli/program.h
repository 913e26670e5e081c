#pragma once
/// The program under test, and small data sets for it.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run.h"

namespace knn::test {

/// Runs mnist-knn with these arguments, in a folder and an environment without a data set.
RunResult program(const std::vector<std::string>& words, RunOptions options = {});

/// The same surroundings for another command line, which starts the program itself: words[0] is a file.
RunResult started(const std::vector<std::string>& words, RunOptions options = {});
std::string program_file();

/// A temporary folder for one test.
class Folder {
  public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return (path / name).string(); }
    /// Names of its entries, including hidden files.
    std::vector<std::string> names() const;

    std::filesystem::path path;
};

/// Random images and labels, and the four plain IDX files that hold them.
struct SmallSet {
    int rows = 5, cols = 3;
    std::vector<int> classes = {1, 7, 200};
    int train = 40, test = 17;
    int levels = 4;  ///< different pixel values; few make many equal distances
    std::vector<std::vector<int>> train_images, test_images;
    std::vector<int> train_labels, test_labels;

    /// Draws the images and writes the files into `folder`.
    void write(const std::filesystem::path& folder);
};

std::string read_file(const std::filesystem::path& file);
bool contains(const std::string& text, const std::string& part);
std::vector<std::string> lines_of(const std::string& text);
std::vector<std::vector<std::string>> csv_rows(const std::string& text);

/// Whether `text` is the one line "mnist-knn: error: ...", with a semicolon and what was expected.
bool is_one_error_line(const std::string& text);

/// The error line and below it the usage, as after a wrong command line.
bool is_usage_error(const std::string& text);

/// CHECKs that the program refuses this command line: exit 2, a usage error, nothing on standard output.
void check_usage_error(const std::vector<std::string>& words);

}  // namespace knn::test
