
#include "app/view/shown_window.h"
#include "tests/support/test.h"

namespace knn {

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

}  // namespace knn
