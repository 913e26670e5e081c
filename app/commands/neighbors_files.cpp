#include "app/commands/neighbors_files.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <ostream>
#include <sstream>

#include "data/vectors/write.h"

namespace knn {

namespace {

/// A field of a zip file: a number of so many bytes, the smallest first.
struct ZipField {
    std::uint64_t value;
    int bytes;
};

std::string zip_fields(std::initializer_list<ZipField> fields) {
    std::string text;
    for (const auto& [value, bytes] : fields)
        for (int i = 0; i < bytes; ++i)
            text += static_cast<char>(value >> (8 * i));
    return text;
}

constexpr std::uint64_t zip_version = 45;  ///< 4.5 has ZIP64
constexpr std::uint64_t first_day = 0x21;  ///< January 1, 1980: zip has no "none"
constexpr std::uint64_t in_extra = 0xffffffff;

/// NumPy's archive of arrays (.npz): a zip file of .npy files, here without compression. One array after another, in one pass; sizes
/// have 64 bits (ZIP64), and no entry has a time.
class NpzWriter {
  public:
    explicit NpzWriter(std::ostream& out) : out_(out) {}

    /// The array of this name and shape. `type` as put_npy_header takes it; `pieces`: the bytes of its elements.
    void add(const std::string& name, std::span<const std::int64_t> shape, std::string_view type,
             const std::vector<std::span<const std::uint8_t>>& pieces) {
        std::ostringstream header;
        put_npy_header(header, shape, type);
        const std::string head = header.str();
        Entry entry{name + ".npy", 0, head.size(), written_};
        entry.checksum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(head.data()), head.size());
        for (const std::span<const std::uint8_t> piece : pieces) {
            stop_if_asked();
            if (piece.empty()) continue;  // a null pointer would start the checksum again
            entry.checksum = ::crc32_z(entry.checksum, piece.data(), piece.size());
            entry.size += piece.size();
        }
        const std::string local =
            zip_fields({{0x04034b50, 4}}) + described(entry, 2) + entry.name + sizes_of(entry, 2) + head;
        out_ << local;
        for (const std::span<const std::uint8_t> piece : pieces)
            put(out_, piece);
        written_ += local.size() + entry.size - head.size();
        entries_.push_back(entry);
    }

    void finish() {
        std::string directory;
        for (const Entry& entry : entries_)
            directory += zip_fields({{0x02014b50, 4}, {zip_version, 2}}) + described(entry, 3) +
                         zip_fields({{0, 2}, {0, 2}, {0, 2}, {0, 4}, {in_extra, 4}}) + entry.name +
                         sizes_of(entry, 3) + zip_fields({{entry.offset, 8}});
        const std::uint64_t size = directory.size(), n = entries_.size(), after = written_ + size;
        out_ << directory
             << zip_fields({{0x06064b50, 4},
                            {44, 8},
                            {zip_version, 2},
                            {zip_version, 2},
                            {0, 4},
                            {0, 4},
                            {n, 8},
                            {n, 8},
                            {size, 8},
                            {written_, 8}})
             << zip_fields({{0x07064b50, 4}, {0, 4}, {after, 8}, {1, 4}})
             << zip_fields({{0x06054b50, 4},
                            {0, 2},
                            {0, 2},
                            {0xffff, 2},
                            {0xffff, 2},
                            {in_extra, 4},
                            {in_extra, 4},
                            {0, 2}});
    }

  private:
    struct Entry {
        std::string name;
        std::uint64_t checksum, size, offset;
    };

    /// What the two headers of a file have in common: version, flags, no compression, time, checksum, sizes in the extra field,
    /// which has this many numbers.
    static std::string described(const Entry& entry, std::uint64_t numbers) {
        return zip_fields({{zip_version, 2},
                           {0, 2},
                           {0, 2},
                           {0, 2},
                           {first_day, 2},
                           {entry.checksum, 4},
                           {in_extra, 4},
                           {in_extra, 4},
                           {entry.name.size(), 2},
                           {4 + 8 * numbers, 2}});
    }
    /// The beginning of the extra field: both sizes.
    static std::string sizes_of(const Entry& entry, std::uint64_t numbers) {
        return zip_fields({{1, 2}, {8 * numbers, 2}, {entry.size, 8}, {entry.size, 8}});
    }

    std::ostream& out_;
    std::vector<Entry> entries_;
    std::uint64_t written_ = 0;
};

}  // namespace

NeighborsFiles::NeighborsFiles(const NeighborsOptions& options, const NeighborsForm& form) : form_(form) {
    const std::array<std::int64_t, 2> shape = {form.n_query, form.k};
    if (!options.npy.empty()) {
        indices_ = &files_.open(options.npy + npy_endings[0]);
        distances_ = &files_.open(options.npy + npy_endings[1]);
        put_npy_header(*indices_, shape, "i4");
        put_npy_header(*distances_, shape, type());
    }
    if (!options.csv.empty()) csv_.emplace(files_.open(options.csv)).row("query,rank,index,distance");
    if (!options.ibin.empty()) {
        ibin_ = &files_.open(options.ibin);
        put_as<std::uint32_t>(*ibin_, shape);
    }
    if (!options.npz.empty()) npz_ = &files_.open(options.npz);
}

void NeighborsFiles::take(const FoundRow& row) {
    stop_if_asked();
    const std::int64_t query = next_++;
    if (indices_ != nullptr) {
        put_as<std::int32_t>(*indices_, row.indices);
        if (are_integers())
            put_as<std::int64_t>(*distances_, row.distances);
        else
            put_as<double>(*distances_, row.distances);
    }
    if (ibin_ != nullptr) {
        put_as<std::int32_t>(*ibin_, row.indices);
        for (const double distance : row.distances)
            ibin_distances_.add(static_cast<float>(distance));
    }
    if (npz_ != nullptr) {
        npz_begins_.push_back(npz_begins_.back() + std::ssize(row.indices));
        for (const std::uint32_t index : row.indices)
            npz_indices_.add(index);
        for (const double distance : row.distances)
            npz_distances_.add(are_integers() ? static_cast<std::uint64_t>(distance)
                                              : std::bit_cast<std::uint64_t>(distance));
    }
    for (std::size_t i = 0; csv_ && i < row.indices.size(); ++i) {
        if (are_integers())
            csv_->row(query, i + 1, row.indices[i], static_cast<std::int64_t>(row.distances[i]));
        else
            csv_->row(query, i + 1, row.indices[i], row.distances[i]);
    }
}

OutputFiles& NeighborsFiles::finish() {
    csv_.reset();
    for (const std::span<const std::uint8_t> block : ibin_distances_.bytes()) {
        stop_if_asked();
        put(*ibin_, block);
    }
    if (npz_ != nullptr) finish_npz();
    return files_;
}

void NeighborsFiles::finish_npz() {
    const std::array<std::int64_t, 2> shape = {next_, form_.n_train};
    const std::array<std::int64_t, 1> n_pairs = {npz_begins_.back()}, n_begins = {next_ + 1}, two = {2};
    constexpr std::string_view csr = "csr";
    NpzWriter npz(*npz_);
    npz.add("indices", n_pairs, "i4", npz_indices_.bytes());
    npz.add("indptr", n_begins, "i8", {bytes_of(std::span<const std::int64_t>(npz_begins_))});
    npz.add("format", {}, "S3", {bytes_of(std::span<const char>(csr))});
    npz.add("shape", two, "i8", {bytes_of(std::span<const std::int64_t>(shape))});
    npz.add("data", n_pairs, type(), npz_distances_.bytes());
    npz.finish();
}

}  // namespace knn
