#include "classifier/merge.h"

#include <algorithm>
#include <array>

#include "cpu/threads.h"

namespace knn {

namespace {

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
    const Share inside = excluded_queries(exclude, n, part);
    const std::array<Share, 3> ranges = {Share{0, inside.begin}, inside, {inside.end(), n - inside.end()}};
    found = {};
    for (const Share& range : ranges) {
        const bool excludes = &range == &ranges[1];
        const auto most = static_cast<int>(std::min<std::int64_t>(k, part.count - (excludes ? 1 : 0)));
        if (range.count == 0) continue;
        const bool is_all = range.count == n && most == k;
        if (!is_all && found.neighbors.k == 0) found.neighbors = no_neighbors(n, k);
        if (most == 0) {
            if (tell) tell(rows_of(found, range));
            continue;
        }
        const Tell counted = [&](const FoundRows& rows) {
            for (Neighbor& one : rows.neighbors)
                one.index += static_cast<std::uint32_t>(part.begin);
            const FoundRows kept = is_all ? rows : copy_rows(rows, most, found, range.begin + rows.begin);
            if (tell) tell(kept);
        };
        Exclude own = excludes ? exclude.from(range.begin) : Exclude{};
        own.first -= excludes ? part.begin : 0;
        Answers some;
        searcher.search_and_tell(queries.slice(range.begin, range.count), most, nullptr, own, timeline,
                                 watch.part(range.begin, n), counted, is_all ? found : some);
    }
    if (n == 0) found.neighbors = Neighbors(0, k);
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
