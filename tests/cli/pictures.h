#pragma once
/// Shared by the tests of `classify`: digits, and pictures of them.

#include "tests/cli/program.h"

namespace knn::test {

/// Real digits of the data set that the program draws: 28×28 pixels each, 0 = background.
struct Digits {
    Folder folder;  ///< with the four IDX files
    std::string images;

    Digits();
    int pixel(int i, int row, int col) const;
    /// The same in the folder, with a cache of its own: what is fitted is fitted once.
    RunOptions here(RunOptions options = {}) const;
    RunResult run(const Words& words, const RunOptions& options = {}) const {
        return program(words, here(options));
    }
    /// Runs `classify` with these images as training set.
    RunResult classify(const Words& words, const RunOptions& options = {}) const {
        return run("classify --data ." + words, options);
    }
    /// One for each picture, of its JSON.
    nlohmann::json answers(const Words& words) const;
    /// Writes a picture of digit i.
    void write_photo(const std::string& name, int i) const;
    /// Images that `evaluate` classifies correctly, one per label.
    std::vector<int> one_of_each() const;
};

/// Paper with digits on it, dark on light, as PGM.
struct Page {
    int rows, cols;
    std::string gray;

    Page(int rows_, int cols_);
    void draw(const Digits& digits, int i, int y, int x, int zoom);
    void fill(int y, int x, int height, int width);
    /// By a quarter, clockwise.
    Page turned() const;
    std::string pgm() const;
};

/// A page with one digit, and the file of one.
Page photo_page(const Digits& digits, int i);
std::string photo(const Digits& digits, int i);

/// The very 28×28 pixels.
std::string raw(const std::string& images, int i);

}  // namespace knn::test
