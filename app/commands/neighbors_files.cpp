#include "app/commands/neighbors_files.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ostream>

#include "app/console/interrupt.h"
#include "data/vectors/npy.h"

namespace knn {

namespace {

template <class Number>
void put_as(std::ostream& out, const auto& values) {
    std::vector<Number> numbers;
    for (const auto value : values)
        numbers.push_back(static_cast<Number>(value));
    put(out, bytes_of(std::span<const Number>(numbers)));
}

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

/// A sparse matrix as scipy.sparse.save_npz writes it, uncompressed.
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
