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

TEST_CASE_FIXTURE(VectorFolder, "vector files: rows that each begin with their length") {
    const auto row = [](const auto& numbers) { return raw(std::int32_t(numbers.size())) + raw(numbers); };
    using Floats = std::vector<float>;
    const std::string floats = row(Floats{1.5F, -2.5F, 1e-40F}) + row(Floats{3e38F, 0, -0.0F}),
                      bytes = row(std::vector<std::uint8_t>{0, 255}) + row(std::vector<std::uint8_t>{7, 8}),
                      whole = row(std::vector<std::int32_t>{-2147483647, 16777217});
    const VectorSet set = read("x.fvecs", floats);
    CHECK(set.type == ElementType::float32);
    CHECK(set.count == 2);
    CHECK(set.dim == 3);
    CHECK(set.name == "x");
    CHECK(!set.are_images());
    CHECK(!set.has_labels());
    CHECK(values_of(set) == Doubles{1.5, -2.5, 1e-40F, 3e38F, 0, -0.0});
    CHECK(values("X.BVECS", bytes) == Doubles{0, 255, 7, 8});
    CHECK(read("x.ivecs", whole).type == ElementType::float64);
    CHECK(values("x.ivecs", whole) == Doubles{-2147483647, 16777217});
    CHECK(values("y.fvecs.gz", gzip(floats)) == values_of(set));
    CHECK(values("z.fvecs", floats, {.first = 1}) == Doubles{1.5, -2.5, 1e-40F});

    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    none = std::numeric_limits<float>::quiet_NaN();
    check_wrong(
        {{"a.fvecs", floats.substr(0, 31),
          "has 31 bytes, which are not rows of 3 columns; expected whole rows, all with as many columns as "
          "the first"},
         {"b.fvecs", row(Floats{1, 2}) + row(Floats{1}) + "abcd",
          "row 2 has 1 column; expected as many as row 1 has, 2"},
         {"c.fvecs", raw(std::int32_t(-3)) + "abcdefgh", "declares rows of -3 columns; expected 1 to 65536"},
         {"d.fvecs", raw(std::int64_t(0)), "has rows without columns; expected at least one column"},
         {"e.fvecs", raw(std::int32_t(65'537)) + "abcd",
          "declares rows of 65,537 columns; expected at most 65,536 columns"},
         {"f.fvecs", "ab", "is cut short within its first row; expected the number of columns as int32"},
         {"g.fvecs.gz", gzip(floats.substr(0, 31)),
          "is cut short within row 2; expected whole rows of 3 columns"},
         {"h.fvecs", row(Floats{1, 2}) + row(Floats{3, none}),
          "row 2, column 2 is not a number (NaN); expected finite numbers"},
         {"i.fvecs", row(Floats{-infinity, 2}) + row(Floats{3, none}),
          "row 1, column 1 is infinite; expected finite numbers"}});
}

TEST_CASE_FIXTURE(VectorFolder, "vector files: two sizes, then the rows") {
    const auto file = [](std::uint32_t n, std::uint32_t dim, const std::string& data) {
        return raw(n) + raw(dim) + data;
    };
    const std::string floats = file(2, 1, raw(std::vector<float>{1.25F, -3})),
                      small = file(1, 3, "\x01\x80\xff");
    CHECK(read("x.fbin", floats).type == ElementType::float32);
    CHECK(values("x.fbin", floats) == Doubles{1.25, -3});
    CHECK(values("y.fbin", floats, {.first = 5}) == Doubles{1.25, -3});
    CHECK(values("x.u8bin", small) == Doubles{1, 128, 255});
    CHECK(read("x.i8bin", small).type == ElementType::int8);
    CHECK(values("x.i8bin", small) == Doubles{1, -128, -1});
    CHECK(values("x.ibin", file(1, 1, raw(std::int32_t(-7)))) == Doubles{-7});
    std::string damaged = gzip(file(2, 2, "abcde"));
    damaged[damaged.size() - 8] ^= 1;  // of its checksum
    const std::string gz = gzip(file(1000, 1000, "abcd")), six = " 3 rows of 2 columns = 6 bytes; expected";
    check_wrong(
        {{"a.u8bin", file(0, 3, ""), "holds no rows; expected at least one"},
         {"b.u8bin", "abc",
          "is cut short within its header; expected vectors as IDX, NPY, CSV, .fvecs, .bvecs, .ivecs, .fbin, "
          ".u8bin, .i8bin or .ibin, plain or gzip"},
         {"c.u8bin", file(3, 2, "abcde"), "is cut short: it declares" + six + " as many, not 5"},
         {"d.u8bin", file(3, 2, "abcdefg"), "has trailing bytes: it declares" + six + " as many, not 7"},
         {"e.fbin", file(0xffffffff, 65'536, "abcd"),
          "is cut short: it declares 4,294,967,295 rows of 65,536 columns = 1,125,899,906,580,480 bytes; "
          "expected as many, not 4"},
         {"f.fbin", file(0xffffffff, 0xffffffff, "abcd"),
          "declares 4,294,967,295 rows of 4,294,967,295 columns; expected at most 65,536 columns"},
         {"g.fbin.gz", gz,
          "is cut short: it declares 1,000 rows of 1,000 columns = 4,000,000 bytes; expected more than " +
              std::to_string(gz.size()) + " bytes of gzip can hold"},
         {"h.u8bin.gz", gzip(file(2, 2, "abcde")), "has trailing bytes; expected 2 rows of 2 columns alone"},
         {"k.u8bin.gz", damaged,
          "is damaged: the gzip checksum does not match; expected vectors as IDX, NPY, CSV, .fvecs, .bvecs, "
          ".ivecs, "
          ".fbin, .u8bin, .i8bin or .ibin, plain or gzip"},
         {"i.u8bin.gz", gzip(file(2, 2, "abc")), "is cut short within row 2; expected 2 rows of 2 columns"},
         {"j.u8bin",
          file(3, 2, "abcdef"),
          "needs 6 bytes of memory, of which 5 are free; expected that much free memory, or fewer rows",
          {.free_bytes = 5}}});
    CHECK(load_vectors(folder / "j.u8bin", {.first = 2, .free_bytes = 5}).count == 2);
}

TEST_CASE_FIXTURE(VectorFolder, "vector files: IDX of each type") {
    const VectorSet images = read("a", idx_images(2, 4, 3)),
                    rows = read("b", idx_header(8, {2, 3}) + "abcdef");
    CHECK(images.shape == ImageShape{4, 3});
    CHECK(images.dim == 12);
    CHECK(text_of(images.elements) == pattern(24));
    CHECK(!rows.are_images());
    CHECK(rows.dim == 3);
    CHECK(values("c", idx_header(9, {1, 2}) + "\xff\x01") == Doubles{-1, 1});
    CHECK(values("d", idx_header(13, {1, 1, 2}) + raw(std::vector<float>{1.5F, -2}, true)) ==
          Doubles{1.5, -2});
    const std::string wide = idx_header(14, {1, 2}) + raw(Doubles{1e300, -2}, true);
    CHECK(read("e", wide).type == ElementType::float64);
    CHECK(values("e", wide) == Doubles{1e300, -2});
    check_wrong(
        {{"f", idx_labels(3), "holds labels; expected rows: an IDX file of 2 or 3 sizes"},
         {"l", idx_header(13, {1}) + "abcd", "has one size; expected rows: an IDX file of 2 or 3 sizes"},
         {"g", idx_header(11, {1, 1}) + "ab", "holds int16; expected uint8, int8, float32 or float64"},
         {"m", idx_header(13, {2, 0xffffffff, 0xffffffff}) + "abcd",
          "declares 2 rows of more than 9,223,372,036,854,775,807 columns; expected at most 65,536 columns"},
         {"h", idx_header(8, {1, 1, 1, 1}) + "a", "has 4 sizes; expected an IDX file of 1 to 3"}});
    CHECK(contains(vectors_error(folder.write("i", idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff}))),
                   "; expected at most"));
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
