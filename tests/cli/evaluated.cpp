#include "tests/cli/evaluated.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

namespace knn::test {

namespace {

int png_size(const std::string& png, std::size_t at) {
    int size = 0;
    for (std::size_t i = 0; i < 4; ++i)
        size = size << 8 | static_cast<unsigned char>(png.at(at + i));
    return size;
}

}  // namespace

Evaluated::Evaluated(int test, const std::string& k) {
    SmallSet set;
    set.test = test;
    set.write(folder.path);
    const RunResult result = program(
        {"evaluate", "--data", folder / "", "-k", k, "--device", "cpu", "-q", "--report", folder / "r"});
    REQUIRE(result.exit_code == 0);
    for (const auto& row : csv_rows(read_file(folder / "r/predictions.csv")))
        if (row[0] != "index")
            answers.push_back({std::stoi(row[0]), std::stoi(row[1]), std::stoi(row[2]), std::stod(row[3])});
}

RunResult Evaluated::view(const std::vector<std::string>& extra, const RunOptions& options) const {
    std::vector<std::string> words = {"view", "--from", folder / "r"};
    words.insert(words.end(), extra.begin(), extra.end());
    return program(words, options);
}

std::vector<int> Evaluated::expected(const std::function<bool(const Answer&)>& pass) const {
    std::vector<Answer> chosen;
    std::copy_if(answers.begin(), answers.end(), std::back_inserter(chosen), pass);
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; });
    std::vector<int> indices;
    for (const Answer& answer : chosen)
        indices.push_back(answer.index);
    return indices;
}

bool is_wrong(const Answer& answer) {
    return answer.label != answer.predicted;
}

std::vector<Answer> digits_in(const std::string& text) {
    static const std::regex head(R"(^#(\d+)   true (\d+)   predicted (\d+)   confidence (\d+) %.*)");
    std::vector<Answer> digits;
    for (const std::string& line : lines_of(text)) {
        std::smatch match;
        if (std::regex_match(line, match, head))
            digits.push_back(
                {std::stoi(match[1]), std::stoi(match[2]), std::stoi(match[3]), std::stod(match[4]) / 100});
    }
    return digits;
}

std::vector<int> indices_in(const std::string& text) {
    std::vector<int> indices;
    for (const Answer& digit : digits_in(text))
        indices.push_back(digit.index);
    return indices;
}

nlohmann::json page_data(const std::string& page) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(open) + open.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

int png_width(const std::string& png) {
    return png_size(png, 16);
}
int png_height(const std::string& png) {
    return png_size(png, 20);
}

}  // namespace knn::test
