#include "data/transform/fitted.h"

#include "cpu/transform/transform.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("transform: where the values of a row lie on the image") {
    constexpr ImageShape shape{28, 28};
    const std::vector<std::uint8_t> pixels(30 * 784, 7);
    struct Case {
        const char* list;
        FeatureGrid grid;
    };
    for (const Case& one :
         {Case{"raw", {28, 28, 1}}, Case{"deskew,normalize,blur", {28, 28, 1}}, Case{"gradients", {7, 7, 16}},
          Case{"hog", {6, 6, 36}}, Case{"gradients,pca:12", {1, 1, 12}}, Case{"pca:5", {1, 1, 5}}}) {
        CAPTURE(one.list);
        const FittedTransform fitted =
            cpu::fit(parse_transform("--transform", one.list), {pixels.data(), 30, 784}, shape, 1, nullptr);
        const FeatureGrid found = grid_of(&fitted, shape);
        CHECK(found.rows == one.grid.rows);
        CHECK(found.cols == one.grid.cols);
        CHECK(found.depth == one.grid.depth);
        CHECK(std::int64_t{found.rows} * found.cols * found.depth == fitted.dim_out());
    }
    CHECK(grid_of(nullptr, {3, 9}).cols == 9);
    const FittedTransform flat =
        cpu::fit(parse_transform("--transform", "hog"), {pixels.data(), 30, 84}, {3, 28}, 1, nullptr);
    const FeatureGrid found = grid_of(&flat, {3, 28});  // one row of cells
    CHECK(found.rows == 1);
    CHECK(found.cols == 6);
    CHECK(found.depth == 18);
}
