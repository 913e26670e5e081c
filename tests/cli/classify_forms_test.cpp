/// `classify --numbers`, `--grid` and `--template`, on pages of digits that the program draws.

#include "tests/cli/pictures.h"

using namespace knn::test;

namespace {

/// Cells of 120 pixels within lines, 60 pixels from the border.
Page grid(int rows, int cols) {
    Page page(120 * rows + 120, 120 * cols + 120);
    for (int i = 0; i <= rows; ++i)
        page.fill(58 + 120 * i, 58, 4, 120 * cols + 4);
    for (int i = 0; i <= cols; ++i)
        page.fill(58, 58 + 120 * i, 120 * rows + 4, 4);
    return page;
}

const std::string fields = R"({"schema": "mnist-knn/template/1", "frame": "lines", "size": [3, 2], "fields": [
    {"name": "upper", "box": [0, 0, 3, 1], "boxes": 3, "digits": 2},
    {"name": "lower", "box": [0, 1, 2, 1], "boxes": 2, "allowed": "0123456789", "checksum": "none"}]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("classify: a grid as rows of cells, a form as fields") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    Page page = grid(2, 3);
    const auto put = [&](int digit, int row, int col) {
        page.draw(digits, chosen[static_cast<std::size_t>(digit)], 64 + 120 * row, 64 + 120 * col, 4);
    };
    put(3, 0, 0);
    put(7, 0, 1);
    put(5, 1, 1);
    write(digits.folder / "form.pgm", page.pgm());
    const Words words = "--method raw --reject off --device cpu form.pgm";
    CHECK(digits.classify("-q --grid 2x3" + words).out == "37.\n.5.\n");
    const json answer = digits.answers("--grid 2x3" + words).at(0);
    CHECK(answer["text"] == json({"37.", ".5."}));
    CHECK(answer["digits"].size() == 3);
    CHECK_FALSE(answer.contains("fields"));

    write(digits.folder / "allowed.json", with(fields, "0123456789", "5"));
    write(digits.folder / "other.json", with(fields, "0123456789", "123"));
    CHECK(digits.classify("-q --template allowed.json" + words).out == "37\n5\n");
    CHECK(contains(digits.classify("--template other.json" + words).out, "doubtful: 1 digit rejected"));
    const json read = digits.answers("--template other.json" + words).at(0)["fields"];
    CHECK(read[0]["name"] == "upper");
    CHECK(read[0]["text"] == "37");
    CHECK_FALSE(read[0].contains("doubt"));
    CHECK(read[1]["text"] == "?");
    CHECK(read[1]["doubt"] == "1 digit rejected");
    check_error(digits.classify("--template allowed.json --json allowed.json" + words), 1,
                "allowed.json: is read by this command");
    write(digits.folder / "blank.pgm", Page(300, 300).pgm());
    check_error(digits.classify("--grid 9x9 blank.pgm"), 1,
                "blank.pgm: has no frame of lines; expected one around all cells or boxes");
}

TEST_CASE("classify --numbers: a minus sign, a point, and numbers beside each other") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    Page page(240, 1100);
    const auto put = [&](int digit, int x) {
        page.draw(digits, chosen[static_cast<std::size_t>(digit)], 64, x, 4);
    };
    page.fill(116, 40, 8, 50);  // minus
    put(3, 100);
    put(7, 200);
    page.fill(148, 318, 14, 14);  // point
    put(5, 340);
    put(8, 800);
    write(digits.folder / "page.pgm", page.pgm());
    const Words words = "--method raw --reject off --device cpu page.pgm";
    CHECK(digits.classify("-q --numbers" + words).out == "-37.5 8\n");
    CHECK(digits.answers("--numbers" + words).at(0)["text"] == json({"-37.5 8"}));
    CHECK_FALSE(digits.answers("--many" + words).at(0).contains("text"));
}

TEST_CASE("classify --numbers: few numbers beside each other are several") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    const auto read = [&](std::initializer_list<std::pair<int, int>> placed, int point) {
        Page page(240, 1100);
        for (const auto& [digit, x] : placed)
            page.draw(digits, chosen[static_cast<std::size_t>(digit)], 64, x, 4);
        if (point > 0) page.fill(148, point, 14, 14);
        write(digits.folder / "page.pgm", page.pgm());
        return digits.classify("-q --numbers --method raw --reject off --device cpu page.pgm").out;
    };
    CHECK(read({{3, 100}, {7, 200}, {5, 600}}, 0) == "37 5\n");
    CHECK(read({{3, 100}, {7, 500}, {5, 600}}, 0) == "3 75\n");
    CHECK(read({{3, 100}, {7, 240}, {5, 640}}, 218) == "3.7 5\n");
    CHECK(read({{3, 100}, {7, 500}, {5, 640}}, 618) == "3 7.5\n");
    CHECK(read({{3, 100}, {7, 400}, {5, 700}}, 0) == "375\n");  // evenly spaced
}

TEST_CASE("classify --template: what is no template is one line of error, before a picture is read") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const struct {
        std::string text, message;
    } cases[] = {
        {"", "is empty"},
        {"{", "is not JSON, or is cut short"},
        {"[]", "is no object"},
        {with(fields, "template/1", "template/9"), "its schema is 'mnist-knn/template/9'"},
        {with(fields, "0123456789", "x"), "fields[1].allowed is not some of the digits 0 to 9"},
        {with(fields, "0123456789", "77"), "fields[1].allowed is not some of the digits 0 to 9, each once"},
        {with(fields, "upper", ""), "fields[0].name is not 1 to 100 bytes long"},
        {with(fields, "upper", std::string(101, 'n')), "fields[0].name is not 1 to 100 bytes long"},
        {with(fields, "0123456789", ""), "fields[1].allowed is not some of the digits 0 to 9"},
        {with(fields, "\"none\"", "\"crc\""), "fields[1].checksum is 'crc', which is unknown"},
        {with(fields, "\"lines\"", "\"sky\""), "frame is 'sky', which is unknown"},
        {with(fields, "[0, 0, 3, 1]", "[0, 0, 4, 1]"), "fields[0].box is not within the form's size"},
        {with(fields, "[0, 0, 3, 1]", "[0, 0, 3]"), "fields[0].box is not four numbers"},
        {with(fields, "[0, 0, 3, 1]", "[0, 0, 0, 1]"), "fields[0].box[2] is not above 0"},
        {with(fields, "[0, 1, 2, 1]", "[0, 0.4, 2, 1]"), "fields[1].box is over the box of another field"},
        {with(fields, "[0, 1, 2, 1]", "[1, 0, 0.2, 2]"), "fields[1].box is over the box of another field"},
        {with(fields, "[3, 2]", "[3, 0]"), "size[1] is not above 0"},
        {with(fields, "\"boxes\": 3", "\"boxes\": 0"), "fields[0].boxes is out of range: not 1 to 100"},
        {with(fields, "\"boxes\": 3", "\"boxes\": 1e9"), "fields[0].boxes is not an integer"},
        {with(fields, "\"digits\": 2", "\"digits\": 4"), "fields[0].digits is more than its boxes"},
        {with(fields, "\"digits\"", "\"boxes\": 3, \"digits\""), "has boxes twice in one object"},
        {with(fields, "\"size\"", "\"frame\": \"paper\", \"size\""), "has frame twice in one object"},
        {with(fields, "\"lines\"", "\"a\\u0000b\""), "frame is 'a?b', which is unknown; expected a template"},
        {with(fields, "\"digits\"", "\"digit\""), "fields[0].digit is unknown"},
        {with(fields, "\"lower\"", "\"upper\""), "fields[1] is one of two with the same name"},
        {"{\"schema\": \"mnist-knn/template/1\", \"fields\": []}", "has no fields"},
        {"{\"schema\": \"mnist-knn/template/1\"}", "has no fields"},
    };
    for (const auto& one : cases) {
        CAPTURE(one.message);
        write(digits.folder / "t.json", one.text);
        check_error(digits.classify("--template t.json none.pgm"), 1, "t.json: " + one.message);
    }
    check_error(digits.classify("--template no.json none.pgm"), 1, "no.json: no such file");
    std::filesystem::create_symlink("loop.json", digits.folder / "loop.json");
    check_error(digits.classify("--template loop.json none.pgm"), 1,
                "loop.json: cannot be read: Too many levels of symbolic links; expected a template");
    check_error(digits.classify("--template - -"), 2,
                "--template -: standard input is also read for a picture; expected the name of a file");
    check_error(digits.classify("--template - --review r none.pgm"), 2,
                "--template -: standard input is also read for --review; expected the name of a file");
}
