#include "classifier/sharded.h"

#include <algorithm>
#include <future>

#include "classifier/host.h"
#include "classifier/job_queue.h"
#include "classifier/merge.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"
#include "data/transform/fitted.h"

namespace knn {

namespace {

std::int64_t row_bytes(const Training& training) {
    return training.transform != nullptr ? training.transform->dim_out() : training.rows.dim;
}

std::size_t n_devices(const Plan& plan) {
    return std::max<std::size_t>(plan.devices.size(), 1);
}

/// The plan of device `i` of several.
Plan plan_of_device(const Plan& plan, std::size_t i) {
    Plan own = plan;
    if (!plan.devices.empty()) own.device = plan.devices[i];
    own.devices.clear();
    own.threads = std::max(plan.threads / static_cast<int>(n_devices(plan)), 1);
    return own;
}

/// Range `i` of n of a share.
Range part_of(Range whole, std::int64_t n, std::int64_t i) {
    const Range part = range_of(whole.count, n, i);
    return {whole.begin + part.begin, part.count};
}

/// Part of a training set, with what was fitted on all of it.
Training slice(const Training& training, Range share) {
    if (share.count == training.rows.count) return training;
    Training part = training;
    part.rows = training.rows.slice(share.begin, share.count);
    if (!training.labels.empty()) part.labels = training.labels.subspan(at(share.begin), at(share.count));
    if (training.features.count > 0) part.features = training.features.slice(share.begin, share.count);
    return part;
}

/// Queries with their own images as `part` counts them.
struct PartQueries {
    Queries queries;
    std::vector<std::uint32_t> images = {};
    int most = 0;  ///< neighbors that each query has in the part

    PartQueries(const Queries& all, Range part) : queries(all) {
        queries.is_training_set = all.is_training_set && part.count == all.count();
        bool any = false;
        for (const std::uint32_t image : all.images) {
            const bool inside = image >= part.begin && image < part.end();
            any = any || inside;
            images.push_back(inside ? image - static_cast<std::uint32_t>(part.begin) : no_neighbor.index);
        }
        queries.images = any ? std::span<const std::uint32_t>(images) : std::span<const std::uint32_t>();
        most = static_cast<int>(std::min<std::int64_t>(part.count - (any ? 1 : 0), max_k));
    }
};

/// The k nearest of each query in a part that has fewer: all, behind which come entries that are no neighbors.
std::int64_t search_few(DeviceIndex& index, Range part, const TopK& wanted, std::span<Neighbor> result,
                        Timeline& timeline, const ProgressToken& token) {
    const int count = static_cast<int>(part.count);
    Neighbors all(wanted.queries.count(), count);
    // All neighbors, also a query's own image, which is dropped below.
    const std::int64_t batch =
        index.top_k({.queries = Queries(wanted.queries.rows), .k = count}, {all.rows}, timeline, token);
    for (std::int64_t q = 0; q < all.n_query; ++q) {
        auto next = result.begin() + q * wanted.k;
        const auto end = next + wanted.k;
        for (Neighbor neighbor : all.row(q)) {
            neighbor.index += static_cast<std::uint32_t>(part.begin);
            if (!wanted.queries.leaves_out() || neighbor.index != wanted.queries.images[at(q)])
                *next++ = neighbor;
        }
        std::fill(next, end, no_neighbor);
    }
    return batch;
}

}  // namespace

Sharded::Sharded(const Engine& engine, const Training& training, const Measure& measure, const Plan& plan,
                 Ranks* ranks, Timeline& timeline)
    : engine_(engine), measure_(measure), plan_(plan), ranks_(ranks), n_train_(training.rows.count) {
    Range here{0, n_train_};
    if (ranks != nullptr && !by_queries()) here = part_of(here, ranks->size(), ranks->rank());
    const auto devices = static_cast<std::int64_t>(n_devices(plan));
    for (std::int64_t i = 0; i < devices; ++i) {
        const Range own = by_queries() ? here : part_of(here, devices, i);
        if (own.count == 0) continue;
        Shard shard{plan_of_device(plan, at(i)), {}, nullptr};
        const std::int64_t parts = n_parts(plan, own.count, row_bytes(training));
        for (std::int64_t p = 0; p < parts; ++p)
            shard.parts.push_back(make_part(training, part_of(own, parts, p), shard.plan.threads, timeline));
        shards_.push_back(std::move(shard));
    }
    if (!shards_.empty())
        run_shards(0, timeline, {}, [&](std::size_t i, Timeline& own, const ProgressToken&) -> std::int64_t {
            Shard& shard = shards_[i];
            if (shard.parts.size() == 1) shard.resident = open(shard.parts.front(), shard.plan, own);
            return 0;
        });
    if (ranks != nullptr) timeline = slowest_rank(*ranks, timeline, 0, nullptr);
}

Sharded::~Sharded() = default;

/// The host makes features for an engine that does not.
Sharded::Part Sharded::make_part(const Training& training, Range images, int threads,
                                 Timeline& timeline) const {
    Part part{images, slice(training, images)};
    Training& own = part.training;
    if (own.transform == nullptr || own.features.count > 0 || engine_.can.transforms) return part;
    const auto start = Clock::now();
    part.features = features(*own.transform, own.rows, threads);
    own.features = {part.features.data(), own.rows.count, own.transform->dim_out()};
    timeline.add({.name = "transform", .launches = 1, .total_ms = ms_since(start)});
    return part;
}

/// Errors name the device if there are several.
std::unique_ptr<DeviceIndex> Sharded::open(const Part& part, const Plan& plan, Timeline& timeline) const {
    try {
        return engine_.open(part.training, measure_, plan, timeline);
    } catch (const DeviceError& error) {
        if (n_devices(plan_) == 1) throw;
        throw DeviceError(device_id(plan.device) + ": " + error.what());
    }
}

Range Sharded::answered(std::int64_t n) const {
    return ranks_ == nullptr ? Range{0, n} : range_of(n, ranks_->size(), ranks_->rank());
}

Range Sharded::searched(std::int64_t n) const {
    return by_queries() ? answered(n) : Range{0, n};
}

std::int64_t Sharded::run_shards(std::int64_t n_query, Timeline& timeline, const ProgressToken& token,
                                 const Work& work) {
    std::vector<Timeline> timelines(shards_.size());
    std::vector<double> ms(shards_.size());
    std::vector<std::int64_t> batches(shards_.size());
    run_together(shards_.size(), n_query, token, [&](std::size_t shard, const ProgressToken& own) {
        const auto start = Clock::now();
        batches[shard] = work(shard, timelines[shard], own);
        ms[shard] = ms_since(start);
    });
    timeline.add(slowest(timelines));
    if (shards_.size() > 1 && n_query > 0) timeline.add_device_ms(ms);
    const auto used = std::find_if(batches.begin(), batches.end(), [](std::int64_t n) { return n > 0; });
    return used != batches.end() ? *used : plan_.batch;
}

Sharded::Searched Sharded::top_k(const TopK& wanted, const TopKResult& result, std::int64_t n_query,
                                 Timeline& timeline, const ProgressToken& token) {
    std::unique_lock lock(one_search_, std::defer_lock);
    const auto is_resident = [](const Shard& shard) { return shard.resident != nullptr; };
    if (ranks_ != nullptr || !std::all_of(shards_.begin(), shards_.end(), is_resident)) lock.lock();
    require_top_k(wanted, result, n_train_, answered(n_query).count);
    const auto start = Clock::now();
    const std::int64_t searched = wanted.queries.count();
    ProgressToken part = token;
    if (ranks_ != nullptr && token.progress)  // of all queries, as the other ranks
        part.progress = [&](std::int64_t done, std::int64_t) {
            token.progress(done * n_query / std::max<std::int64_t>(searched, 1), n_query);
        };
    Searched here;
    if (ranks_ == nullptr || by_queries()) {
        here.batch = top_k_here(wanted, result, timeline, part);
        here.ms = ms_since(start);
        return here;
    }
    Neighbors mine(searched, wanted.k);
    if (shards_.empty())
        std::fill(mine.rows.begin(), mine.rows.end(), no_neighbor);
    else
        here.batch = top_k_here({.queries = wanted.queries, .k = wanted.k}, {mine.rows}, timeline, part);
    here.ms = ms_since(start);
    merge_ranks(mine, result.neighbors, timeline, token);
    if (wanted.on_batch && !result.neighbors.empty()) wanted.on_batch({0, result.neighbors});
    return here;
}

/// On the devices of this process.
std::int64_t Sharded::top_k_here(const TopK& wanted, const TopKResult& result, Timeline& timeline,
                                 const ProgressToken& token) {
    const Shard& only = shards_.front();
    const bool alone = shards_.size() == 1 && only.resident && only.parts.front().images.count == n_train_;
    if (alone) return only.resident->top_k(wanted, result, timeline, token);
    const std::int64_t n = wanted.queries.count();
    token.step(0, n);
    if (n == 0) return 0;
    const std::int64_t batch = by_queries() ? share_queries(wanted, result, timeline, token)
                                            : share_images(wanted, result, timeline, token);
    token.step(n, n);
    return batch;
}

std::int64_t Sharded::share_queries(const TopK& wanted, const TopKResult& result, Timeline& timeline,
                                    const ProgressToken& token) {
    std::mutex calling;
    return run_shards(wanted.queries.count(), timeline, token,
                      [&](std::size_t i, Timeline& own, const ProgressToken& part) -> std::int64_t {
                          const Range share = range_of(wanted.queries.count(), std::ssize(shards_),
                                                       static_cast<std::int64_t>(i));
                          if (share.count == 0) return 0;
                          TopK some = wanted;
                          some.queries = wanted.queries.slice(share.begin, share.count);
                          if (wanted.on_batch)
                              some.on_batch = [&, share](ResultBatch batch) {
                                  batch.first += share.begin;
                                  const std::lock_guard lock(calling);
                                  wanted.on_batch(batch);
                              };
                          TopKResult memory{result.neighbors.subspan(at(share.begin * wanted.k),
                                                                     at(share.count * wanted.k))};
                          if (!result.votes.empty())
                              memory.votes = result.votes.subspan(at(share.begin), at(share.count));
                          return search_shard(shards_[i], some, memory, own, part);
                      });
}

std::int64_t Sharded::share_images(const TopK& wanted, const TopKResult& result, Timeline& timeline,
                                   const ProgressToken& token) {
    const std::int64_t n = wanted.queries.count();
    std::vector<Neighbors> others;
    std::vector<Neighbor*> lists{result.neighbors.data()};
    for (std::size_t i = 1; i < shards_.size(); ++i)
        lists.push_back(others.emplace_back(n, wanted.k).rows.data());
    MergeBehind merge(lists, wanted.k, token, wanted.on_batch);
    const std::int64_t batch =
        run_shards(n, timeline, token, [&](std::size_t i, Timeline& own, const ProgressToken& part) {
            TopK one = wanted;
            one.on_batch = [&, i](const ResultBatch& found) { merge.add(i, found); };
            return search_shard(shards_[i], one, {{lists[i], result.neighbors.size()}}, own, part);
        });
    merge.finish(timeline);
    return batch;
}

/// The k nearest in the part, with their indices in the whole set, and among those that are known.
std::int64_t Sharded::search_part(DeviceIndex& index, const Part& part, const TopK& wanted,
                                  const TopKResult& result, Timeline& timeline,
                                  const ProgressToken& token) const {
    if (part.images.count == n_train_) return index.top_k(wanted, result, timeline, token);
    const PartQueries here(wanted.queries, part.images);
    TopK own = wanted;
    own.queries = here.queries;
    own.known.first = static_cast<std::uint32_t>(part.images.begin);
    const bool has_known = !wanted.known.neighbors.empty();
    if (has_known && engine_.can.known && wanted.k <= here.most)
        return index.top_k(own, result, timeline, token);
    if (has_known) {
        Neighbors found(wanted.queries.count(), wanted.k);
        own = {.queries = wanted.queries, .k = wanted.k};
        const std::int64_t batch = search_part(index, part, own, {found.rows}, timeline, token);
        Neighbor* const lists[] = {result.neighbors.data(), found.rows.data()};
        const int threads = std::max(available_threads() / static_cast<int>(shards_.size()), 1);
        merge_top_k(lists, found.n_query, wanted.k, threads, token.stop, timeline);
        if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
        return batch;
    }
    if (wanted.k > here.most) {
        const std::int64_t batch = search_few(index, part.images, wanted, result.neighbors, timeline, token);
        if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
        return batch;
    }
    own.on_batch = [&](const ResultBatch& batch) {
        const auto rows = result.neighbors.subspan(at(batch.first * wanted.k), batch.neighbors.size());
        for (Neighbor& neighbor : rows)
            neighbor.index += own.known.first;
        if (wanted.on_batch) wanted.on_batch({batch.first, rows});
    };
    return index.top_k(own, result, timeline, token);
}

/// One part after another, if there are several.
std::int64_t Sharded::search_shard(Shard& shard, const TopK& wanted, const TopKResult& result,
                                   Timeline& timeline, const ProgressToken& token) const {
    if (shard.resident)
        return search_part(*shard.resident, shard.parts.front(), wanted, result, timeline, token);
    const std::size_t parts = shard.parts.size();
    const std::int64_t n = wanted.queries.count();
    struct Opened {
        std::unique_ptr<DeviceIndex> index;
        Timeline timeline;
    };
    std::unique_ptr<DeviceIndex> before;  // the previous part's: `open` frees its memory, which takes time
    const auto open_next = [&](std::size_t p) {
        before.reset();
        Opened opened;
        Plan plan = shard.plan;
        if (engine_.can.known) plan.expected = {n, wanted.k, p > 0};
        opened.index = open(shard.parts[p], plan, opened.timeline);
        return opened;
    };
    std::int64_t batch = 0;
    std::future<Opened> next = std::async(std::launch::async, open_next, 0);
    for (std::size_t p = 0; p < parts; ++p) {
        Opened now = next.get();
        if (token.stopped()) throw Interrupted();
        if (p + 1 < parts) next = std::async(std::launch::async, open_next, p + 1);
        timeline.add(now.timeline);
        const ProgressToken own =
            token.part(static_cast<std::int64_t>(p) * n, static_cast<std::int64_t>(parts) * n);
        TopK one = wanted;
        if (p > 0) one.known.neighbors = result.neighbors;
        if (p + 1 < parts) one.on_batch = {};
        batch = search_part(*now.index, shard.parts[p], one, result, timeline, own);
        if (next.valid()) next.wait();
        before = std::move(now.index);
    }
    return batch;
}

/// Each rank merges the lists of its share of the queries.
void Sharded::merge_ranks(const Neighbors& mine, std::span<Neighbor> merged, Timeline& timeline,
                          const ProgressToken& token) {
    const auto start = Clock::now();
    const int size = ranks_->size(), k = mine.k;
    const Range own = answered(mine.n_query);
    std::vector<Neighbors> lists;
    std::vector<Neighbor*> rows;
    Outgoing send;
    Incoming receive;
    for (int r = 0; r < size; ++r) {
        const Range theirs = range_of(mine.n_query, size, r);
        send.push_back(
            std::as_bytes(std::span(mine.rows).subspan(at(theirs.begin * k), at(theirs.count * k))));
        // The first list becomes the result.
        const std::span<Neighbor> list = r == 0 ? merged : lists.emplace_back(own.count, k).rows;
        rows.push_back(list.data());
        receive.push_back(std::as_writable_bytes(list));
    }
    ranks_->exchange(send, receive, token.stop);
    timeline.add({.name = "exchange", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
    merge_top_k(rows, own.count, k, std::max(plan_.threads, 1), token.stop, timeline);
}

}  // namespace knn
