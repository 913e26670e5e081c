#include "classifier/picture_answers.h"

#include <doctest/doctest.h>

using knn::DigitImage;

TEST_CASE("sizes: the smaller one is kept where its neighbors are clearly nearer") {
    std::vector<DigitImage> images(3);
    for (DigitImage& image : images)
        image.pixels.fill(1);
    images[0].smaller.emplace().fill(2);
    images[2].smaller.emplace().fill(3);
    std::vector<DigitImage*> digits = {&images[0], &images[1], &images[2]};
    const std::vector<std::uint8_t> rows = knn::rows_to_search(digits);
    REQUIRE(rows.size() == 5 * 784);
    for (std::size_t row = 0; row < 5; ++row)
        CHECK(rows[row * 784] == std::array{1, 2, 1, 1, 3}[row]);
    knn::Neighbors found(5, 2);
    const std::uint32_t squares[5] = {10000, 9603, 1, 10000, 9216};  // 100, 98, 1, 100 and 96 away
    for (int row = 0; row < 5; ++row)
        for (knn::Neighbor& neighbor : found.row(row))
            neighbor.distance = squares[row];
    CHECK(knn::choose_sizes(digits, {}, found) == std::vector<std::int64_t>{0, 2, 4});
    CHECK(images[0].pixels[0] == 1);
    CHECK(images[2].pixels[0] == 3);
    for (const DigitImage& image : images)
        CHECK(!image.smaller);
}
