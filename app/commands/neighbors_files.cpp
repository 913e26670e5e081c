#include "app/commands/neighbors_files.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <ostream>
#include <sstream>

#include "classifier/host.h"
#include "data/core/format.h"
#include "data/vectors/write.h"

namespace knn {

namespace {

// Fields of a zip file.
constexpr auto u16 = little_bytes<std::uint16_t>;
constexpr auto u32 = little_bytes<std::uint32_t>;
constexpr auto u64 = little_bytes<std::uint64_t>;

constexpr std::uint16_t zip_version = 45;  ///< 4.5 has ZIP64
constexpr std::uint16_t first_day = 0x21;  ///< January 1, 1980: zip has no "none"
constexpr std::uint32_t in_extra = 0xffffffff;

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
        uLong checksum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(head.data()), head.size());
        for (const std::span<const std::uint8_t> piece : pieces) {
            stop_if_asked();
            if (piece.empty()) continue;  // a null pointer would start the checksum again
            checksum = ::crc32_z(checksum, piece.data(), piece.size());
            entry.size += piece.size();
        }
        entry.checksum = static_cast<std::uint32_t>(checksum);
        const std::string local =
            u32(0x04034b50) + described(entry, 2) + entry.name + sizes_of(entry, 2) + head;
        out_ << local;
        for (const std::span<const std::uint8_t> piece : pieces)
            put(out_, piece);
        written_ += local.size() + entry.size - head.size();
        entries_.push_back(entry);
    }

    void finish() {
        std::string directory;
        for (const Entry& entry : entries_)
            directory += u32(0x02014b50) + u16(zip_version) + described(entry, 3) + u16(0) + u16(0) + u16(0) +
                         u32(0) + u32(in_extra) + entry.name + sizes_of(entry, 3) + u64(entry.offset);
        const std::uint64_t size = directory.size(), n = entries_.size();
        out_ << directory;
        out_ << u32(0x06064b50) + u64(44) + u16(zip_version) + u16(zip_version) + u32(0) + u32(0) + u64(n) +
                    u64(n) + u64(size) + u64(written_);
        out_ << u32(0x07064b50) + u32(0) + u64(written_ + size) + u32(1);
        out_ << u32(0x06054b50) + u16(0) + u16(0) + u16(0xffff) + u16(0xffff) + u32(in_extra) +
                    u32(in_extra) + u16(0);
    }

  private:
    struct Entry {
        std::string name;
        std::uint32_t checksum;
        std::uint64_t size, offset;
    };

    /// What the two headers of a file have in common: version, flags, no compression, time, checksum, sizes in the extra field,
    /// which has this many numbers.
    static std::string described(const Entry& entry, int numbers) {
        return u16(zip_version) + u16(0) + u16(0) + u16(0) + u16(first_day) + u32(entry.checksum) +
               u32(in_extra) + u32(in_extra) + u16(static_cast<std::uint16_t>(entry.name.size())) +
               u16(static_cast<std::uint16_t>(4 + 8 * numbers));
    }
    /// The beginning of the extra field: both sizes.
    static std::string sizes_of(const Entry& entry, int numbers) {
        return u16(1) + u16(static_cast<std::uint16_t>(8 * numbers)) + u64(entry.size) + u64(entry.size);
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
        require_memory(form.n_query * form.k * std::int64_t{sizeof(float)}, [&] {
            return "--ibin " + options.ibin + ", whose distances are kept until the end,";
        });
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
        constexpr std::int64_t pairs_between_looks = 1 << 22, needed = 256 << 20;
        const std::int64_t pairs = npz_begins_.back() + std::ssize(row.indices);
        if (pairs / pairs_between_looks > npz_begins_.back() / pairs_between_looks)
            require_memory(needed, [&] { return "--npz with more than " + with_commas(pairs) + " pairs"; });
        npz_begins_.push_back(pairs);
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
