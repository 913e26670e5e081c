/// load() and checksums() of locate.h: the four files, read in parallel.

#include <algorithm>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "data/core/errors.h"
#include "data/core/format.h"
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
            source_.emplace(file, kind_.expected);
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
        throw DataError(pending.labels_file.name + ": has " + counted(n_labels, "label") + " for the " +
                        counted(n_images, "image") + " of " + pending.images_file.name +
                        "; expected one label for each image");
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

/// The SHA-256 of a file's content, or empty if there is more of it.
std::string sha256_of(const fs::path& file, std::uint64_t most_bytes) {
    ByteSource source(file, "an IDX file, plain or gzip");
    Sha256 sum;
    std::vector<std::uint8_t> piece(1 << 18);
    for (std::uint64_t left = most_bytes; const std::size_t got = source.read(piece); left -= got) {
        if (got > left) return "";
        sum.add(piece.data(), got);
    }
    return sum.hex();
}

/// Images and labels, or the `first` images.
LabeledImages load_pair(const std::vector<fs::path>& files, std::pmr::memory_resource* memory,
                        std::int64_t first = 0) {
    PendingSet pending(files[0], files[1]);
    check_headers(pending);
    pending.begin(memory, first);
    std::uint32_t crc32[2] = {};
    return finish(pending, crc32);
}

/// The first `first` images of `train` (0: all) and the location's extra ones behind them. The labels of images that are not
/// kept follow at the end. Returns how many were added.
std::int64_t append_extra(LabeledImages& train, const DataLocation& location,
                          std::pmr::memory_resource* memory, std::int64_t first) {
    if (location.extra.empty()) return 0;
    const LabeledImages extra = load_pair(location.extra, memory);
    if (extra.shape() != train.shape())
        throw DataError(location.extra[0].string() + ": has images of " + extra.shape().text() +
                        "; expected " + train.shape().text() + ", as the training set has");
    const std::int64_t own = first > 0 ? std::min(first, train.count) : train.count;
    LabeledImages all{own + extra_copies * extra.count, train.rows, train.cols, {}, {}};
    all.pixels = Bytes(static_cast<std::size_t>(all.count * all.dim()), memory);
    all.labels = Bytes(
        train.labels.size() + std::size_t{extra_copies} * static_cast<std::size_t>(extra.count), memory);
    std::uint8_t* pixels = std::copy_n(train.pixels.data(), own * train.dim(), all.pixels.data());
    std::uint8_t* labels = std::copy_n(train.labels.data(), own, all.labels.data());
    for (int copy = 0; copy < extra_copies; ++copy) {
        pixels = std::copy_n(extra.pixels.data(), extra.count * extra.dim(), pixels);
        labels = std::copy_n(extra.labels.data(), extra.count, labels);
    }
    std::copy(train.labels.data() + own, train.labels.data() + train.labels.size(), labels);
    train = std::move(all);
    return extra_copies * extra.count;
}

/// The training set without extra images.
LabeledImages load_own_training(const DataLocation& location, std::pmr::memory_resource* memory,
                                std::int64_t first) {
    if (location.synthetic) return std::move(synthetic_digits({}, memory).train);
    return load_pair(location.files, memory, first);
}

/// All files, read at the same time.
void load_files(const DataLocation& location, std::pmr::memory_resource* memory, const FirstImages& first,
                Dataset& data) {
    const std::vector<fs::path>& files = location.files;
    PendingSet train(files[0], files[1]);
    std::optional<PendingSet> test;
    if (!location.training_only) test.emplace(files[2], files[3]);
    check_headers(train);
    if (test) check_headers(*test);
    if (test && train.shape() != test->shape())
        throw DataError(files[2].string() + ": has images of " + test->shape().text() + ", but " +
                        files[0].string() + " has images of " + train.shape().text() +
                        "; expected training and test images of the same size");
    train.begin(memory, first.train);
    if (test) test->begin(memory, first.test);
    const auto is_mnist = [](const MnistFile* known, const std::uint32_t(&crc32)[2]) {
        return crc32[0] == known[0].crc32 && crc32[1] == known[1].crc32;
    };
    std::uint32_t crc32[2] = {};
    data.train = finish(train, crc32);
    bool all_of_mnist = is_mnist(&mnist_files[0], crc32);
    if (test) {
        data.test = finish(*test, crc32);
        all_of_mnist = all_of_mnist && is_mnist(&mnist_files[2], crc32);
    }
    data.name = all_of_mnist ? "MNIST" : folder_name(files[0]);
}

}  // namespace

Dataset load(const DataLocation& location, std::pmr::memory_resource* memory, const FirstImages& first) {
    Dataset data;
    data.source = location.source;
    data.files = location.files;
    data.synthetic = location.synthetic;
    if (!location.pictures.empty()) {
        data.train = load_own_training(location, memory, first.train);
        data.name = pictures_name;
    } else if (location.synthetic) {
        data = synthetic_digits({}, memory);
        if (location.training_only) data.test = {};
    } else {
        load_files(location, memory, first, data);
    }
    data.extra = location.extra;
    data.n_extra = append_extra(data.train, location, memory, first.train);
    if (!location.pictures.empty()) {  // of a report, as the test set
        data.test = load_pair(location.pictures, memory);
        if (data.train.shape() != data.test.shape())
            throw DataError(location.source + ": has images of another size than " +
                            location.pictures[0].string() +
                            "; expected the training set that these pictures were compared with");
    }
    data.labels = occurring_labels(data);
    return data;
}

LabeledImages load_training_images(const DataLocation& location, std::pmr::memory_resource* memory,
                                   std::int64_t first) {
    LabeledImages train = load_own_training(location, memory, first);
    append_extra(train, location, memory, first);
    return train;
}

std::int64_t count_extra(const DataLocation& location) {
    if (location.extra.empty()) return 0;
    ByteSource source(location.extra[0], IdxKind::images.expected);
    return extra_copies * static_cast<std::int64_t>(read_idx_header(source, IdxKind::images).sizes[0]);
}

std::vector<FileChecksum> checksums(const DataLocation& location, std::uint64_t most_bytes) {
    const std::vector<fs::path>& files = location.files;
    std::vector<std::future<std::string>> hashes;
    for (const fs::path& file : files)
        hashes.push_back(std::async([&] { return sha256_of(file, most_bytes); }));
    std::vector<FileChecksum> result;
    for (std::size_t i = 0; i < files.size(); ++i)
        result.push_back({files[i], hashes[i].get(), mnist_files[i].sha256});
    return result;
}

}  // namespace knn
