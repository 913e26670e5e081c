#include "cpu/vectors/vector_index.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <string>

#include "cpu/host/host.h"
#include "cpu/vectors/real_rows.h"
#include "data/core/clock.h"

namespace knn::cpu {

namespace {

/// Training rows below which, and queries so far below which, every pair costs less than bytes.
constexpr std::int64_t least_rows = 1024, least_queries = 12;
/// Candidates beyond k: the first time, and at most.
constexpr int usual_spare = 32, most_spare = 512;
constexpr std::int64_t sampled_queries = 32;
constexpr std::int64_t candidates_bytes = 128 << 20;  // of the queries that are searched at once
constexpr std::int64_t group = 8;                     // rows in one pass of a kernel

constexpr std::int64_t tile_rows = 4, most_block_queries = 16;
constexpr std::int64_t block_bytes = 256 << 10;  // a block of queries stays in the L2 cache
constexpr std::int64_t lists_bytes = 64 << 20;   // of the queries at work
constexpr std::int64_t least_slice = 256;        // rows
constexpr std::int64_t tasks_per_thread = 4;
/// Exceeds the difference between cosine_distance and a product with two inverse lengths, each rounded.
constexpr double angle_slack = 1e-12;

/// A search of real rows: what its ways share.
struct RealSearch {
    const RealRows& train;
    const RealMeasure& measure;
    const RealRows& query_rows;
    const Queries& queries;
    int k;
    std::span<Neighbor> found;  ///< n_query × k
    const Plan& plan;
    StageKind kind;  ///< of the stages here
    Timeline& timeline;
    const ProgressToken& token;

    /// The training row that is no neighbor of the query.
    std::int64_t excluded(std::int64_t query) const {
        return queries.leaves_out() ? queries.images[at(query)] : -1;
    }
    std::span<Neighbor> row(std::int64_t query) const { return found.subspan(at(query * k), at(k)); }
};

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

/// Answers these queries, ascending. Blocks of queries against slices of the training set: a pair takes a subtraction and a
/// fused multiply-add for 8 elements, and is given up when the sum so far exceeds the k-th distance. Stage `distance`.
void search_exhaustively(const RealSearch& search, std::span<const std::int64_t> queries) {
    const auto start = Clock::now();
    const std::int64_t n = std::ssize(queries), asked = search.queries.count(),
                       n_train = search.train.rows().count;
    if (n == 0) return;
    const ProgressToken token = search.token.part(asked - n, asked);  // the others are answered
    const std::int64_t row_bytes = search.train.stride() * std::int64_t{sizeof(double)};
    const std::int64_t most =
        std::clamp<std::int64_t>(block_bytes / row_bytes, 1, std::min(n, most_block_queries));
    const std::int64_t list_bytes = 3 * search.k * std::int64_t{sizeof(RealNeighbor)};
    const std::int64_t at_once = round_up(std::max<std::int64_t>(lists_bytes / list_bytes, 1), most);
    const double pair_ns = 5 + static_cast<double>(search.train.stride()) / 4;
    const int threads =
        threads_for(search.plan, static_cast<double>(n) * static_cast<double>(n_train) * pair_ns);
    Team team(threads, token, n, n_train);
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

/// The training rows as bytes, open to search.
struct Filter {
    Quantizer quantizer;
    Uninitialized<std::uint8_t> bytes = {};
    std::vector<double> lost = {};  ///< of each row
    double largest_lost = 0;
    std::unique_ptr<DeviceIndex> index = nullptr;
    bool is_on_device = false;  ///< the index has the rows themselves
};

std::vector<std::int64_t> all_up_to(std::int64_t n) {
    std::vector<std::int64_t> all(at(n));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
}

/// Queries with their bytes.
struct ByteQueries {
    Queries queries;
    Uninitialized<std::uint8_t> bytes;
    std::vector<std::uint32_t> images;
    std::vector<double> own_lost;
    std::span<const double> lost;
};

/// One search that finds candidates by bytes.
class FilteredSearch {
  public:
    FilteredSearch(const RealSearch& search, const Filter& filter) : search_(search), filter_(filter) {}

    /// Answers those of these queries (ascending) that k + spare candidates are enough for, and returns the others. If `depths` is
    /// there, it gets the number of candidates that each needed, or one more than there were.
    std::vector<std::int64_t> run(std::span<const std::int64_t> queries, int spare,
                                  const ProgressToken& token, std::vector<int>* depths = nullptr);
    /// The same for all queries, by an index that has the rows.
    std::vector<std::int64_t> run_on_device(int spare, const ProgressToken& token);

  private:
    std::int64_t others() const {
        return search_.train.rows().count - (search_.queries.leaves_out() ? 1 : 0);
    }
    ByteQueries quantized(std::span<const std::int64_t> some);
    /// The depth for one query.
    int refine(std::int64_t query, std::span<const Neighbor> candidates, double lost, bool all,
               double* query_row, double* rows, std::span<Neighbor> out) const;

    const RealSearch& search_;
    const Filter& filter_;
};

ByteQueries FilteredSearch::quantized(std::span<const std::int64_t> some) {
    const Rows& train = search_.train.rows();
    const Queries& all = search_.queries;
    ByteQueries result;
    if (all.is_training_set && std::ssize(some) == train.count) {
        result.queries = all;
        result.queries.rows = {filter_.bytes.data(), train.count, train.dim};
        result.lost = filter_.lost;
        return result;
    }
    const auto start = Clock::now();
    result.bytes.resize(some.size() * at(train.dim));
    result.own_lost.resize(some.size());
    filter_.quantizer.quantize(search_.query_rows, some, result.bytes, result.own_lost, search_.plan.threads,
                               search_.token.waiting(0, all.count()));
    result.queries = Rows{result.bytes.data(), std::ssize(some), train.dim};
    result.lost = result.own_lost;
    if (all.leaves_out()) {
        for (const std::int64_t query : some)
            result.images.push_back(all.images[at(query)]);
        result.queries.images = result.images;
    }
    search_.timeline.add_since("quantize", start, search_.kind);
    return result;
}

int FilteredSearch::refine(std::int64_t query, std::span<const Neighbor> candidates, double lost, bool all,
                           double* query_row, double* rows, std::span<Neighbor> out) const {
    const RealMeasure& measure = search_.measure;
    const RealRows& train = search_.train;
    const auto k = at(search_.k);
    search_.query_rows.convert(query, query_row);
    RealBest best(search_.k);
    std::array<double, group> totals;
    for (std::size_t first = 0; first < candidates.size();) {
        if (search_.token.stopped()) return 0;  // for_rows throws
        if (first >= k) {
            best.prune();
            if (filter_.quantizer.bound().least_distance(candidates[first].distance, lost) > best.limit()) {
                write_best(best, out);
                return static_cast<int>(first);
            }
        }
        const std::size_t count = std::min(candidates.size() - first, std::size_t{group});
        for (std::size_t i = 0; i < count; ++i)
            train.convert(candidates[first + i].index, rows + static_cast<std::int64_t>(i) * train.stride());
        RealPass pass{query_row, rows,         1, static_cast<std::int64_t>(count), train.stride(),
                      nullptr,   totals.data()};
        measure.run(pass);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t index = candidates[first + i].index;
            best.offer({measure.is_angle() ? cosine_distance(totals[i], search_.query_rows.square(query),
                                                             train.square(index))
                                           : totals[i],
                        index});
        }
        first += count;
    }
    best.prune();
    const bool is_proven =
        all || filter_.quantizer.bound().least_distance(candidates.back().distance, lost) > best.limit();
    if (is_proven) write_best(best, out);
    return static_cast<int>(candidates.size()) + (is_proven ? 0 : 1);
}

std::vector<std::int64_t> FilteredSearch::run(std::span<const std::int64_t> queries, int spare,
                                              const ProgressToken& token, std::vector<int>* depths) {
    const std::int64_t n_train = search_.train.rows().count;
    const int k = static_cast<int>(std::min<std::int64_t>(search_.k + spare, others()));
    const std::int64_t at_once =
        std::max<std::int64_t>(candidates_bytes / (k * std::int64_t{sizeof(Neighbor)}), 1);
    const std::int64_t n = std::ssize(queries), stride = search_.train.stride();
    std::vector<int> found(at(n));
    for (std::int64_t begin = 0; begin < n; begin += at_once) {
        const auto some = queries.subspan(at(begin), at(std::min(at_once, n - begin)));
        const ByteQueries asked = quantized(some);
        Neighbors candidates(std::ssize(some), k);
        filter_.index->top_k({.queries = asked.queries, .k = k}, {candidates.rows}, search_.timeline,
                             token.part(begin, n));
        const auto start = Clock::now();
        for_rows(std::ssize(some), 1 + 64 / k, search_.plan.threads, token.waiting(begin, n),
                 [&](std::int64_t first, std::int64_t last) {
                     Uninitialized<double> query(at(stride)), rows(at(group * stride));
                     for (std::int64_t q = first; q < last; ++q)
                         found[at(begin + q)] = refine(
                             some[at(q)], candidates.row(q), asked.lost[at(q)] + filter_.largest_lost,
                             k == others() &&
                                 !(search_.queries.leaves_out() && search_.excluded(some[at(q)]) >= n_train),
                             query.data(), rows.data(), search_.row(some[at(q)]));
                 });
        search_.timeline.add_since("refine", start, search_.kind);
    }
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] > k) left.push_back(queries[i]);
    if (depths != nullptr) *depths = std::move(found);
    return left;
}

std::vector<std::int64_t> FilteredSearch::run_on_device(int spare, const ProgressToken& token) {
    const auto candidates = static_cast<int>(std::min<std::int64_t>(search_.k + spare, others()));
    filter_.index->top_k({.queries = search_.queries,
                          .k = search_.k,
                          .candidates = candidates,
                          .norms = search_.query_rows.norms()},
                         {search_.found}, search_.timeline, token);
    std::vector<std::int64_t> left;
    for (std::int64_t q = 0; q < search_.queries.count(); ++q)
        if (search_.row(q).front() == no_neighbor) left.push_back(q);
    return left;
}

class VectorIndex final : public DeviceIndex {
  public:
    VectorIndex(const Rows& rows, const Measure& measure, const Plan& plan, OpenBytes open_bytes, int most_k)
        : measure_(measure), plan_(plan), open_bytes_(open_bytes), most_k_(most_k), train_(rows) {
        if (plan.device.kind == Device::Kind::gpu) kind_ = StageKind::host;
    }

    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override {
        const Rows& train = train_;
        require_top_k(wanted, result, train.count);
        const std::int64_t n = wanted.queries.count();
        token.step(0, n);
        if (n == 0) return 0;
        if (wanted.queries.rows.type != train.type || wanted.queries.rows.dim != train.dim)
            throw std::invalid_argument("queries of another type or dim than the training rows");
        try {
            prepare(timeline, token.waiting(0, n));
            search(wanted, result, timeline, token);
        } catch (const std::bad_alloc&) {
            throw_out_of_memory("searching " + std::to_string(train.count) + " training rows of " +
                                std::to_string(train.dim) + " columns");
        }
        token.step(n, n);
        if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
        return n;
    }

  private:
    /// Of callers of the library: the program has checked its files.
    void check(const Rows& rows, const char* name, const ProgressToken& token) const {
        if (const auto why =
                refuse_elements(measure_.measure, magnitude_of(rows, plan_.threads, token), rows.dim))
            throw std::invalid_argument(std::string(name) + ": " + *why);
    }
    /// Once: looks at all training rows, which a stop may end.
    void prepare(Timeline& timeline, const ProgressToken& token);
    void search(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                const ProgressToken& token);
    const Filter* filter_for(std::int64_t n_query, int k, Timeline& timeline, const ProgressToken& token);
    /// Spare candidates for k, by a sample of the queries; −1: every pair is faster.
    int spare_for(const RealSearch& search, FilteredSearch& filtered);

    RealMeasure measure_;
    Plan plan_;
    OpenBytes open_bytes_;
    int most_k_;
    StageKind kind_ = StageKind::kernel;  ///< of what is not the search of bytes
    Rows train_;
    std::mutex mutex_;              ///< of what follows
    std::optional<RealRows> rows_;  ///< after prepare()
    std::unique_ptr<const Filter> filter_;
    bool lacks_memory_ = false;
    std::int64_t n_asked_ = 0;
    std::map<int, int> spare_;  ///< by k
};

void VectorIndex::prepare(Timeline& timeline, const ProgressToken& token) {
    const std::lock_guard lock(mutex_);
    if (rows_) return;
    const auto start = Clock::now();
    check(train_, "training set", token);
    rows_.emplace(measure_, train_, plan_.threads, token);
    timeline.add_since("check", start);
}

const Filter* VectorIndex::filter_for(std::int64_t n_query, int k, Timeline& timeline,
                                      const ProgressToken& token) {
    const Rows& train = train_;
    if (!Quantizer::suits(measure_.measure) || train.count < least_rows || k + usual_spare > most_k_)
        return nullptr;
    const std::lock_guard lock(mutex_);
    n_asked_ += n_query;
    if (filter_ != nullptr) return filter_.get();
    if (n_asked_ < least_queries || lacks_memory_) return nullptr;
    const std::int64_t available = available_bytes();
    lacks_memory_ = available >= 0 && 3 * train.count * train.dim > available / 2;
    if (lacks_memory_) return nullptr;
    const auto start = Clock::now();
    auto filter = std::make_unique<Filter>(Filter{Quantizer(measure_, *rows_, plan_.threads, token)});
    filter->bytes.resize(at(train.count * train.dim));
    filter->lost.resize(at(train.count));
    filter->quantizer.quantize(*rows_, all_up_to(train.count), filter->bytes, filter->lost, plan_.threads,
                               token);
    filter->largest_lost = *std::max_element(filter->lost.begin(), filter->lost.end());
    filter->index = open_bytes_({filter->bytes.data(), train.count, train.dim},
                                Quantizer::byte_measure(measure_.measure), plan_);
    filter->is_on_device =
        filter->index->keep({train, measure_.measure, rows_->norms(), filter->quantizer.offsets(),
                             filter->quantizer.bound(), filter->largest_lost});
    timeline.add_since("quantize", start, kind_);
    filter_ = std::move(filter);
    return filter_.get();
}

int VectorIndex::spare_for(const RealSearch& search, FilteredSearch& filtered) {
    const std::int64_t n = search.queries.count();
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = spare_.find(search.k); known != spare_.end()) return known->second;
    }
    if (n < 4 * sampled_queries) return usual_spare;
    std::vector<std::int64_t> sample;
    for (std::int64_t i = 0; i < sampled_queries; ++i)
        sample.push_back(i * n / sampled_queries);
    std::vector<int> depths;
    const int most = std::min(most_spare, most_k_ - search.k);
    filtered.run(sample, most, search.token.waiting(0, n), &depths);
    std::sort(depths.begin(), depths.end());
    const int wanted = depths[depths.size() * 7 / 8] - search.k;
    int spare = -1;
    if (depths[depths.size() / 2] <= search.k + most)
        spare = std::clamp<int>(wanted + wanted / 4 + 4, 8, most);
    const std::lock_guard lock(mutex_);
    spare_[search.k] = spare;
    return spare;
}

void VectorIndex::search(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                         const ProgressToken& token) {
    const Queries& queries = wanted.queries;
    const std::int64_t n = queries.count();
    require_memory(n * (wanted.k * std::int64_t{sizeof(Neighbor)} + std::int64_t{sizeof(Vote)}), [&] {
        return "searching " + std::to_string(train_.count) + " training rows of " +
               std::to_string(train_.dim) + " columns for " + std::to_string(n) + " others";
    });
    const ProgressToken rising = token.rising(), still = rising.waiting(0, n);
    std::optional<RealRows> own;
    if (!queries.is_training_set || queries.rows.pixels != train_.pixels) {
        check(queries.rows, "queries", still);
        own.emplace(measure_, queries.rows, plan_.threads, still);
    }
    const RealSearch search{
        *rows_,   measure_, own ? *own : *rows_, queries, wanted.k, result.neighbors, plan_, kind_,
        timeline, rising};
    std::vector<std::int64_t> left = all_up_to(n);
    const bool lose_bits = search.train.lose_bits() || search.query_rows.lose_bits();
    if (const Filter* filter = lose_bits ? nullptr : filter_for(n, wanted.k, timeline, still)) {
        FilteredSearch filtered(search, *filter);
        const int spare = spare_for(search, filtered), most = std::min(most_spare, most_k_ - wanted.k);
        if (spare >= 0 && filter->is_on_device && wanted.k + spare <= max_device_k)
            left = filtered.run_on_device(spare, rising);
        else if (spare >= 0)
            left = filtered.run(left, spare, rising);
        if (spare >= 0 && spare < most && !left.empty()) left = filtered.run(left, most, still);
    }
    search_exhaustively(search, left);
    const std::int64_t candidates = train_.count - (queries.leaves_out() ? 1 : 0);
    for (const std::int64_t q : left)
        if (wanted.k <= candidates && search.row(q).back().index == no_neighbor.index)
            throw DataError(
                "training set: rows that were numbers when it was opened are none now; expected rows that "
                "stay as they are");
}

}  // namespace

UnsupportedReason configure_vectors(Plan& plan) {
    if (!plan.select.empty()) return plan.select + " takes rows of uint8 alone; expected no §select";
    plan.distance = chosen_real_kernel().name;
    plan.select = "threshold";
    return std::nullopt;
}

std::optional<Problem> byte_problem(const Problem& problem) {
    if (!Quantizer::suits(problem.measure)) return std::nullopt;
    Problem bytes = problem;
    bytes.measure = Quantizer::byte_measure(problem.measure);
    bytes.type = ElementType::uint8;
    return bytes;
}

std::unique_ptr<DeviceIndex> open_vectors(const Rows& rows, const Measure& measure, const Plan& plan,
                                          OpenBytes open_bytes, int most_k) {
    return std::make_unique<VectorIndex>(rows, measure, plan, open_bytes, most_k);
}

}  // namespace knn::cpu
