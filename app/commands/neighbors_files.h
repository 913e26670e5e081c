#pragma once
/// The files of `neighbors`: --npy, --csv, --ibin and --npz.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "app/cli/options.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "data/core/metric.h"

namespace knn {

/// The neighbors of one query.
struct FoundRow {
    std::span<const std::uint32_t> indices;
    std::span<const double> distances;
};

template <class Number>
std::span<const std::uint8_t> bytes_of(std::span<const Number> numbers) {
    return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
}

/// What `of` gives of the values, as an array's elements.
template <class Number, class Projection = std::identity>
void put_as(std::ostream& out, const auto& values, const Projection& of = {}) {
    std::vector<Number> numbers;
    for (const auto& value : values)
        numbers.push_back(static_cast<Number>(std::invoke(of, value)));
    put(out, bytes_of(std::span<const Number>(numbers)));
}

/// Numbers in memory that grow without being moved.
template <class Number>
class NumberBlocks {
  public:
    void add(Number number) {
        constexpr std::size_t most = 1 << 20;
        if (blocks_.empty() || blocks_.back().size() == most) blocks_.emplace_back().reserve(most);
        blocks_.back().push_back(number);
    }
    std::vector<std::span<const std::uint8_t>> bytes() const {
        std::vector<std::span<const std::uint8_t>> all;
        for (const auto& block : blocks_)
            all.push_back(bytes_of(std::span<const Number>(block)));
        return all;
    }

  private:
    std::vector<std::vector<Number>> blocks_;
};

/// What the files have rows of.
struct NeighborsForm {
    std::int64_t n_query, n_train;
    int k;  ///< neighbors of a query, unless a range is searched
    Measure measure;
};

class NeighborsFiles {
  public:
    /// Opens those that were asked for. Throws as OutputFiles.
    NeighborsFiles(const NeighborsOptions& options, const NeighborsForm& form);

    /// In the order of the queries. Throws Interrupted.
    void take(const FoundRow& row);
    void check() const { files_.check(); }
    /// After the last query. Returns the files, which are not yet in place.
    OutputFiles& finish();

  private:
    bool are_integers() const { return is_integral(form_.measure); }
    const char* type() const { return are_integers() ? "i8" : "f8"; }
    void finish_npz();

    OutputFiles files_;
    NeighborsForm form_;
    std::int64_t next_ = 0;  ///< query
    std::ostream *indices_ = nullptr, *distances_ = nullptr, *ibin_ = nullptr, *npz_ = nullptr;
    std::optional<Lines> csv_;
    // Until the end.
    NumberBlocks<float> ibin_distances_;
    std::vector<std::int64_t> npz_begins_ = {0};
    NumberBlocks<std::uint32_t> npz_indices_;
    NumberBlocks<std::uint64_t> npz_distances_;  ///< their bits
};

}  // namespace knn
