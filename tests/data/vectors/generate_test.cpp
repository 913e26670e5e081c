#include "data/vectors/generate.h"

#include "data/vectors/write.h"
#include "tests/support/test.h"
#include "tests/support/vector_files.h"

using namespace knn;
using namespace knn::test;

namespace {

std::vector<double> generated(GenerateSettings settings, std::int64_t first, std::int64_t count) {
    settings.type = ElementType::float64;
    std::vector<double> values(static_cast<std::size_t>(count * settings.dim));
    generate_rows(settings, first, count, reinterpret_cast<std::uint8_t*>(values.data()));
    return values;
}

}  // namespace

TEST_CASE("generate: these bytes, on every machine") {
    std::uint64_t sum = 0;  // FNV-1a
    for (const VectorKind kind : {VectorKind::clusters, VectorKind::uniform, VectorKind::singh})
        for (const double value : generated({.kind = kind, .n = 100, .dim = 7, .seed = 5}, 0, 100)) {
            std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
            for (int i = 0; i < 8; ++i, bits >>= 8)
                sum = (sum ^ (bits & 255)) * 0x100000001b3;
        }
    CHECK(sum ==
          8283489224723779833u);  // as a program in Python from the definition in generate.h computes it
}

TEST_CASE("generate: any part of the rows is the same, and further rows follow by skip") {
    for (const VectorKind kind : {VectorKind::clusters, VectorKind::uniform, VectorKind::singh}) {
        GenerateSettings settings{.kind = kind, .n = 50, .dim = 4, .clusters = 3, .seed = 9};
        const std::vector<double> all = generated(settings, 0, 50);
        const std::vector<double> some = generated(settings, 20, 5);
        CHECK(std::equal(some.begin(), some.end(), all.begin() + 80));
        settings.skip = 20;
        CHECK(generated(settings, 0, 5) == some);
        settings.seed = 10;
        CHECK(generated(settings, 0, 5) != some);
    }
}

TEST_CASE("generate: clusters have the spread that was asked for, and others the range") {
    constexpr std::int64_t n = 20'000;
    const GenerateSettings settings{.n = n, .dim = 3, .clusters = 2, .spread = 0.25, .seed = 3};
    const std::vector<double> rows = generated(settings, 0, n),
                              centers =
                                  generated({.n = n, .dim = 3, .clusters = 2, .spread = 0, .seed = 3}, 0, 2);
    double squares = 0, mean = 0, largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < 3; ++j) {
            CHECK(class_of_row(settings, i) == i % 2);
            const double d = rows[std::size_t(i * 3 + j)] - centers[std::size_t(i % 2 * 3 + j)];
            squares += d * d;
            mean += d;
            largest = std::max(largest, std::abs(d));
        }
    CHECK(std::sqrt(squares / (3 * n)) == doctest::Approx(0.25).epsilon(0.01));
    CHECK(std::abs(mean / (3 * n)) < 0.005);
    CHECK(largest <= 3.5 * 0.25);
    for (const double center : centers) {
        CHECK(center >= 0);
        CHECK(center < 1);
    }
    const GenerateSettings singh{.kind = VectorKind::singh, .n = 40, .dim = 5, .clusters = 4, .seed = 2};
    for (const double value : generated(singh, 0, 40)) {
        CHECK(value >= 0);
        CHECK(value <= 1);
        CHECK(std::round(value * 1000) / 1000 == value);
    }
    CHECK(class_of_row(singh, 9) == 0);
    CHECK(class_of_row(singh, 10) == 1);
    CHECK(class_of_row(singh, 39) == 3);
}

TEST_CASE_FIXTURE(InFolder, "vectors: what is written is read back in each format") {
    for (const ElementType type : {ElementType::uint8, ElementType::float32, ElementType::float64}) {
        const GenerateSettings settings{.n = 11, .dim = 5, .spread = 1e-3, .seed = 4, .type = type};
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(11 * 5 * size_of(type)));
        generate_rows(settings, 0, 11, bytes.data());
        const Rows rows{bytes.data(), 11, 5, type};
        for (const std::string name : {"a.npy", "a.csv", "a.fvecs", "a.bvecs", "a.fbin", "a.u8bin"}) {
            if (written_type(name).value_or(type) != type) continue;
            CAPTURE(name);
            std::ostringstream out;
            VectorWriter writer(out, name, 11, 5, type);
            writer.add(rows.first(4));
            writer.add(rows.slice(4, 7));
            const VectorSet read = load_vectors(folder.write(name, out.str()));
            CHECK(read.dim == 5);
            CHECK((name == "a.csv" || read.type == type));
            std::vector<double> values = values_of(read);
            if (type == ElementType::float32)
                for (double& value : values)
                    value = static_cast<float>(value);
            CHECK(values == values_of(rows));
        }
    }
    CHECK(!can_write_vectors("a.ivecs"));
    CHECK(!can_write_vectors("a"));
    CHECK(can_write_vectors("B.NPY"));
}
