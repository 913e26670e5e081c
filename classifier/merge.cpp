#include "classifier/merge.h"

#include <algorithm>
#include <array>

#include "cpu/threads.h"
#include "data/core/clock.h"

namespace knn {

namespace {

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// The queries whose excluded image lies in `part`: consecutive ones, as the indices ascend.
Share excluded_queries(const Exclude& exclude, std::int64_t n_query, Share part) {
    if (!exclude.any()) return {};
    const auto first_from = [&](std::int64_t image) {
        std::int64_t low = 0, high = n_query;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (exclude.index_of(middle) < image)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    const std::int64_t begin = first_from(part.begin), end = first_from(part.end());
    return begin < end ? Share{begin, end - begin} : Share{};
}

/// Queries whose excluded image lies in the part, or queries without one there.
struct Range {
    Share queries;
    Exclude exclude = {};  ///< counts in the part
};
std::array<Range, 3> ranges_of(const Exclude& exclude, std::int64_t n_query, Share part) {
    const Share inside = excluded_queries(exclude, n_query, part);
    Exclude own;
    if (inside.count > 0) own = exclude.from(inside.begin);
    if (own.any()) own.first -= part.begin;
    return {Range{{0, inside.begin}}, Range{inside, own}, Range{{inside.end(), n_query - inside.end()}}};
}

/// The lists' heads are compared one by one: there are as many lists as devices.
void merge_row(std::span<const Neighbor*> heads, std::span<Neighbor> out) {
    for (Neighbor& next : out) {
        const auto least =
            std::min_element(heads.begin(), heads.end(), [](auto* a, auto* b) { return *a < *b; });
        next = *(*least)++;
    }
}

FoundRows rows_of(Answers& all, Share queries) {
    const auto k = static_cast<std::size_t>(all.neighbors.k), begin = static_cast<std::size_t>(queries.begin);
    const auto n = static_cast<std::size_t>(queries.count);
    FoundRows rows{queries.begin, std::span(all.neighbors.rows).subspan(begin * k, n * k), {}};
    if (!all.votes.empty()) rows.votes = std::span(all.votes).subspan(begin, n);
    return rows;
}

}  // namespace

Training slice(const Training& training, Share share) {
    Training part = training;
    part.rows = training.rows.slice(share.begin, share.count);
    if (!training.labels.empty())
        part.labels = training.labels.subspan(static_cast<std::size_t>(share.begin),
                                              static_cast<std::size_t>(share.count));
    if (training.features.count > 0) part.features = training.features.slice(share.begin, share.count);
    part.reranking = nullptr;
    return part;
}

Neighbors no_neighbors(std::int64_t n_query, int k) {
    Neighbors none(n_query, k);
    std::fill(none.rows.begin(), none.rows.end(), no_neighbor);
    return none;
}

FoundRows copy_rows(const FoundRows& rows, int k, Answers& to, std::int64_t begin) {
    const std::int64_t count = std::ssize(rows.neighbors) / k;
    for (std::int64_t i = 0; i < count; ++i)
        std::copy_n(rows.neighbors.begin() + i * k, k, to.neighbors.row(begin + i).begin());
    if (!rows.votes.empty()) std::copy(rows.votes.begin(), rows.votes.end(), to.votes.begin() + begin);
    return rows_of(to, {begin, count});
}

void search_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude,
                 Timeline& timeline, const Watch& watch, const Tell& tell, Answers& found) {
    const std::int64_t n = queries.count;
    found = {};
    for (const Range& one : ranges_of(exclude, n, part)) {
        const Share range = one.queries;
        const auto most =
            static_cast<int>(std::min<std::int64_t>(k, part.count - (one.exclude.any() ? 1 : 0)));
        if (range.count == 0) continue;
        const bool is_all = range.count == n && most == k;
        if (!is_all && found.neighbors.k == 0) found.neighbors = no_neighbors(n, k);
        if (most == 0) {
            if (tell) tell(rows_of(found, range));
            continue;
        }
        const Tell counted = [&](const FoundRows& rows) {
            for (Neighbor& neighbor : rows.neighbors)
                neighbor.index += static_cast<std::uint32_t>(part.begin);
            const FoundRows kept = is_all ? rows : copy_rows(rows, most, found, range.begin + rows.begin);
            if (tell) tell(kept);
        };
        Answers some;
        searcher.search_and_tell(queries.slice(range.begin, range.count), most, nullptr, one.exclude,
                                 timeline, watch.part(range.begin, n), counted, is_all ? found : some);
    }
    if (n == 0) found.neighbors = Neighbors(0, k);
}

void improve_by_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude, int threads,
                     Timeline& timeline, const Watch& watch, const Tell& tell, Neighbors& best) {
    const std::int64_t n = queries.count;
    if (!searcher.improves(k, exclude)) {
        Answers found;
        search_part(searcher, part, queries, k, exclude, timeline, watch, {}, found);
        const auto start = Clock::now();
        Neighbor* const lists[] = {best.rows.data(), found.neighbors.rows.data()};
        merge_into_first(lists, n, k, threads, watch.stop);
        timeline.add({.name = "merge", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
        if (tell) tell({0, best.rows, {}});
        return;
    }
    for (const Range& range : ranges_of(exclude, n, part)) {
        const std::int64_t begin = range.queries.begin, count = range.queries.count;
        if (count == 0) continue;
        const Tell counted = [&](const FoundRows& rows) {
            if (tell) tell({begin + rows.begin, rows.neighbors, {}});
        };
        searcher.improve(queries.slice(begin, count), k, static_cast<std::uint32_t>(part.begin),
                         range.exclude, timeline, watch.part(begin, n), counted,
                         std::span(best.rows).subspan(at(begin * k), at(count * k)));
    }
}

void merge_into_first(std::span<Neighbor* const> lists, std::int64_t count, int k, int threads,
                      const std::atomic<bool>* stop) {
    if (lists.size() == 1) return;
    cpu::for_rows(count, cpu::lists_per_piece(k), threads, stop, [&](std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> row(static_cast<std::size_t>(k));
        std::vector<const Neighbor*> heads(lists.size());
        for (std::int64_t q = first; q < last; ++q) {
            std::transform(lists.begin(), lists.end(), heads.begin(),
                           [&](const Neighbor* list) { return list + q * k; });
            merge_row(heads, row);
            std::copy(row.begin(), row.end(), lists.front() + q * k);
        }
    });
}

Neighbors merged(std::vector<Neighbors> lists, int threads, const std::atomic<bool>* stop) {
    Neighbors& all = lists.front();  // in place: new memory for a million queries costs more than the merge
    std::vector<Neighbor*> rows;
    for (Neighbors& list : lists)
        rows.push_back(list.rows.data());
    merge_into_first(rows, all.n_query, all.k, threads, stop);
    return std::move(all);
}

}  // namespace knn
