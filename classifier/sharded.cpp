#include "classifier/sharded.h"

#include <algorithm>
#include <future>
#include <utility>

#include "classifier/exact_distances.h"
#include "classifier/host.h"
#include "classifier/job_queue.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// Range `i` of n of a share.
Range part_of(Range whole, std::int64_t n, std::int64_t i) {
    const Range part = range_of(whole.count, n, i);
    return {whole.begin + part.begin, part.count};
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

/// What orders the neighbors of several lists.
struct ListOrder {
    Measure measure;
    Rows train, queries;  ///< of real rows
};

/// The k first of two lists of k in order. Each step takes one by arithmetic, without a branch that could be mispredicted.
void merge_first(const Neighbor* a, const Neighbor* b, int k, Neighbor* out) {
    for (int i = 0; i < k; ++i) {
        const bool takes_b = neighbor_key(*b) < neighbor_key(*a);
        out[i] = takes_b ? *b : *a;
        b += takes_b ? 1 : 0;
        a += takes_b ? 0 : 1;
    }
}

/// The same of real rows, of which many may have equal scores: how many of a come before the next of b is found by steps that double
/// and then by bisection, which needs few exact distances.
void merge_first(const ComparedNeighbor* a, const ComparedNeighbor* b, int k, ComparedNeighbor* out,
                 const auto& is_less) {
    while (k > 0) {
        int before = 0, probe = 0;
        for (int step = 1; probe < k && !is_less(*b, a[probe]); step *= 2) {
            before = probe + 1;
            probe += step;
        }
        const ComparedNeighbor* const end = std::partition_point(
            a + before, a + std::min(probe, k), [&](const auto& one) { return !is_less(*b, one); });
        k -= static_cast<int>(end - a);
        out = std::copy(a, end, out);
        a = end;
        if (k-- > 0) *out++ = *b++;
    }
}

/// The k nearest of each of `count` queries in several lists, in order, of different images; lists[i]: the first of their
/// rows in list i. The result takes the place of list 0. Adds the stage `merge`. Throws Interrupted.
void merge_top_k(const ListOrder& order, std::span<Neighbor* const> lists, std::int64_t count, int k,
                 int threads, const std::atomic<bool>* stop, Timeline& timeline) {
    const auto start = Clock::now();
    const std::int64_t n = lists.size() > 1 ? count : 0;
    for_rows(n, lists_per_piece(k), threads, stop, [&](std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> both(at(k));
        std::vector<ComparedNeighbor> merged, next, compared(at(k));  // of real rows
        for (std::int64_t q = first; q < last; ++q) {
            Neighbor* const row = lists.front() + q * k;
            const auto row_of = [&](std::uint32_t image) { return order.train.row(image); };
            const auto is_less = [&](const ComparedNeighbor& a, const ComparedNeighbor& b) {
                return is_before(order.measure, order.queries.slice(q, 1), row_of, a, b);
            };
            merged.assign(row, row + (order.measure.real ? k : 0));
            for (const Neighbor* list : lists.subspan(1)) {
                const Neighbor* const others = list + q * k;
                if (order.measure.real) {
                    next.assign(others, others + k);
                    merge_first(merged.data(), next.data(), k, compared.data(), is_less);
                    merged.swap(compared);
                } else {
                    merge_first(row, others, k, both.data());
                    std::copy_n(both.begin(), k, row);
                }
            }
            std::copy(merged.begin(), merged.end(), row);
        }
    });
    timeline.add_since("merge", start);
}

/// The lists of several searches of the same queries, in different images, that run at the same time: the rows that all
/// have found are merged while the others are searched. The result takes the place of list 0.
class MergeBehind {
  public:
    /// `token` and `on_batch`, which gets the merged rows, must outlive this.
    MergeBehind(const ListOrder& order, std::vector<Neighbor*> lists, int k, const ProgressToken& token,
                const BatchCallback& on_batch)
        : order_(order),
          lists_(std::move(lists)),
          n_found_(lists_.size()),
          k_(k),
          token_(token),
          on_batch_(on_batch) {}

    /// Rows of search `list`, in ascending order of the queries. From any thread.
    void add(std::size_t list, const ResultBatch& batch) {
        const std::lock_guard lock(mutex_);
        n_found_[list] = batch.first + std::ssize(batch.neighbors) / k_;
        const std::int64_t begin = n_given_, end = *std::min_element(n_found_.begin(), n_found_.end());
        if (end == begin) return;
        n_given_ = end;
        jobs_.add([this, begin, end] { merge(begin, end - begin); });
    }

    /// When all have been added: waits for the merges.
    void finish(Timeline& timeline) {
        jobs_.finish();
        timeline.add(timeline_);
    }

  private:
    void merge(std::int64_t begin, std::int64_t count) {
        std::vector<Neighbor*> rows;
        for (Neighbor* list : lists_)
            rows.push_back(list + begin * k_);
        merge_top_k({order_.measure, order_.train, order_.queries.slice(begin, count)}, rows, count, k_,
                    available_threads(), token_.stop, timeline_);
        if (on_batch_) on_batch_({begin, {rows.front(), at(count * k_)}});
    }

    ListOrder order_;
    std::vector<Neighbor*> lists_;
    std::vector<std::int64_t> n_found_;  ///< queries of each list
    int k_;
    const ProgressToken& token_;
    const BatchCallback& on_batch_;
    std::mutex mutex_;
    std::int64_t n_given_ = 0;  ///< queries whose merge has been queued
    Timeline timeline_;
    JobQueue jobs_;
};

}  // namespace

/// Images that a device has at once.
struct Sharded::Part {
    Range images;
    Training training;
    std::vector<std::uint8_t> features = {};  ///< if Sharded makes them
};

/// A device with its parts of the training set.
struct Sharded::Shard {
    Plan plan;
    std::vector<Part> parts;
    std::unique_ptr<DeviceIndex> resident;  ///< of the only part; null if there are several
};

/// A search on the devices of this process, or on some of them. Each function returns how many queries were searched at
/// once.
struct Sharded::Search {
    const Sharded& of;
    TopKRequest wanted;
    TopKResult result;
    Timeline& timeline;
    const ProgressToken& token;

    std::int64_t n() const { return wanted.queries.count(); }
    std::int64_t run();
    std::int64_t search_replicas() const;
    std::int64_t search_shards() const;
    std::int64_t in_shard(const Shard& shard) const;
    std::int64_t in_part(DeviceIndex& index, const Part& part) const;
    std::int64_t in_few(DeviceIndex& index, Range part) const;
};

Sharded::Sharded(const Engine& engine, const Training& training, const Measure& measure, const Plan& plan,
                 Ranks* ranks, Timeline& timeline)
    : engine_(engine), measure_(measure), plan_(plan), ranks_(ranks), n_train_(training.rows.count) {
    if (measure.real) compared_ = training.features.count > 0 ? training.features : training.rows;
    Range here{0, n_train_};
    if (ranks != nullptr && !replicates()) here = part_of(here, ranks->size(), ranks->rank());
    const auto devices = std::max<std::int64_t>(std::ssize(plan.devices), 1);
    for (std::int64_t i = 0; i < devices; ++i) {
        const Range own = replicates() ? here : part_of(here, devices, i);
        if (own.count == 0) continue;
        Shard shard{plan, {}, nullptr};
        if (!plan.devices.empty()) shard.plan.device = plan.devices[at(i)];
        shard.plan.devices.clear();
        shard.plan.threads = std::max(plan.threads / static_cast<int>(devices), 1);
        const bool transforms = training.transform != nullptr;
        const std::int64_t parts = n_parts(
            plan, own.count, transforms ? training.transform->row_bytes_out() : training.rows.row_bytes());
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
    if (ranks != nullptr) timeline = gather_timeline(*ranks, timeline, 0, nullptr);
}

Sharded::~Sharded() = default;

/// With what was fitted on all images. The host makes features for an engine that does not.
Sharded::Part Sharded::make_part(const Training& training, Range images, int threads,
                                 Timeline& timeline) const {
    Part part{images, training};
    Training& own = part.training;
    own.rows = training.rows.slice(images.begin, images.count);
    if (!own.labels.empty()) own.labels = own.labels.subspan(at(images.begin), at(images.count));
    if (own.features.count > 0) own.features = own.features.slice(images.begin, images.count);
    if (own.transform == nullptr || own.features.count > 0 ||
        device_can_transform(engine_, own.transform->spec))
        return part;
    const auto start = Clock::now();
    part.features = features(*own.transform, own.rows, threads);
    own.features = own.transform->rows_out(part.features.data(), own.rows.count);
    timeline.add_since("transform", start, StageKind::kernel);
    return part;
}

/// Errors name the device if there are several.
std::unique_ptr<DeviceIndex> Sharded::open(const Part& part, const Plan& plan, Timeline& timeline) const {
    try {
        return engine_.open(part.training, measure_, plan, timeline);
    } catch (const DeviceError& error) {
        if (plan_.devices.size() < 2) throw;
        throw DeviceError(device_id(plan.device) + ": " + error.what());
    }
}

Range Sharded::answered(std::int64_t n) const {
    return ranks_ == nullptr ? Range{0, n} : range_of(n, ranks_->size(), ranks_->rank());
}

Range Sharded::searched(std::int64_t n) const {
    return replicates() ? answered(n) : Range{0, n};
}

std::int64_t Sharded::run_shards(
    std::int64_t n_query, Timeline& timeline, const ProgressToken& token,
    const std::function<std::int64_t(std::size_t, Timeline&, const ProgressToken&)>& work) const {
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

Sharded::Searched Sharded::top_k(const TopKRequest& wanted, const TopKResult& result, std::int64_t n_query,
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
    if (ranks_ == nullptr || replicates()) {
        here.batch = Search{*this, wanted, result, timeline, part}.run();
        here.ms = ms_since(start);
        return here;
    }
    Neighbors mine(searched, wanted.k);
    if (shards_.empty())
        std::fill(mine.rows.begin(), mine.rows.end(), no_neighbor);
    else
        here.batch =
            Search{*this, {.queries = wanted.queries, .k = wanted.k}, {mine.rows}, timeline, part}.run();
    here.ms = ms_since(start);
    merge_ranks(mine, wanted.queries.rows, result.neighbors, timeline, token);
    if (wanted.on_batch && !result.neighbors.empty()) wanted.on_batch({0, result.neighbors});
    return here;
}

DeviceIndex* Sharded::whole_set() const {
    if (shards_.size() != 1 || shards_.front().parts.front().images.count != n_train_) return nullptr;
    return shards_.front().resident.get();
}

void Sharded::expect(std::int64_t queries, int k, const ProgressToken& token) const {
    DeviceIndex* const index = ranks_ == nullptr ? whole_set() : nullptr;
    if (index != nullptr) index->expect(queries, k, token);
}

bool Sharded::enqueue(const DeviceSearch& wanted) const {
    DeviceIndex* const index = ranks_ == nullptr ? whole_set() : nullptr;
    return index != nullptr && index->enqueue(wanted);
}

std::int64_t Sharded::Search::run() {
    if (DeviceIndex* const index = of.whole_set())  // the usual case
        return index->top_k(wanted, result, timeline, token);
    wanted.meanwhile = {};  // of one device alone: several would call it at the same time
    token.step(0, n());
    if (n() == 0) return 0;
    const std::int64_t batch = of.replicates() ? search_replicas() : search_shards();
    token.step(n(), n());
    return batch;
}

std::int64_t Sharded::Search::search_replicas() const {
    std::mutex calling;
    return of.run_shards(
        n(), timeline, token, [&](std::size_t i, Timeline& own, const ProgressToken& part) -> std::int64_t {
            const Range share = range_of(n(), std::ssize(of.shards_), static_cast<std::int64_t>(i));
            if (share.count == 0) return 0;
            TopKRequest some = wanted;
            some.queries = wanted.queries.slice(share.begin, share.count);
            if (wanted.on_batch)
                some.on_batch = [&, share](ResultBatch batch) {
                    batch.first += share.begin;
                    const std::lock_guard lock(calling);
                    wanted.on_batch(batch);
                };
            TopKResult memory{
                result.neighbors.subspan(at(share.begin * wanted.k), at(share.count * wanted.k))};
            if (!result.votes.empty()) memory.votes = result.votes.subspan(at(share.begin), at(share.count));
            return Search{of, some, memory, own, part}.in_shard(of.shards_[i]);
        });
}

std::int64_t Sharded::Search::search_shards() const {
    std::vector<Neighbors> others;
    std::vector<Neighbor*> lists{result.neighbors.data()};
    for (std::size_t i = 1; i < of.shards_.size(); ++i)
        lists.push_back(others.emplace_back(n(), wanted.k).rows.data());
    MergeBehind merge({of.measure_, of.compared_, wanted.queries.rows}, lists, wanted.k, token,
                      wanted.on_batch);
    const std::int64_t batch =
        of.run_shards(n(), timeline, token, [&](std::size_t i, Timeline& own, const ProgressToken& part) {
            TopKRequest one = wanted;
            one.on_batch = [&, i](const ResultBatch& found) { merge.add(i, found); };
            return Search{of, one, {{lists[i], result.neighbors.size()}}, own, part}.in_shard(of.shards_[i]);
        });
    merge.finish(timeline);
    return batch;
}

/// One part after another, if there are several.
std::int64_t Sharded::Search::in_shard(const Shard& shard) const {
    if (shard.resident) return in_part(*shard.resident, shard.parts.front());
    const auto parts = std::ssize(shard.parts);
    struct Opened {
        std::unique_ptr<DeviceIndex> index;
        Timeline timeline;
    };
    // An engine that tries sketches does so in the first part, which it opens while the device has nothing else to do.
    SketchColumns sketch = shard.plan.sketch;
    std::unique_ptr<DeviceIndex> before;  // the previous part's: `open` frees its memory, which takes time
    const auto open_next = [&](std::int64_t p) {
        before.reset();
        Opened opened;
        Plan plan = shard.plan;
        if (of.takes_known()) plan.expected = {n(), wanted.k, p > 0};
        plan.sketch = sketch;
        opened.index = of.open(shard.parts[at(p)], plan, opened.timeline);
        return opened;
    };
    std::int64_t batch = 0;
    std::future<Opened> next = std::async(std::launch::async, open_next, 0);
    for (std::int64_t p = 0; p < parts; ++p) {
        Opened now = next.get();
        token.throw_if_stopped();
        if (p == 0 && now.index->decided_sketch() != SketchColumns::automatic)
            sketch = now.index->decided_sketch();
        if (p + 1 < parts) next = std::async(std::launch::async, open_next, p + 1);
        timeline.add(now.timeline);
        const ProgressToken own = token.part(p * n(), parts * n());
        TopKRequest one = wanted;
        if (p > 0) one.known.neighbors = result.neighbors;
        if (p + 1 < parts) one.on_batch = {};
        batch = Search{of, one, result, timeline, own}.in_part(*now.index, shard.parts[at(p)]);
        if (next.valid()) next.wait();
        before = std::move(now.index);
    }
    return batch;
}

/// The k nearest in the part, with their indices in the whole set, and among those that are known.
std::int64_t Sharded::Search::in_part(DeviceIndex& index, const Part& part) const {
    if (part.images.count == of.n_train_) return index.top_k(wanted, result, timeline, token);
    const PartQueries here(wanted.queries, part.images);
    TopKRequest own = wanted;
    own.queries = here.queries;
    own.known.first = static_cast<std::uint32_t>(part.images.begin);
    const bool has_known = !wanted.known.neighbors.empty();
    if (has_known && of.takes_known() && wanted.k <= here.most)
        return index.top_k(own, result, timeline, token);
    if (has_known) {
        Neighbors found(n(), wanted.k);
        const Search alone{of, {.queries = wanted.queries, .k = wanted.k}, {found.rows}, timeline, token};
        const std::int64_t batch = alone.in_part(index, part);
        Neighbor* const lists[] = {result.neighbors.data(), found.rows.data()};
        const int threads = std::max(available_threads() / static_cast<int>(of.shards_.size()), 1);
        merge_top_k({of.measure_, of.compared_, wanted.queries.rows}, lists, n(), wanted.k, threads,
                    token.stop, timeline);
        if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
        return batch;
    }
    if (wanted.k > here.most) return in_few(index, part.images);
    own.on_batch = [&](const ResultBatch& batch) {
        const auto rows = result.neighbors.subspan(at(batch.first * wanted.k), batch.neighbors.size());
        for (Neighbor& neighbor : rows)
            neighbor.index += own.known.first;
        if (wanted.on_batch) wanted.on_batch({batch.first, rows});
    };
    return index.top_k(own, result, timeline, token);
}

/// The k nearest of each query in a part that has fewer: all, behind which come entries that are no neighbors.
std::int64_t Sharded::Search::in_few(DeviceIndex& index, Range part) const {
    const int count = static_cast<int>(part.count);
    Neighbors all(n(), count);
    // All neighbors, also a query's own image, which is dropped below.
    const std::int64_t batch =
        index.top_k({.queries = Queries(wanted.queries.rows), .k = count}, {all.rows}, timeline, token);
    for (std::int64_t q = 0; q < n(); ++q) {
        auto next = result.neighbors.begin() + q * wanted.k;
        const auto end = next + wanted.k;
        for (Neighbor neighbor : all.row(q)) {
            neighbor.index += static_cast<std::uint32_t>(part.begin);
            if (!wanted.queries.leaves_out() || neighbor.index != wanted.queries.images[at(q)])
                *next++ = neighbor;
        }
        std::fill(next, end, no_neighbor);
    }
    if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
    return batch;
}

/// Each rank merges the lists of its share of the queries.
void Sharded::merge_ranks(const Neighbors& mine, const Rows& queries, std::span<Neighbor> merged,
                          Timeline& timeline, const ProgressToken& token) const {
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
    timeline.add_since("exchange", start);
    merge_top_k({measure_, compared_, queries.slice(own.begin, own.count)}, rows, own.count, k,
                std::max(plan_.threads, 1), token.stop, timeline);
}

}  // namespace knn
