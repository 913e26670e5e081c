#include "data/transform/scaling.h"

#include "cpu/transform/transform.h"
#include "data/core/errors.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

namespace knn {
namespace {

template <class Element>
Rows rows_of(const std::vector<Element>& elements, std::int64_t dim, ElementType type) {
    return {reinterpret_cast<const std::uint8_t*>(elements.data()), std::ssize(elements) / dim, dim, type};
}

std::vector<double> scaled(const ColumnScaling& scaling, const Rows& rows) {
    std::vector<double> all(static_cast<std::size_t>(rows.count * rows.dim));
    for (std::int64_t i = 0; i < rows.count; ++i)
        scale_row(scaling, rows.row(i), all.data() + i * rows.dim);
    return all;
}

TEST_CASE("transform: minmax and zscore of every type, with a constant column") {
    const std::vector<std::int8_t> small = {-2, 7, 1, 2, 7, 5};
    const std::vector<float> floats(small.begin(), small.end());
    const std::vector<double> doubles(small.begin(), small.end());
    const std::vector<std::uint8_t> bytes = {0, 7, 3, 4, 7, 7};  // the same, 2 more in columns 1 and 3
    for (const Rows& rows :
         {rows_of(small, 3, ElementType::int8), rows_of(floats, 3, ElementType::float32),
          rows_of(doubles, 3, ElementType::float64), rows_of(bytes, 3, ElementType::uint8)}) {
        CAPTURE(name(rows.type));
        const ColumnScaling unit = fit_scaling(TransformKind::minmax, rows);
        CHECK(scaled(unit, rows) == std::vector<double>{0, 0, 0, 1, 0, 1});
        const ColumnScaling standard = fit_scaling(TransformKind::zscore, rows);
        CHECK(scaled(standard, rows) == std::vector<double>{-1, 0, -1, 1, 0, 1});
    }
    // Queries may lie outside, and a column that was constant is 0 whatever they have there.
    const std::vector<double> query = {6, 100, 3};
    const Rows rows = rows_of(doubles, 3, ElementType::float64);
    CHECK(scaled(fit_scaling(TransformKind::minmax, rows), rows_of(query, 3, ElementType::float64)) ==
          std::vector<double>{2, 0, 0.5});
}

TEST_CASE("transform: zscore has mean 0 and deviation 1, far from 0 too, and a constant column is 0") {
    std::vector<double> rows;
    for (int i = 0; i < 1'000; ++i)
        for (const double x : {1e8 + i % 7, 0.1, 1e-30 * i, -5.0 * i})
            rows.push_back(x);
    const std::vector<double> all =
        scaled(fit_scaling(TransformKind::zscore, rows_of(rows, 4, ElementType::float64)),
               rows_of(rows, 4, ElementType::float64));
    for (const std::size_t j : {0U, 2U, 3U}) {
        long double mean = 0, square = 0;
        for (std::size_t i = 0; i < 1'000; ++i) {
            mean += all[4 * i + j] / 1'000;
            square += static_cast<long double>(all[4 * i + j]) * all[4 * i + j] / 1'000;
        }
        CHECK(std::abs(static_cast<double>(mean)) < 1e-7);  // 1e8 has 1e-8 left
        CHECK(std::abs(static_cast<double>(square) - 1) < 1e-9);
    }
    for (std::size_t i = 0; i < 1'000; ++i)
        CHECK(all[4 * i + 1] == 0);
}

TEST_CASE("transform: scaling says where sums are infinite") {
    const double huge = std::numeric_limits<double>::max();
    const std::vector<double> rows = {1, huge, 2, -huge};
    for (const TransformKind kind : {TransformKind::minmax, TransformKind::zscore})
        CHECK_THROWS_WITH_AS(fit_scaling(kind, rows_of(rows, 2, ElementType::float64)),
                             doctest::Contains(", counted from 1: column 2 has numbers of such size"),
                             DataError);
}

TEST_CASE("transform: zscore is the last step, of bytes before it or of rows of any type") {
    const test::Rows images = test::random_rows(40, 28 * 28, 3);
    const knn::Rows rows = images;
    const ImageShape shape{28, 28};
    const FittedTransform deskew = cpu::fit(parse_transform("", "deskew"), rows, shape);
    const std::vector<std::uint8_t> before = cpu::features(deskew, rows);
    const FittedTransform both = cpu::fit(parse_transform("", "deskew,zscore"), rows, shape);
    CHECK(both.type_out() == ElementType::float64);
    CHECK(both.dim_out() == 784);
    for (const int threads : {1, 3}) {
        const std::vector<std::uint8_t> made = cpu::features(both, rows, threads);
        const auto* numbers = reinterpret_cast<const double*>(made.data());
        CHECK(std::vector<double>(numbers, numbers + 40 * 784) ==
              scaled(fit_scaling(TransformKind::zscore, deskew.rows_out(before.data(), 40)),
                     deskew.rows_out(before.data(), 40)));
    }
    for (const char* wrong : {"zscore,pca:3", "minmax,zscore", "zscore,deskew"})
        CHECK_THROWS_WITH_AS(parse_transform("--transform", wrong), doctest::Contains(" last"), UsageError);
    CHECK(parse_transform("", "hog,minmax").text() == "hog,minmax");
}

}  // namespace
}  // namespace knn
