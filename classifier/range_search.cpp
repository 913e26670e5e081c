#include "classifier/range_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "classifier/exact_distances.h"
#include "cpu/host/threads.h"
#include "data/core/clock.h"
#include "data/core/format.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// The k of a search over that of the one before.
constexpr int growth = 16;

/// The greatest float that is at most `most` itself or in its shortest decimal form, which files have.
double float_shown_within(double most) {
    const auto nearest = static_cast<float>(most);
    return nearest <= most || shortest_number(nearest) <= most
               ? nearest
               : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

/// Queries whose neighbors are in memory at once, with their distances.
std::int64_t queries_at_once(int k) {
    constexpr std::int64_t bytes = std::int64_t{64} << 20;
    return std::max<std::int64_t>(bytes / (k * std::int64_t{sizeof(Neighbor) + sizeof(double)}), 1);
}

}  // namespace

RangeSearch::RangeSearch(const Index& index, double range, int max_k_of_engine, int threads)
    : index_(index),
      train_(index.training().rows),
      measure_(index.method().measure),
      range_(range),
      at_range_(range),
      limit_(range),
      max_k_(max_k_of_engine),
      threads_(threads) {
    if (!measure_.real && (measure_.metric == Metric::cosine || measure_.metric == Metric::pearson))
        at_range_ = limit_ = std::max(range, float_shown_within(range));
    if (measure_.metric != Metric::lp) return;
    if (measure_.real) {
        at_range_ = power(range, measure_.p);
        limit_ = power(range * (1 + 1e-12),
                       measure_.p);  // a root and its power are within some units of the last place
    } else {                         // rounded as the sums of bytes are
        const auto sum = static_cast<float>(std::pow(range / 255, measure_.p));
        at_range_ = distance_of(measure_, std::bit_cast<std::uint32_t>(sum));
        limit_ = std::max(range, at_range_);
    }
}

RangeSearch::~RangeSearch() = default;

int RangeSearch::first_k(std::int64_t n) {
    return static_cast<int>(std::min<std::int64_t>(n, 128));
}

void RangeSearch::search(const Queries& queries, Timeline& timeline, const ProgressToken& token,
                         const Take& take) {
    std::vector<RowsWithin> found(at(queries.count()));
    Open open(found.size());
    std::iota(open.begin(), open.end(), 0U);
    const std::int64_t candidates = candidates_of(queries);
    const int most = static_cast<int>(std::min<std::int64_t>(candidates, max_k_)), few = first_k(candidates),
              more = std::min(growth * few, most);
    auto start = Clock::now();
    open = search_nearest(queries, open, few, found, timeline, token);
    if (!open.empty() && few < more)
        open = search_nearest(queries, open, more, found, timeline, token.quiet());
    std::size_t taken = 0;
    const auto take_before = [&](std::size_t end) {
        search_ms_ += ms_since(start);
        for (; taken < end; ++taken) {
            take(found[taken]);
            found[taken] = {};
        }
        start = Clock::now();
    };
    // Each of the others may have all rows. So many at once take as much memory as the training set, or some more.
    constexpr std::int64_t least_bytes = std::int64_t{256} << 20, pair_bytes = 32;
    const std::int64_t all = std::ssize(open), bytes = std::max(train_.bytes(), least_bytes),
                       at_once = std::max<std::int64_t>(bytes / (pair_bytes * candidates), 1);
    for (std::int64_t first = 0; first < all; first += at_once) {
        Open part(open.begin() + first, open.begin() + std::min(first + at_once, all));
        const std::size_t end = part.back() + std::size_t{1};
        for (int k = more; !part.empty() && k < most;) {
            k = std::min(growth * k, most);
            part = search_nearest(queries, part, k, found, timeline, token.quiet());
        }
        search_pieces(queries, part, found, timeline, token.quiet());
        take_before(end);
    }
    take_before(found.size());
}

Queries RangeSearch::some_of(const Queries& queries, const Open& open) const {
    if (std::ssize(open) == queries.count()) return queries;
    if (queries.leaves_out()) {
        Open images;
        for (const std::uint32_t q : open)
            images.push_back(queries.images[q]);
        return Queries::some_of(train_, std::move(images));
    }
    const auto copy = std::make_shared<const std::vector<std::uint8_t>>(gathered(queries.rows, open));
    Queries some(Rows{copy->data(), std::ssize(open), train_.dim, train_.type});
    some.owner = copy;
    return some;
}

/// Answers those of the open queries that have fewer than k rows within the range, or no more than k rows at all. Returns the others.
RangeSearch::Open RangeSearch::search_nearest(const Queries& queries, const Open& open, int k,
                                              std::vector<RowsWithin>& found, Timeline& timeline,
                                              const ProgressToken& token) {
    Open left;
    const bool are_all = k == candidates_of(queries);
    const std::int64_t all = std::ssize(open), most = queries_at_once(k);
    for (std::int64_t first = 0; first < all; first += most) {
        const Open part(open.begin() + first, open.begin() + std::min(first + most, all));
        const Queries asked = some_of(queries, part);
        const Results results =
            index_.search(asked, {.k = k, .vote = false, .token = token.part(first, all)});
        timeline.add(results.timeline);
        plan_ = results.plan;
        std::vector<char> has_more(part.size());
        cpu::for_rows(std::ssize(part), 1, threads_, token.stop, [&](std::int64_t q, std::int64_t) {
            const Rows query = asked.rows.slice(q, 1);
            const std::span<const Neighbor> row = results.neighbors.row(q);
            const auto distance = [&](const Neighbor& one) {
                return exact_distance_to(train_, one, query, measure_);
            };
            has_more[at(q)] = !are_all && distance(row.back()) <= limit_;
            for (std::size_t i = 0; has_more[at(q)] == 0 && i < row.size(); ++i) {
                const double exact = distance(row[i]);
                if (exact > limit_) break;
                add(found[part[at(q)]], exact, row[i].index);
            }
        });
        for (std::size_t q = 0; q < part.size(); ++q)
            if (has_more[q] != 0) left.push_back(part[q]);
    }
    return left;
}

void RangeSearch::search_pieces(const Queries& queries, const Open& open, std::vector<RowsWithin>& found,
                                Timeline& timeline, const ProgressToken& token) {
    const std::int64_t all = std::ssize(open), most = queries_at_once(max_k);
    for (std::int64_t first = 0; first < all; first += most) {
        const Open part(open.begin() + first, open.begin() + std::min(first + most, all));
        const Queries asked(some_of(queries, part));
        std::vector<std::vector<std::pair<double, std::uint32_t>>> within(part.size());
        open_pieces();
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
            const Rows rows = rows_of_piece(static_cast<std::int64_t>(piece));
            const Neighbors every = nearest_of(*pieces_[piece], Queries(asked.rows),
                                               static_cast<int>(rows.count), timeline, token);
            const Uninitialized<double> distances =
                exact_distances(rows, asked.rows, every, measure_, threads_, token, false);
            for (std::size_t i = 0; i < distances.size(); ++i) {
                const std::size_t q = i / at(rows.count);
                const auto index = static_cast<std::uint32_t>(piece * at(max_k)) + every.rows[i].index;
                const bool itself = queries.leaves_out() && queries.images[part[q]] == index;
                if (distances[i] <= limit_ && !itself) within[q].emplace_back(distances[i], index);
            }
        }
        for (std::size_t q = 0; q < part.size(); ++q) {
            token.throw_if_stopped();
            std::sort(within[q].begin(), within[q].end());
            for (const auto& [distance, index] : within[q])
                add(found[part[q]], distance, index);
        }
    }
}

void RangeSearch::add(RowsWithin& row, double distance, std::uint32_t index) const {
    const double shown = measure_.real ? shown_distance(measure_, distance) : distance;
    if (shown > range_ && distance > at_range_) return;
    row.rows.push_back(index);
    row.distances.push_back(shown);
}

std::int64_t RangeSearch::candidates_of(const Queries& queries) const {
    return train_.count - (queries.leaves_out() ? 1 : 0);
}

Rows RangeSearch::rows_of_piece(std::int64_t piece) const {
    const std::int64_t begin = piece * max_k;
    return train_.slice(begin, std::min<std::int64_t>(max_k, train_.count - begin));
}

void RangeSearch::open_pieces() {
    for (std::int64_t piece = std::ssize(pieces_); piece * max_k < train_.count; ++piece) {
        const Rows rows = rows_of_piece(piece);
        pieces_.push_back(
            open_on_cpu(rows, queries_at_once(max_k), static_cast<int>(rows.count), measure_, threads_));
    }
}

}  // namespace knn
