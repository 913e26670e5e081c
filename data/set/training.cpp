#include "data/set/training.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/byte_source.h"
#include "data/set/idx.h"
#include "data/synthetic/drawn_forms.h"

namespace knn {

namespace {

namespace fs = std::filesystem;

/// The sizes before pixels and labels in the cache.
struct Sizes {
    std::int64_t count, rows, cols;
    std::int64_t unused[5];  // the pixels begin at a cache line
};
static_assert(sizeof(Sizes) == 64);

/// Nothing if the file does not keep its content: a pipe, a device.
std::string identity(const fs::path& file) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
    std::error_code error;
    std::string text = fs::absolute(file, error).lexically_normal().string();
    const auto add = [&](std::int64_t number) { text += ' ' + std::to_string(number); };
    add(status.st_size);
    add(status.st_mtim.tv_sec);
    add(status.st_mtim.tv_nsec);
    // A file that was changed and got its old time back still has a new time of change.
    add(status.st_ctim.tv_sec);
    add(status.st_ctim.tv_nsec);
    add(static_cast<std::int64_t>(status.st_dev));
    add(static_cast<std::int64_t>(status.st_ino));
    return text + '\n';
}

/// The files of the training set, with the extra ones.
std::vector<fs::path> files_of_training(const DataLocation& location) {
    std::vector<fs::path> files;
    if (!location.synthetic) files = {location.files[0], location.files[1]};
    files.insert(files.end(), location.extra.begin(), location.extra.end());
    return files;
}

std::string key_of(const DataLocation& location) {
    std::string key = location.synthetic ? "synthetic digits 1\n" : "";  // count up when other ones are drawn
    for (const fs::path& file : files_of_training(location)) {
        const std::string one = identity(file);
        if (one.empty()) return "";
        key += one;
    }
    if (!location.extra.empty()) key += "copies " + std::to_string(extra_copies) + '\n';
    return key;
}

std::string name_of(const DataLocation& location) {
    if (location.synthetic && location.extra.empty()) return "synthetic";
    std::error_code error;
    std::string paths;
    for (const fs::path& file : files_of_training(location))
        paths += fs::absolute(file, error).lexically_normal().string() + '\n';
    char text[20];
    std::snprintf(text, sizeof text, "%016zx", std::hash<std::string>()(paths));
    return text;
}

bool is_gzip(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return stream.get() == 0x1f && stream.get() == 0x8b;
}

void keep(const TrainingImages& set, const std::string& name) {
    const Sizes sizes = {set.images.count, set.shape.rows, set.shape.cols, {}};
    write_cached(
        name, set.identity.key,
        std::array{bytes_of(std::span(&sizes, 1)),
                   std::span(set.images.pixels, static_cast<std::size_t>(set.images.bytes())), set.labels});
}

/// Shows images that were read or drawn.
void show_loaded(std::shared_ptr<const LabeledImages> loaded, TrainingImages& set) {
    set.images = loaded->images();
    set.labels = loaded->labels.span();
    set.shape = loaded->shape();
    set.owner = std::move(loaded);
}

}  // namespace

bool show_cached(const CachedBytes& bytes, TrainingImages& set) {
    const auto payload = bytes.span();
    if (payload.size() < sizeof(Sizes)) return false;
    const auto sizes = load_as<Sizes>(payload.data());
    constexpr std::int64_t most = 1 << 30;
    if (sizes.count < 0 || sizes.count > most || sizes.rows < 1 || sizes.cols < 1 || sizes.rows > most / 2 ||
        sizes.cols > most / sizes.rows)
        return false;
    const std::int64_t dim = sizes.rows * sizes.cols;
    const auto count = static_cast<std::size_t>(sizes.count);
    if (payload.size() != sizeof sizes + count * static_cast<std::size_t>(dim) + count) return false;
    set.owner = bytes.content;
    set.images = {payload.data() + sizeof sizes, sizes.count, dim};
    set.labels = payload.last(count);
    set.shape = {static_cast<int>(sizes.rows), static_cast<int>(sizes.cols)};
    set.cached = true;
    return true;
}

TrainingIdentity identity_of(const DataLocation& location) {
    return {key_of(location), name_of(location)};
}

TrainingImages load_training(const DataLocation& location, bool use_cache, int threads, std::int64_t first) {
    TrainingImages set;
    set.source = location.synthetic ? location.source : location.files[0].string();
    if (use_cache) set.identity = identity_of(location);
    std::string& key = set.identity.key;
    const std::string file = "training-" + set.identity.name;
    const bool is_part = !location.extra.empty() && first > 0;  // the extra images follow fewer others
    const bool keeps = !key.empty() && !is_part && (location.synthetic || is_gzip(location.files[0]));
    if (keeps)
        if (const auto bytes = read_cached(file, key, threads); bytes && show_cached(*bytes, set)) return set;
    show_loaded(std::make_shared<const LabeledImages>(
                    load_training_images(location, std::pmr::get_default_resource(), first)),
                set);
    // What changed while it was read belongs to no key.
    if (key_of(location) != key) key.clear();
    const bool whole = std::ssize(set.labels) == set.images.count;
    if (keeps && whole && !key.empty()) keep(set, file);
    return set;
}

TrainingImages load_drawn_rows(bool use_cache, int threads) {
    TrainingImages set;
    set.source = "drawn forms";
    if (use_cache) set.identity = {drawn_edition(), "drawn"};
    const std::string file = "training-drawn";
    if (use_cache)
        if (const auto bytes = read_cached(file, set.identity.key, threads);
            bytes && show_cached(*bytes, set))
            return set;
    show_loaded(std::make_shared<const LabeledImages>(drawn_rows()), set);
    if (use_cache) keep(set, file);
    return set;
}

TrainingImages with_no_digits(const TrainingImages& drawn, const fs::path& images) {
    constexpr std::uint64_t most = 100'000;
    std::error_code none;
    if (!fs::is_regular_file(images, none))
        throw DataError(images.string() +
                        ": is no file that can be read; expected one that learn --out wrote");
    ByteSource source(images, IdxKind::images.expected);
    const IdxHeader header = read_idx_header(source, IdxKind::images);
    if (header.sizes[0] > most)  // said before they are unpacked
        source.fail("has " + with_commas(static_cast<std::int64_t>(header.sizes[0])) +
                    " images of no digit, more than 100,000");
    const IdxData read = read_idx_data(source, IdxKind::images, header, std::pmr::get_default_resource(), 0);
    if (const ImageShape shape{read.rows, read.cols}; shape != drawn.shape)
        throw DataError(images.string() + ": has images of " + shape.text() + "; expected 28x28 pixels");
    auto all = std::make_shared<LabeledImages>(
        LabeledImages::sized(drawn.images.count + extra_copies * read.count, drawn.shape));
    auto end = std::copy_n(drawn.images.pixels, drawn.images.count * drawn.images.dim, all->pixels.data());
    for (int copy = 0; copy < extra_copies; ++copy)
        end = std::copy_n(read.bytes.data(), read.bytes.size(), end);
    std::fill_n(std::ranges::copy(drawn.labels, all->labels.data()).out, extra_copies * read.count, no_digit);
    TrainingImages set;
    set.source = images.string();
    if (const std::string own = identity(images); !drawn.identity.key.empty() && !own.empty())
        set.identity = {drawn.identity.key + own, drawn.identity.name + "-own"};
    show_loaded(std::move(all), set);
    return set;
}

bool is_mnist(std::span<const std::uint8_t> labels) {
    // Their file begins with its kind and their number.
    constexpr std::uint8_t head[] = {0, 0, 8, 1, 0, 0, 0xea, 0x60};
    constexpr std::size_t count = 60'000;
    return labels.size() >= count &&
           crc32_z(crc32_z(0, head, sizeof head), labels.data(), count) == mnist_files[1].crc32;
}

}  // namespace knn
