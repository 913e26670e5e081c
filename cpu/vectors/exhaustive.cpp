#include "cpu/vectors/exhaustive.h"

#include <algorithm>
#include <mutex>

#include "data/core/clock.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t tile_rows = 4, most_block_queries = 16;
constexpr std::int64_t block_bytes = 256 << 10;  // a block of queries stays in the L2 cache
constexpr std::int64_t lists_bytes = 64 << 20;   // of the queries at work
constexpr std::int64_t least_slice = 256;        // rows
constexpr std::int64_t tasks_per_thread = 4;
/// Exceeds the difference between cosine_distance and a product with two inverse lengths, each rounded.
constexpr double angle_slack = 1e-12;

/// A block of queries, its best so far, and what one thread needs.
class Block {
  public:
    Block(const RealSearch& search, std::int64_t most)
        : search_(search),
          stride_(search.train.stride()),
          queries_(at(most * stride_)),
          tile_(at(tile_rows * stride_)),
          totals_(at(most * tile_rows)),
          limits_(at(most)) {}

    void begin(std::span<const std::int64_t> who) {
        who_ = who;
        for (std::size_t q = 0; q < who.size(); ++q)
            search_.query_rows.convert(who[q], queries_.data() + static_cast<std::int64_t>(q) * stride_);
    }

    /// Rows first .. last − 1, at most a tile.
    void compare(std::int64_t first, std::int64_t last, std::span<RealBest> best) {
        const auto n = std::ssize(who_), rows = last - first;
        for (std::int64_t r = 0; r < rows; ++r)
            search_.train.convert(first + r, tile_.data() + r * stride_);
        for (std::size_t q = 0; q < who_.size(); ++q)
            limits_[q] = best[q].limit();
        const bool is_angle = search_.measure.is_angle();
        RealPass pass{queries_.data(), tile_.data(), n, rows, stride_, is_angle ? nullptr : limits_.data(),
                      totals_.data()};
        search_.measure.run(pass);
        for (std::int64_t q = 0; q < n; ++q) {
            const std::int64_t query = who_[at(q)], excluded = search_.excluded(query);
            for (std::int64_t r = 0; r < rows; ++r) {
                const double total = totals_[at(q * rows + r)];
                if (first + r == excluded || !(total <= limits_[at(q)] || is_angle)) continue;
                if (is_angle && is_far(query, first + r, total, limits_[at(q)])) continue;
                best[at(q)].offer({distance(query, first + r, total), static_cast<std::uint32_t>(first + r)});
            }
        }
    }

  private:
    bool is_far(std::int64_t query, std::int64_t row, double dot, double limit) const {
        const double cosine =
            dot * search_.query_rows.inverse_length(query) * search_.train.inverse_length(row);
        return 1 - cosine > limit + angle_slack && std::abs(cosine) < 2;
    }
    double distance(std::int64_t query, std::int64_t row, double total) const {
        return search_.measure.is_angle()
                   ? cosine_distance(total, search_.query_rows.square(query), search_.train.square(row))
                   : total;
    }

    const RealSearch& search_;
    std::int64_t stride_;
    Uninitialized<double> queries_, tile_, totals_, limits_;
    std::span<const std::int64_t> who_;
};

}  // namespace

void search_exhaustively(const RealSearch& search, std::span<const std::int64_t> queries) {
    const auto start = Clock::now();
    const std::int64_t n = std::ssize(queries), n_train = search.train.rows().count;
    if (n == 0) return;
    const std::int64_t row_bytes = search.train.stride() * std::int64_t{sizeof(double)};
    const std::int64_t most =
        std::clamp<std::int64_t>(block_bytes / row_bytes, 1, std::min(n, most_block_queries));
    const std::int64_t list_bytes = 3 * search.k * std::int64_t{sizeof(RealNeighbor)};
    const std::int64_t at_once = round_up(std::max<std::int64_t>(lists_bytes / list_bytes, 1), most);
    Team team(search.threads, search.token, n, n_train);
    for (std::int64_t begin = 0; begin < n; begin += at_once) {
        const auto some = queries.subspan(at(begin), at(std::min(at_once, n - begin)));
        const std::int64_t blocks = divide_up(std::ssize(some), most);
        const std::int64_t slices = std::clamp<std::int64_t>(
            divide_up(tasks_per_thread * team.threads(), blocks), 1, divide_up(n_train, least_slice));
        std::vector<RealBest> best(some.size(), RealBest(search.k));
        std::vector<std::mutex> locks(at(blocks));
        std::atomic<std::int64_t> next{0};
        team.run([&](int thread) {
            Block block(search, most);
            std::vector<RealBest> own;
            for (std::int64_t task; (task = next++) < blocks * slices;) {
                const std::int64_t b = task / slices, slice = task % slices;
                const std::int64_t last = n_train * (slice + 1) / slices;
                const auto first_query = at(b * most);
                const std::size_t count = std::min(at(most), some.size() - first_query);
                block.begin(some.subspan(first_query, count));
                const auto all = std::span(best).subspan(first_query, count);
                {
                    const std::lock_guard lock(locks[at(b)]);
                    own.clear();
                    for (const RealBest& one : all)
                        own.emplace_back(search.k, one.limit());
                }
                for (std::int64_t row = n_train * slice / slices; row < last; row += tile_rows) {
                    if (team.halted()) return;
                    const std::int64_t end = std::min(row + tile_rows, last);
                    block.compare(row, end, own);
                    team.advance(thread, (end - row) * static_cast<std::int64_t>(count));
                }
                const std::lock_guard lock(locks[at(b)]);
                for (std::size_t q = 0; q < count; ++q)
                    all[q].add(own[q]);
                for (RealBest& one : all)
                    one.prune();
            }
        });
        for (std::size_t q = 0; q < some.size(); ++q) {
            search.token.throw_if_stopped();
            write_best(best[q], search.row(some[q]));
        }
    }
    const double pairs = static_cast<double>(n) * static_cast<double>(n_train);
    search.timeline.add({.name = "all_pairs",
                         .launches = 1,
                         .total_ms = ms_since(start),
                         .operations = 3 * pairs * static_cast<double>(search.train.rows().dim),
                         .kind = search.kind});
}

}  // namespace knn::cpu
