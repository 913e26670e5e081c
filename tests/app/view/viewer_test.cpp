#include "app/view/shown_window.h"

#include <doctest/doctest.h>

#include "tests/support/sample_evaluation.h"

using namespace knn;

namespace {

constexpr int key_left = 0xff51, key_right = 0xff53, key_page_down = 0xff56, key_home = 0xff50,
              key_end = 0xff57, key_shift = 0xffe1, key_escape = 27, num_lock = 0x100000;

/// Labels of the sample's test images are their index modulo 10.
const test::Sample& sample() {
    static const test::Sample made = test::sample_evaluation();
    return made;
}

Viewer viewer(std::vector<std::int64_t> images = {5, 14, 3, 24, 33, 44, 7, 8, 9, 10, 11, 12, 13}) {
    return {sample().evaluation, std::move(images)};
}

}  // namespace

TEST_CASE("the viewer moves through its list and stops at the ends") {
    Viewer view = viewer();
    CHECK(view.image() == 5);
    CHECK(view.position() == 1);
    CHECK(view.count() == 13);
    for (const int key : {int{'n'}, key_right, int{' '}, int{'N'}, key_right | num_lock})
        CHECK(view.press(key) == Reply::redraw);
    CHECK(view.position() == 6);
    CHECK(view.image() == 44);
    CHECK(view.press('p') == Reply::redraw);
    CHECK(view.press(key_left) == Reply::redraw);
    CHECK(view.position() == 4);
    CHECK(view.press(key_page_down) == Reply::redraw);
    CHECK(view.position() == 13);
    CHECK(view.message().empty());
    view.press('n');
    CHECK(view.position() == 13);
    CHECK(view.message() == "this is the last one");
    view.press(key_home);
    CHECK(view.position() == 1);
    CHECK(view.message().empty());
    view.press(key_end);
    CHECK(view.position() == 13);
}

TEST_CASE("digit keys filter by the true label, and the same key again shows all") {
    Viewer view = viewer();
    view.press('4');
    CHECK(view.count() == 3);
    CHECK(view.image() == 14);
    CHECK(view.filter() == 4);
    view.press('n');
    CHECK(view.image() == 24);
    view.press('4');
    CHECK(view.count() == 13);
    CHECK(view.image() == 24);  // it stays selected
    CHECK(!view.filter());
    view.press(0xffb3);  // 3 on the keypad
    CHECK(view.filter() == 3);
    CHECK(view.image() == 3);
    view.press('4');
    CHECK(view.filter() == 4);
    CHECK(view.count() == 3);
    view.press('6');  // none has it
    CHECK(view.filter() == 4);
    CHECK(view.count() == 3);
    CHECK(view.message() == "none of these has the true label 6");
}

TEST_CASE("help, saving, quitting and keys without a meaning") {
    Viewer view = viewer();
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
    Viewer view = viewer({8});
    view.press('n');
    view.press('p');
    CHECK(view.image() == 8);
    CHECK(view.position() == 1);
    view.press('8');
    CHECK(view.count() == 1);
}
