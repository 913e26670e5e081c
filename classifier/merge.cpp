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

constexpr std::int64_t queries_per_piece = 256;  // some 100 KB, so that threads do not wait for each other

/// Of a part that begins at this image: indices in the whole set.
void count_from(std::int64_t begin, Neighbors& found, int threads, const std::atomic<bool>* stop) {
    if (begin > 0)
        cpu::for_rows(
            found.n_query, queries_per_piece, threads, stop, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t i = first * found.k; i < last * found.k; ++i)
                    found.rows[static_cast<std::size_t>(i)].index += static_cast<std::uint32_t>(begin);
            });
}

/// The lists' heads are compared one by one: there are as many lists as devices.
void merge_rows(const std::vector<Neighbors>& lists, std::int64_t query, std::span<Neighbor> out,
                std::vector<const Neighbor*>& heads) {
    heads.clear();
    for (const Neighbors& list : lists)
        heads.push_back(list.row(query).data());
    for (Neighbor& next : out) {
        const auto least =
            std::min_element(heads.begin(), heads.end(), [](auto* a, auto* b) { return *a < *b; });
        next = *(*least)++;
    }
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

Neighbors search_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude,
                      int threads, Timeline& timeline, const Watch& watch) {
    const std::int64_t n = queries.count;
    const Share inside = excluded_queries(exclude, n, part);
    const std::array<Share, 3> ranges = {Share{0, inside.begin}, inside, {inside.end(), n - inside.end()}};
    Neighbors found;
    for (const Share& range : ranges) {
        const bool excludes = &range == &ranges[1];
        const auto most = static_cast<int>(std::min<std::int64_t>(k, part.count - (excludes ? 1 : 0)));
        if (range.count == 0 || most == 0) continue;
        Exclude own = excludes ? exclude.from(range.begin) : Exclude{};
        own.first -= excludes ? part.begin : 0;
        Neighbors rows = searcher.search(queries.slice(range.begin, range.count), most, own, timeline,
                                         watch.part(range.begin, n));
        count_from(part.begin, rows, threads, watch.stop);
        if (range.count == n && most == k) return rows;
        if (found.k == 0) found = no_neighbors(n, k);
        for (std::int64_t q = 0; q < range.count; ++q)
            std::copy_n(rows.row(q).begin(), most, found.row(range.begin + q).begin());
    }
    return found.k > 0 ? std::move(found) : no_neighbors(n, k);
}

Neighbors merged(std::vector<Neighbors> lists, int threads, const std::atomic<bool>* stop) {
    Neighbors& all = lists.front();  // in place: new memory for a million queries costs more than the merge
    if (lists.size() == 1) return std::move(all);
    cpu::for_rows(all.n_query, queries_per_piece, threads, stop, [&](std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> row(static_cast<std::size_t>(all.k));
        std::vector<const Neighbor*> heads;
        for (std::int64_t q = first; q < last; ++q) {
            merge_rows(lists, q, row, heads);
            std::copy(row.begin(), row.end(), all.row(q).begin());
        }
    });
    return std::move(all);
}

}  // namespace knn
