#include "app/view/shown_window.h"

#include "tests/support/sample_evaluation.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

constexpr int key_left = 0xff51, key_right = 0xff53, key_page_down = 0xff56, key_home = 0xff50,
              key_end = 0xff57, key_shift = 0xffe1, key_escape = 27, num_lock = 0x100000;

/// Labels of the sample's test images are their index modulo 10.
const test::Sample& sample() {
    static const test::Sample made = test::sample_evaluation();
    return made;
}

/// A key, and what is there after it; an empty filter: none.
struct Step {
    int key;
    Reply reply;
    std::int64_t position, image;
    std::string message = "";
    int count = 13;
    std::string filter = "";
};

void check_steps(const std::vector<Step>& steps) {
    Viewer view(sample().evaluation, {5, 14, 3, 24, 33, 44, 7, 8, 9, 10, 11, 12, 13});
    CHECK(view.image() == 5);
    CHECK(view.position() == 1);
    CHECK(view.count() == 13);
    for (const Step& step : steps) {
        CAPTURE(step.key);
        CHECK(view.press(step.key) == step.reply);
        CHECK(view.position() == step.position);
        CHECK(view.image() == step.image);
        CHECK(view.message() == step.message);
        CHECK(view.count() == step.count);
        CHECK(view.filter().value_or("") == step.filter);
    }
}

}  // namespace

TEST_CASE("the viewer moves through its list and stops at the ends") {
    const std::string last = "this is the last one";
    check_steps({{'n', Reply::redraw, 2, 14},
                 {key_right, Reply::redraw, 3, 3},
                 {' ', Reply::redraw, 4, 24},
                 {'N', Reply::redraw, 5, 33},
                 {key_right | num_lock, Reply::redraw, 6, 44},
                 {'p', Reply::redraw, 5, 33},
                 {key_left, Reply::redraw, 4, 24},
                 {key_page_down, Reply::redraw, 13, 13},
                 {'n', Reply::redraw, 13, 13, last},
                 {key_home, Reply::redraw, 1, 5},
                 {key_end, Reply::redraw, 13, 13}});
}

TEST_CASE("digit keys filter by the true label, and the same key again shows all") {
    check_steps({{'4', Reply::redraw, 1, 14, "", 3, "4"},
                 {'n', Reply::redraw, 2, 24, "", 3, "4"},
                 {'4', Reply::redraw, 4, 24},                // it stays selected
                 {0xffb3, Reply::redraw, 1, 3, "", 3, "3"},  // 3 on the keypad
                 {'4', Reply::redraw, 1, 14, "", 3, "4"},
                 {'6', Reply::redraw, 1, 14, "none of these has the true label 6", 3, "4"}});
}

TEST_CASE("digit keys mean the names of classes, where they have names") {
    const test::Sample named =
        test::sample_evaluation({.names = {"a", "b", "c", "d", "7", "f", "g", "h", "i", "j"}});
    Viewer view(named.evaluation, {5, 14, 3, 24});
    CHECK(view.press('4') == Reply::redraw);
    CHECK(view.message() == "none of these has the true label 4");
    CHECK(view.press('7') == Reply::redraw);
    CHECK(view.filter() == "7");
    CHECK(view.count() == 2);
    CHECK(named.evaluation.truth(view.image()) == 4);
}

TEST_CASE("help, saving, quitting and keys without a meaning") {
    Viewer view(sample().evaluation, {5, 14, 3});
    CHECK(view.press('h') == Reply::redraw);
    CHECK(view.help());
    CHECK(view.press(key_shift) == Reply::nothing);
    CHECK(view.help());
    CHECK(view.press(key_escape) == Reply::redraw);  // first closes the help
    CHECK(!view.help());
    CHECK(view.press('s') == Reply::save);
    view.tell("saved");
    CHECK(view.message() == "saved");
    CHECK(view.press(-1) == Reply::nothing);
    CHECK(view.message() == "saved");
    CHECK(view.press('x') == Reply::redraw);
    CHECK(view.message().empty());
    CHECK(view.press('x') == Reply::nothing);
    CHECK(view.press('q') == Reply::quit);
    CHECK(view.press(key_escape) == Reply::quit);
    CHECK(view.press(key_escape | num_lock) == Reply::quit);
}

TEST_CASE("a list of one") {
    Viewer view(sample().evaluation, {8});
    view.press('n');
    view.press('p');
    CHECK(view.image() == 8);
    CHECK(view.position() == 1);
    view.press('8');
    CHECK(view.count() == 1);
}

TEST_CASE("drawing: a stroke begins on the pad and goes on at its border") {
    PadDrawing drawing;
    drawing.press({-1, 5});
    drawing.press({5, PadDrawing::side});
    drawing.move({7, 7});
    CHECK(drawing.empty());
    drawing.press({5, 6});
    drawing.move({5, 6});
    drawing.move({-40, 9});
    drawing.move({9, 4 * PadDrawing::side});
    CHECK(drawing.pen_is_down());
    drawing.lift();
    drawing.move({50, 50});
    CHECK_FALSE(drawing.pen_is_down());
    REQUIRE(drawing.strokes().size() == 1);
    CHECK(drawing.strokes()[0] == Stroke{{5, 6}, {0, 9}, {9, PadDrawing::side - 1}});
}

TEST_CASE("drawing: undo takes strokes back one by one, also the one that is drawn") {
    PadDrawing drawing;
    CHECK_FALSE(drawing.undo());
    drawing.press({1, 1});
    drawing.lift();
    drawing.press({2, 2});
    CHECK(drawing.undo());
    drawing.move({3, 3});
    REQUIRE(drawing.strokes().size() == 1);
    CHECK(drawing.strokes()[0] == Stroke{{1, 1}});
    CHECK(drawing.undo());
    CHECK(drawing.empty());
    drawing.press({1, 1});
    drawing.clear();
    CHECK(drawing.empty());
    drawing.move({2, 2});
    CHECK(drawing.empty());
}

TEST_CASE_FIXTURE(test::InFolder, "drawing: it is saved as a new file, and not where a link leads") {
    const std::vector<std::uint8_t> png = {1, 2, 3};
    const std::string stem = (folder.path() / "drawing").string();
    std::filesystem::create_symlink(folder.path() / "elsewhere", stem + ".png");
    CHECK(save_picture(stem, png) == "saved " + stem + "-2.png");
    CHECK(save_picture(stem, png) == "saved " + stem + "-3.png");
    CHECK(!std::filesystem::exists(folder.path() / "elsewhere"));
}
