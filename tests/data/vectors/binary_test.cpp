#include "tests/support/idx_bytes.h"
#include "tests/support/test.h"
#include "tests/support/vector_files.h"

using namespace knn;
using namespace knn::test;
using Doubles = std::vector<double>;

namespace {

/// A line of /proc/self/status, such as "VmHWM:", in bytes.
std::int64_t status_bytes(const std::string& line) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (std::int64_t kib = 0; word == line && status >> kib) return kib << 10;
    return 0;
}

}  // namespace

TEST_CASE_FIXTURE(InFolder, "vector files: what comes in one stream takes its memory once, not twice") {
    if (has_sanitizer) return skip("a sanitizer keeps memory that was given back");
    constexpr std::int64_t n = 300'000, dim = 1000;
    const auto file = folder.write(
        "x.u8bin.gz", gzip(raw(std::uint32_t(n)) + raw(std::uint32_t(dim)) + std::string(n * dim, '\1'), 1));
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // the highest from here on
    const std::int64_t before = status_bytes("VmRSS:");
    if (status_bytes("VmHWM:") > before + (10 << 20)) return skip("the peak of memory cannot be reset");
    CHECK(load_vectors(file).count == n);
    CHECK(status_bytes("VmHWM:") - before < n * dim * 3 / 2);
}

TEST_CASE_FIXTURE(InFolder, "vector files: rows that each begin with their length") {
    const auto row = [](const auto& numbers) { return raw(std::int32_t(numbers.size())) + raw(numbers); };
    using Floats = std::vector<float>;
    const std::string floats = row(Floats{1.5F, -2.5F, 1e-40F}) + row(Floats{3e38F, 0, -0.0F});
    const VectorSet set = load_vectors(folder.write("x.fvecs", floats));
    CHECK(set.type == ElementType::float32);
    CHECK(set.count == 2);
    CHECK(set.dim == 3);
    CHECK(set.name == "x");
    CHECK(!set.are_images());
    CHECK(!set.has_labels());
    CHECK(values_of(set) == Doubles{1.5, -2.5, 1e-40F, 3e38F, 0, -0.0});

    const std::string bytes = row(std::vector<std::uint8_t>{0, 255}) + row(std::vector<std::uint8_t>{7, 8});
    CHECK(values_of(load_vectors(folder.write("X.BVECS", bytes))) == Doubles{0, 255, 7, 8});
    const VectorSet whole =
        load_vectors(folder.write("x.ivecs", row(std::vector<std::int32_t>{-2147483647, 16777217})));
    CHECK(whole.type == ElementType::float64);
    CHECK(values_of(whole) == Doubles{-2147483647, 16777217});

    CHECK(values_of(load_vectors(folder.write("y.fvecs.gz", gzip(floats)))) == values_of(set));
    CHECK(values_of(load_vectors(folder.write("z.fvecs", floats), {.first = 1})) ==
          Doubles{1.5, -2.5, 1e-40F});

    CHECK(vectors_error(folder.write("a.fvecs", floats.substr(0, 31))) ==
          "has 31 bytes, which are not rows of 3 columns; expected whole rows, all with as many columns as "
          "the first");
    CHECK(vectors_error(folder.write("b.fvecs", row(Floats{1, 2}) + row(Floats{1}) + "abcd")) ==
          "row 2 has 1 columns; expected as many as row 1 has, 2");
    CHECK(vectors_error(folder.write("c.fvecs", raw(std::int32_t(-3)) + "abcdefgh")) ==
          "declares rows of -3 columns; expected 1 to 65536");
    CHECK(vectors_error(folder.write("d.fvecs", raw(std::int32_t(0)) + raw(std::int32_t(0)))) ==
          "has rows without columns; expected at least one column");
    CHECK(vectors_error(folder.write("e.fvecs", raw(std::int32_t(65'537)) + "abcd")) ==
          "declares rows of 65,537 columns; expected at most 65,536 columns");
    CHECK(vectors_error(folder.write("f.fvecs", "ab")) ==
          "is cut short within its first row; expected the number of columns as int32");
    CHECK(vectors_error(folder.write("g.fvecs.gz", gzip(floats.substr(0, 31)))) ==
          "is cut short within row 2; expected whole rows of 3 columns");
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    none = std::numeric_limits<float>::quiet_NaN();
    CHECK(vectors_error(folder.write("h.fvecs", row(Floats{1, 2}) + row(Floats{3, none}))) ==
          "row 2, column 2 is not a number (NaN); expected finite numbers");
    CHECK(vectors_error(folder.write("i.fvecs", row(Floats{-infinity, 2}) + row(Floats{3, none}))) ==
          "row 1, column 1 is infinite; expected finite numbers");
}

TEST_CASE_FIXTURE(InFolder, "vector files: two sizes, then the rows") {
    const auto file = [](std::uint32_t n, std::uint32_t dim, const std::string& data) {
        return raw(n) + raw(dim) + data;
    };
    const VectorSet set =
        load_vectors(folder.write("x.fbin", file(2, 1, raw(std::vector<float>{1.25F, -3}))));
    CHECK(set.type == ElementType::float32);
    CHECK(values_of(set) == Doubles{1.25, -3});
    CHECK(values_of(load_vectors(folder.write("x.u8bin", file(1, 3, "\x01\x80\xff")))) ==
          Doubles{1, 128, 255});
    const VectorSet small = load_vectors(folder.write("x.i8bin", file(1, 3, "\x01\x80\xff")));
    CHECK(small.type == ElementType::int8);
    CHECK(values_of(small) == Doubles{1, -128, -1});
    CHECK(values_of(load_vectors(folder.write("x.ibin", file(1, 1, raw(std::int32_t(-7)))))) == Doubles{-7});
    CHECK(values_of(load_vectors(folder.write("y.fbin", file(2, 1, raw(std::vector<float>{1.25F, -3}))),
                                 {.first = 5})) == Doubles{1.25, -3});

    CHECK(vectors_error(folder.write("a.u8bin", file(0, 3, ""))) == "holds no rows; expected at least one");
    CHECK(vectors_error(folder.write("b.u8bin", "abc")) ==
          "is cut short within its header; expected vectors as IDX, NPY, CSV, .fvecs, .bvecs, .ivecs, .fbin, "
          ".u8bin, .i8bin or .ibin, plain or gzip");
    CHECK(vectors_error(folder.write("c.u8bin", file(3, 2, "abcde"))) ==
          "is cut short: it declares 3 rows of 2 columns = 6 bytes; expected as many, not 5");
    CHECK(vectors_error(folder.write("d.u8bin", file(3, 2, "abcdefg"))) ==
          "has trailing bytes: it declares 3 rows of 2 columns = 6 bytes; expected as many, not 7");
    CHECK(vectors_error(folder.write("e.fbin", file(0xffffffff, 65'536, "abcd"))) ==
          "is cut short: it declares 4,294,967,295 rows of 65,536 columns = 1,125,899,906,580,480 bytes; "
          "expected as many, not 4");
    CHECK(vectors_error(folder.write("f.fbin", file(0xffffffff, 0xffffffff, "abcd"))) ==
          "declares 4,294,967,295 rows of 4,294,967,295 columns; expected at most 65,536 columns");
    CHECK(vectors_error(folder.write("g.fbin.gz", gzip(file(1000, 1000, "abcd"))))
              .starts_with("is cut short: it declares 1,000 rows of 1,000 columns = 4,000,000 bytes; "
                           "expected more than "));
    CHECK(vectors_error(folder.write("h.u8bin.gz", gzip(file(2, 2, "abcde")))) ==
          "has trailing bytes; expected 2 rows of 2 columns alone");
    CHECK(vectors_error(folder.write("i.u8bin.gz", gzip(file(2, 2, "abc")))) ==
          "is cut short within row 2; expected 2 rows of 2 columns");
    CHECK(vectors_error(folder.write("j.u8bin", file(3, 2, "abcdef")), {.free_bytes = 5}) ==
          "needs 6 bytes of memory, of which 5 are free; expected that much free memory, or fewer rows");
    CHECK(load_vectors(folder / "j.u8bin", {.first = 2, .free_bytes = 5}).count == 2);
}

TEST_CASE_FIXTURE(InFolder, "vector files: IDX of each type") {
    const VectorSet images = load_vectors(folder.write("a", idx_images(2, 4, 3)));
    CHECK(images.shape == ImageShape{4, 3});
    CHECK(images.dim == 12);
    CHECK(text_of(images.elements) == pattern(24));
    const VectorSet rows = load_vectors(folder.write("b", idx_header(8, {2, 3}) + "abcdef"));
    CHECK(!rows.are_images());
    CHECK(rows.dim == 3);
    CHECK(values_of(load_vectors(folder.write("c", idx_header(9, {1, 2}) + "\xff\x01"))) == Doubles{-1, 1});
    CHECK(values_of(load_vectors(
              folder.write("d", idx_header(13, {1, 1, 2}) + raw(std::vector<float>{1.5F, -2}, true)))) ==
          Doubles{1.5, -2});
    const VectorSet wide =
        load_vectors(folder.write("e", idx_header(14, {1, 2}) + raw(std::vector<double>{1e300, -2}, true)));
    CHECK(wide.type == ElementType::float64);
    CHECK(values_of(wide) == Doubles{1e300, -2});

    CHECK(vectors_error(folder.write("f", idx_labels(3))) ==
          "holds labels; expected rows: an IDX file of 2 or 3 sizes");
    CHECK(vectors_error(folder.write("g", idx_header(11, {1, 1}) + "ab")) ==
          "holds int16; expected uint8, int8, float32 or float64");
    CHECK(vectors_error(folder.write("h", idx_header(8, {1, 1, 1, 1}) + "a")) ==
          "has 4 sizes; expected an IDX file of 1 to 3");
    CHECK(vectors_error(folder.write("i", idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff})))
              .find("; expected at most") != std::string::npos);
    CHECK(numbers_of(load_labels(folder.write("k", idx_header(8, {3}) + "\x05\x01\xff"))) ==
          std::vector{5, 1, 255});
    CHECK(labels_error(folder / "b") ==
          "holds no labels; expected an IDX file of 8-bit labels (magic 00 00 08 01)");
}

TEST_CASE_FIXTURE(InFolder, "vector files: large ones in pieces are the same for any number of threads") {
    std::vector<float> numbers(3'000'000);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<float>(i % 1009) / 7;
    const std::string sizes = raw(std::uint32_t(300'000)) + raw(std::uint32_t(10));
    const auto file = folder.write("x.fbin", sizes + raw(numbers));
    for (const int threads : {1, 2, 7}) {
        const VectorSet set = load_vectors(file, {.threads = threads});
        CHECK(text_of(set.elements) == raw(numbers));
    }
    numbers[2'345'678] = numbers[2'999'999] = std::numeric_limits<float>::quiet_NaN();
    const auto wrong = folder.write("y.fbin", sizes + raw(numbers));
    for (const int threads : {1, 3})
        CHECK(vectors_error(wrong, {.threads = threads}) ==
              "row 234,568, column 9 is not a number (NaN); expected finite numbers");
}
