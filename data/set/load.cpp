/// load() and checksums() of locate.h: the four files, read in parallel.

#include <bitset>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/core/sha256.h"
#include "data/file/byte_source.h"
#include "data/set/idx.h"
#include "data/set/locate.h"
#include "data/synthetic/synthetic.h"

namespace knn {

namespace {

namespace fs = std::filesystem;

/// The files of one set while they are being read; the destructor waits for the threads.
struct PendingSet {
    fs::path images_file, labels_file;
    std::future<IdxData> images, labels;

    // The default policy falls back to reading in this thread if the system provides no more threads.
    PendingSet(const fs::path& images_file_, const fs::path& labels_file_, std::pmr::memory_resource* memory)
        : images_file(images_file_),
          labels_file(labels_file_),
          images(std::async([=] { return read_idx(images_file_, IdxKind::images, memory); })),
          labels(std::async([=] { return read_idx(labels_file_, IdxKind::labels, memory); })) {}
};

/// Checks and returns one set; `crc32` receives the checksums of images and labels.
LabeledImages finish(PendingSet& pending, std::uint32_t (&crc32)[2]) {
    IdxData images, labels;
    std::optional<SwappedFiles> swapped;
    try {
        images = pending.images.get();
    } catch (const SwappedFiles& error) {
        swapped = error;
    }
    try {
        labels = pending.labels.get();
    } catch (const SwappedFiles&) {
        if (!swapped) throw;
        throw SwappedFiles(pending.images_file.string() + ": holds labels, and " +
                           pending.labels_file.string() +
                           " holds images: the two are swapped; expected images first, labels second");
    } catch (...) {
        if (!swapped) throw;
    }
    if (swapped) throw SwappedFiles(*swapped);
    if (const std::int64_t n_labels = labels.count; n_labels != images.count)
        throw DataError(pending.labels_file.string() + ": has " + std::to_string(n_labels) + ' ' +
                        noun(n_labels, "label") + " for the " + std::to_string(images.count) + ' ' +
                        noun(images.count, "image") + " of " + pending.images_file.string() +
                        "; expected one label for each image");
    if (const std::int64_t dim = std::int64_t{images.rows} * images.cols; dim > max_dim)
        throw DataError(pending.images_file.string() + ": has images of " + std::to_string(images.rows) +
                        "x" + std::to_string(images.cols) + " = " + std::to_string(dim) +
                        " pixels; expected at most " + std::to_string(max_dim) +
                        " pixels, which keep squared distances within 32 bits");
    crc32[0] = images.crc32;
    crc32[1] = labels.crc32;
    return {images.count, images.rows, images.cols, std::move(images.bytes), std::move(labels.bytes)};
}

std::vector<std::uint8_t> occurring_labels(const Dataset& data) {
    std::bitset<256> seen;
    for (const LabeledImages* set : {&data.train, &data.test})
        for (const std::uint8_t label : set->labels.span())
            seen.set(label);
    std::vector<std::uint8_t> labels;
    for (std::size_t label = 0; label < seen.size(); ++label)
        if (seen[label]) labels.push_back(static_cast<std::uint8_t>(label));
    return labels;
}

std::string folder_name(const fs::path& file) {
    std::error_code error;
    const std::string name = fs::absolute(file, error).lexically_normal().parent_path().filename().string();
    return !name.empty() ? name : "data";
}

/// The SHA-256 of a file.
std::string sha256_of(const fs::path& file) {
    ByteSource source(file, "an IDX file, plain or gzip");
    Sha256 sum;
    std::vector<std::uint8_t> piece(1 << 18);
    while (const std::size_t got = source.read(piece))
        sum.add(piece.data(), got);
    return sum.hex();
}

/// The training set, and the pictures of a report as the test set.
Dataset load_with_pictures(const DataLocation& location, std::pmr::memory_resource* memory) {
    DataLocation pictures;
    pictures.files = location.pictures;
    Dataset data;
    data.train = load_training_images(location, memory);
    data.test = load_training_images(pictures, memory);
    if (data.train.shape() != data.test.shape())
        throw DataError(location.source + ": has images of another size than " +
                        location.pictures[0].string() +
                        "; expected the training set that these pictures were compared with");
    data.name = pictures_name;
    data.source = location.source;
    data.files = location.files;
    data.synthetic = location.synthetic;
    data.labels = occurring_labels(data);
    return data;
}

}  // namespace

Dataset load(const DataLocation& location, std::pmr::memory_resource* memory) {
    if (!location.pictures.empty()) return load_with_pictures(location, memory);
    if (location.synthetic) return synthetic_digits({}, memory);
    PendingSet train(location.files[0], location.files[1], memory);
    PendingSet test(location.files[2], location.files[3], memory);

    Dataset data;
    std::uint32_t crc32[2][2] = {};
    data.train = finish(train, crc32[0]);
    data.test = finish(test, crc32[1]);
    if (data.train.rows != data.test.rows || data.train.cols != data.test.cols) {
        const auto size = [](const LabeledImages& set) {
            return std::to_string(set.rows) + "x" + std::to_string(set.cols);
        };
        throw DataError(location.files[2].string() + ": has images of " + size(data.test) + ", but " +
                        location.files[0].string() + " has images of " + size(data.train) +
                        "; expected training and test images of the same size");
    }
    const bool is_mnist = crc32[0][0] == mnist_files[0].crc32 && crc32[0][1] == mnist_files[1].crc32 &&
                          crc32[1][0] == mnist_files[2].crc32 && crc32[1][1] == mnist_files[3].crc32;
    data.name = is_mnist ? "MNIST" : folder_name(location.files[0]);
    data.source = location.source;
    data.files = location.files;
    data.labels = occurring_labels(data);
    return data;
}

LabeledImages load_training_images(const DataLocation& location, std::pmr::memory_resource* memory) {
    if (location.synthetic) return std::move(synthetic_digits({}, memory).train);
    PendingSet train(location.files[0], location.files[1], memory);
    std::uint32_t crc32[2] = {};
    return finish(train, crc32);
}

std::vector<FileChecksum> checksums(const DataLocation& location) {
    const std::vector<fs::path>& files = location.files;
    std::vector<std::future<std::string>> hashes;
    for (const fs::path& file : files)
        hashes.push_back(std::async([&] { return sha256_of(file); }));
    std::vector<FileChecksum> result;
    for (std::size_t i = 0; i < files.size(); ++i)
        result.push_back({files[i], hashes[i].get(), mnist_files[i].sha256});
    return result;
}

}  // namespace knn
