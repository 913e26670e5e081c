#include "app/report/page.h"

#include "tests/support/sample_evaluation.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// Characters of UTF-8 text: all bytes but the continuing ones.
std::size_t columns(const std::string& text) {
    std::size_t count = 0;
    for (const char c : text)
        count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return count;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("two rows of pixels become one line") {
    const std::uint8_t image[] = {255, 255, 0,   0,  //
                                  255, 0,   255, 0};
    CHECK(block_lines(image, 2, 4) == Lines{"█▀▄ "});
    const std::uint8_t tall[] = {255, 0, 255};  // a last row alone stands above background
    CHECK(block_lines(tall, 3, 1) == Lines{"▀", "▀"});
}

TEST_CASE("shades of gray become shades") {
    const std::uint8_t image[] = {0, 50, 120, 200, 255,  //
                                  0, 50, 120, 200, 255};
    CHECK(block_lines(image, 2, 5) == Lines{" ░▓██"});
}

TEST_CASE("large images are shrunk") {
    const std::vector<std::uint8_t> image(300 * 200, 255);
    const Lines lines = block_lines(image.data(), 300, 200);
    CHECK(lines.size() == 25);  // 50 pixels of 6 × 6
    for (const std::string& line : lines)
        CHECK(columns(line) == 34);
    CHECK(lines[3].starts_with("█"));
}

TEST_CASE("the text names classes that have names") {
    test::SampleOptions options;
    options.names = {"zero", "one", "two",   "three", "four",
                     "five", "six", "seven", "eight", std::string(99, '9')};
    const test::Sample sample = test::sample_evaluation(options);
    const std::string text = block_text(sample.evaluation, {{3, 9}, ""}, 2, false);
    CHECK(test::contains(text, "#3   true three   predicted "));
    CHECK(test::contains(text, "#9   true " + std::string(20, '9') + "...   predicted "));
    const std::string numbered = block_text(test::sample_evaluation().evaluation, {{3, 9}, ""}, 2, false);
    for (const char* words : {"3: 100 %", "  3  "})
        CHECK(test::contains(numbered, words));
    for (const char* words : {"three: 100 %", "  three  "})
        CHECK(test::contains(text, words));
}

TEST_CASE("the text fits 80 columns and says when not all neighbors are listed") {
    test::SampleOptions options;
    options.k = 64;
    options.rows = options.cols = 28;
    const test::Sample sample = test::sample_evaluation(options);
    const std::string text = block_text(sample.evaluation, misclassified(sample.evaluation), 12345, false);
    CHECK(test::contains(text, "1 of 12,345\n"));
    CHECK(test::contains(text, "and 54 more\n"));
    CHECK(!test::contains(text, " \n"));
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
        CHECK(columns(text.substr(begin, end - begin)) <= 80);
    CHECK(block_text(sample.evaluation, {}, 0, false).empty());
}
