#include "tests/cli/pictures.h"

namespace knn::test {

Digits::Digits() {
    output_of(program("info --write-synthetic " + folder.path().string()));
    images = read_file(folder / "t10k-images-idx3-ubyte").substr(16);
}

int Digits::pixel(int i, int row, int col) const {
    return static_cast<unsigned char>(images[static_cast<std::size_t>(i * 784 + row * 28 + col)]);
}

RunOptions Digits::here(RunOptions options) const {
    options.environment.emplace("XDG_CACHE_HOME", folder / "cache");
    options.folder = folder.path().string();
    return options;
}

json Digits::answers(const Words& words) const {
    return json::parse(classify(words + "--json -").out)["pictures"];
}

void Digits::write_photo(const std::string& name, int i) const {
    write(folder / name, photo(*this, i));
}

std::vector<int> Digits::one_of_each() const {
    output_of(program("evaluate --device cpu --data " + folder.path().string() + " --predictions " +
                      (folder / "p.csv")));
    std::vector<int> chosen(10, -1);
    for (const auto& row : csv_rows(read_file(folder / "p.csv")))
        if (row[0] != "index" && row[1] == row[2] && row[4] == "1")
            chosen[static_cast<std::size_t>(std::stoi(row[1]))] = std::stoi(row[0]);
    return chosen;
}

Page::Page(int rows_, int cols_)
    : rows(rows_), cols(cols_), gray(static_cast<std::size_t>(rows_ * cols_), '\xf0') {}

void Page::draw(const Digits& digits, int i, int y, int x, int zoom) {
    for (int row = 0; row < 28 * zoom; ++row)
        for (int col = 0; col < 28 * zoom; ++col) {
            char& target = gray[static_cast<std::size_t>((y + row) * cols + x + col)];
            const int ink = digits.pixel(i, row / zoom, col / zoom);
            target =
                static_cast<char>(std::min<int>(static_cast<unsigned char>(target), 240 - ink * 220 / 255));
        }
}

void Page::fill(int y, int x, int height, int width) {
    for (int row = y; row < y + height; ++row)
        for (int col = x; col < x + width; ++col)
            gray[static_cast<std::size_t>(row * cols + col)] = '\x20';
}

Page Page::turned() const {
    Page page(cols, rows);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < cols; ++x)
            page.gray[static_cast<std::size_t>(x * rows + rows - 1 - y)] =
                gray[static_cast<std::size_t>(y * cols + x)];
    return page;
}

std::string Page::pgm() const {
    return "P5\n" + std::to_string(cols) + " " + std::to_string(rows) + "\n255\n" + gray;
}

Page photo_page(const Digits& digits, int i) {
    Page page(28 * 4 + 60, 28 * 4 + 90);
    page.draw(digits, i, 30, 45, 4);
    return page;
}

std::string photo(const Digits& digits, int i) {
    return photo_page(digits, i).pgm();
}

std::string raw(const std::string& images, int i) {
    return "P5\n28 28\n255\n" + images.substr(static_cast<std::size_t>(i * 784), 784);
}

}  // namespace knn::test
