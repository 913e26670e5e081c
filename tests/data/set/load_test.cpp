#include "data/core/errors.h"
#include "data/set/idx.h"
#include "data/set/locate.h"
#include "data/set/training.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/mnist.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace knn::test;
using knn::DataError;
using knn::DataLocation;
using knn::Dataset;

namespace {

DataLocation at(const fs::path& folder) {
    return located(folder.string());
}

std::string load_error(const DataLocation& location) {
    return knn::test::error_of<DataError>([&] { knn::load(location); });
}

}  // namespace

TEST_CASE_FIXTURE(InFolder, "load: both sets, their labels and their names") {
    write_small_dataset(folder, "my digits");
    // Labels 4, 200 and 0 in training, 7 in the test set alone.
    folder.write("my digits/train-labels-idx1-ubyte",
                 idx_header(8, {12}) + std::string("\4\4\4\4\4\4\xc8\xc8\xc8\0\0\0", 12));
    folder.write("my digits/t10k-labels-idx1-ubyte", gzip(idx_header(8, {5}) + "\7\7\7\4\4"));
    const Dataset data = knn::load(at(folder / "my digits/"));
    CHECK(data.name == "my digits");
    CHECK(data.source == (folder / "my digits/").string());
    CHECK_FALSE(data.synthetic);
    CHECK(data.train.count == 12);
    CHECK(data.test.count == 5);
    CHECK(data.train.rows == 4);
    CHECK(data.test.cols == 3);
    CHECK(text_of(data.train.pixels) == pattern(12 * 4 * 3));
    CHECK(text_of(data.test.labels) == "\7\7\7\4\4");
    CHECK(data.labels == std::vector<std::uint8_t>{0, 4, 7, 200});
}

TEST_CASE_FIXTURE(InFolder, "load: different counts of images and labels, different sizes of images") {
    write_small_dataset(folder);
    const DataLocation location = at(folder.path());
    for (const std::uint32_t n : {4U, 6U}) {
        folder.write("t10k-labels-idx1-ubyte", idx_labels(n));
        CHECK(load_error(location) == location.files[3].string() + ": has " + std::to_string(n) +
                                          " labels for the 5 images of " + location.files[2].string() +
                                          "; expected one label for each image");
    }
    folder.write("t10k-labels-idx1-ubyte", idx_labels(5));
    for (const auto& [rows, cols] : {std::pair(3u, 4u), {4u, 4u}, {3u, 3u}}) {
        folder.write("t10k-images-idx3-ubyte", idx_images(5, rows, cols));
        CHECK(load_error(location) ==
              location.files[2].string() + ": has images of " + std::to_string(rows) + "x" +
                  std::to_string(cols) + ", but " + location.files[0].string() +
                  " has images of 4x3; expected training and test images of the same size");
    }
}

TEST_CASE_FIXTURE(InFolder, "load: files that do not fit are refused before their data take memory") {
    write_small_dataset(folder);
    const DataLocation location = at(folder.path());
    const auto error = [&] {
        return knn::test::error_of<DataError>([&] { knn::load(location, std::pmr::null_memory_resource()); });
    };
    CHECK(contains(error(), " bytes of memory, which are not free"));
    folder.write("train-labels-idx1-ubyte", gzip(idx_labels(11)));
    CHECK(contains(error(), "has 11 labels for the 12 images of "));
    CHECK(contains(knn::test::error_of<DataError>(
                       [&] { knn::load_training_images(location, std::pmr::null_memory_resource()); }),
                   "has 11 labels"));
    write_small_dataset(folder);
    folder.write("t10k-images-idx3-ubyte", gzip(idx_images(5, 3, 3)));
    CHECK(contains(error(), "expected training and test images of the same size"));
    write_small_dataset(folder);
    folder.write("train-images-idx3-ubyte", idx_images(12, 300, 300));
    CHECK(contains(error(), "has images of 300x300 = 90,000 pixels"));
}

TEST_CASE_FIXTURE(InFolder, "load: the first images of each set, and the labels of all") {
    write_small_dataset(folder);
    const DataLocation location = at(folder.path());
    const Dataset data = knn::load(location, std::pmr::get_default_resource(), {.train = 3, .test = 99});
    CHECK(data.train.count == 3);
    CHECK(data.train.pixels.size() == 3 * 4 * 3);
    CHECK(text_of(data.train.pixels) == pattern(3 * 4 * 3));
    CHECK(data.test.count == 5);
    CHECK(data.labels == knn::load(location).labels);
}

TEST_CASE_FIXTURE(InFolder, "load: images whose distances would not fit 32 bits") {
    write_small_dataset(folder);
    const DataLocation location = at(folder.path());
    const auto make = [&](std::uint32_t rows, std::uint32_t cols) {
        folder.write("train-images-idx3-ubyte", idx_images(12, rows, cols));
        folder.write("t10k-images-idx3-ubyte", idx_images(5, rows, cols));
    };
    make(300, 300);
    CHECK(load_error(location) == location.files[0].string() +
                                      ": has images of 300x300 = 90,000 pixels; expected at most 66,051 "
                                      "pixels, which keep squared distances within 32 bits");
    make(22017, 3);
    CHECK(knn::load(location).train.dim() == 66051);
    make(337, 196);  // one pixel more
    CHECK(contains(load_error(location), "has images of 337x196 = 66,052 pixels"));
}

TEST_CASE_FIXTURE(InFolder, "load: swapped images and labels are called so") {
    write_small_dataset(folder);
    DataLocation location = at(folder.path());
    std::swap(location.files[2], location.files[3]);
    CHECK(load_error(location) ==
          location.files[2].string() + ": holds labels, and " + location.files[3].string() +
              " holds images: the two are swapped; expected images first, labels second");
    location = at(folder.path());
    location.files[1] = location.files[0];  // only one of the two is wrong
    CHECK(contains(load_error(location), "holds images where labels were expected (swapped files?)"));
}

TEST_CASE_FIXTURE(InFolder, "load: of several broken files the first is named") {
    write_small_dataset(folder);
    for (const char* name : {"t10k-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte",
                             "train-images-idx3-ubyte"}) {
        folder.write(name, "");
        CHECK(contains(load_error(at(folder.path())), std::string(name) + ": is empty; expected "));
    }
}

TEST_CASE_FIXTURE(InFolder, "checksums: of the content, plain or gzip") {
    write_small_dataset(folder);
    folder.write("t10k-labels-idx1-ubyte", gzip("abc"));
    folder.write("train-labels-idx1-ubyte", "abc");
    const std::vector<knn::FileChecksum> sums = knn::checksums(at(folder.path()));
    REQUIRE(sums.size() == 4);
    // The example of FIPS 180-2.
    const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    CHECK(sums[1].sha256 == abc);
    CHECK(sums[3].sha256 == abc);
    CHECK(sums[0].file.filename() == "train-images-idx3-ubyte");
    for (const knn::FileChecksum& sum : sums)
        CHECK_FALSE(sum.is_mnist());
    folder.write("t10k-images-idx3-ubyte", "");
    CHECK_THROWS_AS(knn::checksums(at(folder.path())), DataError);
    DataLocation built_in;
    built_in.synthetic = true;
    CHECK(knn::checksums(built_in).empty());
}

TEST_CASE("load: MNIST itself") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const DataLocation location = at(mnist_folder());
    const Dataset data = knn::load(location);
    CHECK(data.name == "MNIST");
    CHECK(data.train.count == 60'000);
    CHECK(data.test.count == 10'000);
    CHECK(data.train.dim() == 784);
    CHECK(data.labels == std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    const std::vector<std::uint8_t> first = {5, 0, 4, 1, 9, 2, 1, 3, 1, 4};  // as every tutorial shows them
    CHECK(std::equal(first.begin(), first.end(), data.train.labels.data()));
    for (const knn::FileChecksum& sum : knn::checksums(location))
        CHECK(sum.is_mnist());
    auto known = std::vector<std::uint8_t>(data.train.labels.data(), data.train.labels.data() + 60'000);
    known.push_back(4);  // of an extra image
    CHECK(knn::is_mnist(known));
    ++known[59'999];
    CHECK_FALSE(knn::is_mnist(known));
    CHECK_FALSE(knn::is_mnist(std::span(known).first(59'999)));

    // Plain files are recognized, and a single changed pixel makes it another data set.
    const TempFolder folder;
    fs::create_directory(folder / "plain");
    for (const auto& [images, name] : {std::pair(&data.train, "train"), {&data.test, "t10k"}}) {
        std::ofstream pixels(folder / "plain" / (std::string(name) + "-images-idx3-ubyte"));
        std::ofstream labels(folder / "plain" / (std::string(name) + "-labels-idx1-ubyte"));
        knn::write_idx_images(pixels, *images);
        knn::write_idx_labels(labels, *images);
    }
    CHECK(knn::load(at(folder / "plain")).name == "MNIST");
    std::string changed = read_file(folder / "plain/t10k-images-idx3-ubyte");
    changed[4'000'000] = static_cast<char>(changed[4'000'000] ^ 1);
    folder.write("plain/t10k-images-idx3-ubyte", changed);
    CHECK(knn::load(at(folder / "plain")).name == "plain");
    CHECK_FALSE(knn::checksums(at(folder / "plain"))[2].is_mnist());
}
