#include "tests/cli/program.h"

#include "tests/support/idx_bytes.h"

namespace knn::test {

namespace {

std::string text_of(const std::vector<std::uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
}

}  // namespace

Words::Words(const char* line) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;)
        push_back(word);
}

Words& Words::operator+=(const Words& more) {
    insert(end(), more.begin(), more.end());
    return *this;
}

std::string Words::line() const {
    std::string line;
    for (const std::string& word : *this)
        line += word + ' ';
    return line;
}

std::string program_file() {
    return MNIST_KNN_BINARY;
}

RunResult program(const Words& words, RunOptions options) {
    return started(Words{program_file()} + words, std::move(options));
}

RunResult started(const Words& words, RunOptions options) {
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

std::string output_of(const RunResult& result) {
    REQUIRE(result.exit_code == 0);
    return result.out;
}

std::string silent_output(const RunResult& result) {
    CHECK(without_written(result.err).empty());
    return output_of(result);
}

void check_error(const RunResult& result, int exit_code, const std::string& part, bool late) {
    CAPTURE(part);
    CHECK(result.exit_code == exit_code);
    if (!late) CHECK(result.out.empty());
    const std::size_t usage = exit_code == 2 ? result.err.find("\nusage:") + 1 : std::string::npos;
    CHECK(is_one_error_line(result.err.substr(0, usage)));
    CHECK(contains(result.err, part));
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path()))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

void SmallSet::write(const fs::path& folder) {
    std::mt19937 random(7);
    const auto draw = [&](const std::string& name, int count, Rows& images,
                          std::vector<std::uint8_t>& labels) {
        images = {{}, count, rows * cols};
        labels.clear();
        if (count == 0) return;
        for (int i = 0; i < count; ++i) {
            for (int pixel = 0; pixel < rows * cols; ++pixel)
                images.pixels.push_back(static_cast<std::uint8_t>(
                    static_cast<int>(random() % static_cast<unsigned>(levels)) * 255 / (levels - 1)));
            labels.push_back(static_cast<std::uint8_t>(classes[random() % classes.size()]));
        }
        const auto n = static_cast<std::uint32_t>(count), height = static_cast<std::uint32_t>(rows),
                   width = static_cast<std::uint32_t>(cols);
        test::write(folder / (name + "-images-idx3-ubyte"),
                    idx_header(8, {n, height, width}) + text_of(images.pixels));
        test::write(folder / (name + "-labels-idx1-ubyte"), idx_header(8, {n}) + text_of(labels));
    };
    draw("train", train, train_images, train_labels);
    draw("t10k", test, test_images, test_labels);
}

std::string SmallSet::train_pixels(std::size_t i) const {
    const auto dim = static_cast<std::size_t>(train_images.dim);
    return text_of(train_images.pixels).substr(i * dim, dim);
}

Work::Work(SmallSet of) : set(std::move(of)) {
    set.write(folder.path());
}

RunResult Work::run(const Words& words, RunOptions options) const {
    const Words command = {words.front()}, rest(words.begin() + 1, words.end());
    return plain(command + "--data . --device cpu" + rest, std::move(options));
}

RunResult Work::plain(const Words& words, RunOptions options) const {
    options.folder = folder.path().string();
    return program(words, std::move(options));
}

std::string Work::file(const std::string& name) const {
    return read_file(folder / name);
}

void Work::make_all_images_equal() const {
    const auto pixels = static_cast<std::size_t>(set.train * set.rows * set.cols);
    overwrite(folder / "train-images-idx3-ubyte", 16, std::string(pixels, '\x05'));
}

std::vector<Nearest> nearest_rows(const Rows& train, const Rows& query, int k, const Measure& measure) {
    const Neighbors found = nearest(train, query, k, measure);
    std::vector<Nearest> all(static_cast<std::size_t>(query.n));
    for (std::size_t i = 0; i < found.rows.size(); ++i)
        all[i / static_cast<std::size_t>(k)].emplace_back(found.rows[i].distance, found.rows[i].index);
    return all;
}

std::vector<Nearest> nearest_others(const Rows& images) {
    std::vector<Nearest> all = nearest_rows(images, images, static_cast<int>(images.n));
    for (std::size_t i = 0; i < all.size(); ++i)
        std::erase_if(all[i], [&](const auto& one) { return one.second == static_cast<std::int64_t>(i); });
    return all;
}

std::pair<int, double> majority(const SmallSet& set, const Nearest& nearest, std::size_t k) {
    std::vector<Neighbor> voters;
    for (std::size_t i = 0; i < k; ++i)
        voters.push_back(
            {static_cast<std::uint32_t>(nearest[i].first), static_cast<std::uint32_t>(nearest[i].second)});
    const Vote winner = vote(voters, set.train_labels, Weights::uniform, Tie::smallest, {});
    return {winner.label, winner.vote_share};
}

void write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(name).parent_path());
    std::ofstream(name, std::ios::binary) << content;
}

void overwrite(const std::string& name, std::size_t at, const std::string& bytes) {
    std::ofstream file(name, std::ios::binary | std::ios::in);
    file.seekp(static_cast<std::streamoff>(at)) << bytes;
}

void check_contains(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) {
        CAPTURE(part);
        CHECK(contains(text, part));
    }
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

nlohmann::json page_data(const std::string& page) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(open) + open.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::pair<int, int> png_size(const std::string& png) {
    const auto number = [&](std::size_t at) {
        int size = 0;
        for (std::size_t i = 0; i < 4; ++i)
            size = size << 8 | static_cast<unsigned char>(png.at(at + i));
        return size;
    };
    return {number(16), number(20)};
}

std::string without_written(std::string err) {
    while (err.starts_with("mnist-knn: wrote "))
        err.erase(0, err.find('\n') + 1);
    return err;
}

bool is_one_error_line(const std::string& err) {
    const std::string text = without_written(err);
    return text.starts_with("mnist-knn: error: ") && text.find("; ") != std::string::npos &&
           text.find('\n') + 1 == text.size();
}

std::string python_with_scipy() {
    for (const std::string python : {"python3", "/usr/bin/python3"})
        if (run({"/bin/sh", "-c", python + " -c 'import numpy, scipy' 2>/dev/null"}).exit_code == 0)
            return python;
    return "";
}

}  // namespace knn::test
