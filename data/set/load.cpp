/// load() and checksums() of locate.h: the four files, read in parallel.

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

/// A file while it is being read, first its header, then its data; the destructor waits for the thread.
class PendingFile {
  public:
    // The default policy of std::async falls back to reading in the caller's thread if the system provides no more.
    PendingFile(const fs::path& file, IdxKind kind) : name(file.string()), kind_(kind) {
        header_ = std::async([this, file] {
            source_.emplace(file, expected_idx(kind_));
            return read_idx_header(*source_, kind_);
        });
    }

    IdxHeader header() { return header_.get(); }
    void begin(const IdxHeader& header, std::pmr::memory_resource* memory, std::int64_t first) {
        data_ = std::async([=, this] { return read_idx_data(*source_, kind_, header, memory, first); });
    }
    IdxData data() { return data_.get(); }

    const std::string name;

  private:
    IdxKind kind_;
    std::optional<ByteSource> source_;
    std::future<IdxHeader> header_;
    std::future<IdxData> data_;
};

/// The files of one set while they are being read.
struct PendingSet {
    PendingFile images_file, labels_file;
    IdxHeader images, labels;

    PendingSet(const fs::path& images_name, const fs::path& labels_name)
        : images_file(images_name, IdxKind::images), labels_file(labels_name, IdxKind::labels) {}

    ImageShape shape() const {
        return {static_cast<int>(images.sizes[1]), static_cast<int>(images.sizes[2])};
    }
    /// `first`: of the images, 0: all.
    void begin(std::pmr::memory_resource* memory, std::int64_t first) {
        images_file.begin(images, memory, first);
        labels_file.begin(labels, memory, 0);
    }
};

/// Waits for the headers of one set and checks that they fit each other.
void check_headers(PendingSet& pending) {
    std::optional<SwappedFiles> swapped;
    try {
        pending.images = pending.images_file.header();
    } catch (const SwappedFiles& error) {
        swapped = error;
    }
    try {
        pending.labels = pending.labels_file.header();
    } catch (const SwappedFiles&) {
        if (!swapped) throw;
        throw SwappedFiles(pending.images_file.name + ": holds labels, and " + pending.labels_file.name +
                           " holds images: the two are swapped; expected images first, labels second");
    } catch (...) {
        if (!swapped) throw;
    }
    if (swapped) throw SwappedFiles(*swapped);
    const auto n_images = static_cast<std::int64_t>(pending.images.sizes[0]);
    if (const auto n_labels = static_cast<std::int64_t>(pending.labels.sizes[0]); n_labels != n_images)
        throw DataError(pending.labels_file.name + ": has " + with_commas(n_labels) + ' ' +
                        noun(n_labels, "label") + " for the " + with_commas(n_images) + ' ' +
                        noun(n_images, "image") + " of " + pending.images_file.name +
                        "; expected one label for each image");
    const ImageShape shape = pending.shape();
    if (const std::int64_t dim = std::int64_t{shape.rows} * shape.cols; dim > max_dim)
        throw DataError(pending.images_file.name + ": has images of " + std::to_string(shape.rows) + "x" +
                        std::to_string(shape.cols) + " = " + with_commas(dim) + " pixels; expected at most " +
                        with_commas(max_dim) + " pixels, which keep squared distances within 32 bits");
}

/// One set; `crc32` receives the checksums of images and labels.
LabeledImages finish(PendingSet& pending, std::uint32_t (&crc32)[2]) {
    IdxData images = pending.images_file.data(), labels = pending.labels_file.data();
    crc32[0] = images.crc32;
    crc32[1] = labels.crc32;
    return {images.count, images.rows, images.cols, std::move(images.bytes), std::move(labels.bytes)};
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

Dataset load(const DataLocation& location, std::pmr::memory_resource* memory, const FirstImages& first) {
    if (!location.pictures.empty()) return load_with_pictures(location, memory);
    if (location.synthetic) return synthetic_digits({}, memory);
    PendingSet train(location.files[0], location.files[1]), test(location.files[2], location.files[3]);
    check_headers(train);
    check_headers(test);
    if (train.shape() != test.shape()) {
        const auto size = [](const ImageShape& shape) {
            return std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
        };
        throw DataError(location.files[2].string() + ": has images of " + size(test.shape()) + ", but " +
                        location.files[0].string() + " has images of " + size(train.shape()) +
                        "; expected training and test images of the same size");
    }
    train.begin(memory, first.train);
    test.begin(memory, first.test);

    Dataset data;
    std::uint32_t crc32[2][2] = {};
    data.train = finish(train, crc32[0]);
    data.test = finish(test, crc32[1]);
    const bool is_mnist = crc32[0][0] == mnist_files[0].crc32 && crc32[0][1] == mnist_files[1].crc32 &&
                          crc32[1][0] == mnist_files[2].crc32 && crc32[1][1] == mnist_files[3].crc32;
    data.name = is_mnist ? "MNIST" : folder_name(location.files[0]);
    data.source = location.source;
    data.files = location.files;
    data.labels = occurring_labels(data);
    return data;
}

LabeledImages load_training_images(const DataLocation& location, std::pmr::memory_resource* memory,
                                   std::int64_t first) {
    if (location.synthetic) return std::move(synthetic_digits({}, memory).train);
    PendingSet train(location.files[0], location.files[1]);
    check_headers(train);
    train.begin(memory, first);
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
