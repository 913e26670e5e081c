#include "tests/cli/program.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace knn::test {

namespace {

void put_size(std::ofstream& file, std::uint32_t size) {
    for (int shift = 24; shift >= 0; shift -= 8)
        file.put(static_cast<char>(size >> shift & 0xff));
}

void write_images(const fs::path& name, const std::vector<std::vector<int>>& images, int rows, int cols) {
    std::ofstream file(name, std::ios::binary);
    put_size(file, 0x803);
    put_size(file, static_cast<std::uint32_t>(images.size()));
    put_size(file, static_cast<std::uint32_t>(rows));
    put_size(file, static_cast<std::uint32_t>(cols));
    for (const auto& image : images)
        for (const int pixel : image)
            file.put(static_cast<char>(pixel));
}

void write_labels(const fs::path& name, const std::vector<int>& labels) {
    std::ofstream file(name, std::ios::binary);
    put_size(file, 0x801);
    put_size(file, static_cast<std::uint32_t>(labels.size()));
    for (const int label : labels)
        file.put(static_cast<char>(label));
}

}  // namespace

std::string program_file() {
    return MNIST_KNN_BINARY;
}

RunResult program(const std::vector<std::string>& words, RunOptions options) {
    std::vector<std::string> all = {program_file()};
    all.insert(all.end(), words.begin(), words.end());
    return started(all, std::move(options));
}

RunResult started(const std::vector<std::string>& words, RunOptions options) {
    // An empty variable counts as unset. Folders below a file hide the user's own data, and nobody can make them: the
    // CUDA driver makes $HOME.
    for (const char* name : {"MNIST_KNN_DATA", "NO_COLOR"})
        options.environment.emplace(name, "");
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"})
        options.environment.emplace(name, "/dev/null/none");
    options.environment.emplace("XDG_CACHE_HOME", "/dev/null");  // no folder: nothing is cached
    options.environment.emplace("TERM", "xterm");
    if (options.folder.empty()) options.folder = "/dev";  // has no data/mnist
    return run(words, options);
}

Folder::Folder() {
    std::string name = (fs::temp_directory_path() / "mnist-knn-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path = name;
}

Folder::~Folder() {
    std::error_code none;
    fs::remove_all(path, none);
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

void SmallSet::write(const fs::path& folder) {
    std::mt19937 random(7);
    const auto draw = [&](int count, std::vector<std::vector<int>>& images, std::vector<int>& labels) {
        for (int i = 0; i < count; ++i) {
            std::vector<int> image(static_cast<std::size_t>(rows * cols));
            for (int& pixel : image)
                pixel = static_cast<int>(random() % static_cast<unsigned>(levels)) * 255 / (levels - 1);
            images.push_back(image);
            labels.push_back(classes[random() % classes.size()]);
        }
    };
    draw(train, train_images, train_labels);
    draw(test, test_images, test_labels);
    write_images(folder / "train-images-idx3-ubyte", train_images, rows, cols);
    write_labels(folder / "train-labels-idx1-ubyte", train_labels);
    write_images(folder / "t10k-images-idx3-ubyte", test_images, rows, cols);
    write_labels(folder / "t10k-labels-idx1-ubyte", test_labels);
}

std::string read_file(const fs::path& name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + name.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : lines_of(text)) {
        rows.emplace_back();
        std::istringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');)
            rows.back().push_back(cell);
    }
    return rows;
}

bool is_one_error_line(const std::string& text) {
    return text.starts_with("mnist-knn: error: ") && text.find("; ") != std::string::npos &&
           text.find('\n') + 1 == text.size();
}

bool is_usage_error(const std::string& text) {
    const std::size_t end = text.find('\n');
    return end != std::string::npos && is_one_error_line(text.substr(0, end + 1)) &&
           text.compare(end + 1, 6, "usage:") == 0;
}

void check_usage_error(const std::vector<std::string>& words) {
    const RunResult result = program(words);
    CAPTURE(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(is_usage_error(result.err));
}

}  // namespace knn::test
