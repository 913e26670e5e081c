#include "cpu/search.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "classifier/vote.h"
#include "cpu/host.h"
#include "cpu/kernels/kernels.h"
#include "cpu/scanner.h"
#include "cpu/threads.h"
#include "cpu/work.h"

namespace knn::cpu {

namespace {

constexpr int most_threads = 1024;
/// Up to here reading the rows as they are is not slower than packing them first. Measured on MNIST with two
/// threads: rows 3 ms for one query and 2 ms for each further one, panels 25 to 30 ms for 1 to 16 queries.
constexpr std::int64_t few_queries = 12;

/// The neighbors of all slices, before they are merged, may take this much.
constexpr std::int64_t slices_bytes = 64 << 20;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Measure measure_of(const SearchRequest& request) {
    return {request.metric, request.p};
}

/// The most queries in a block: the block stays in a level-2 cache while the panels pass by, and each panel
/// is used often before the next one is read.
std::int64_t largest_block(const Kernel& kernel, std::int64_t dim, std::int64_t batch) {
    constexpr std::int64_t most = 1024, least = 96;
    const std::int64_t wanted = std::clamp(kernel.block_bytes / dim, least, most);
    return rounded_up(batch > 0 ? std::min(batch, wanted) : wanted, kernel.queries);
}

/// One search in progress: what its steps share.
class Search {
  public:
    Search(const SearchRequest& request, const Watch& watch, const Kernel& kernel, int threads);

    /// Fills in everything but the time of the whole.
    SearchResult run();

  private:
    bool packs() const { return request_.query.count > few_queries; }
    void require_memory() const;
    void search_panels();
    void search_rows();
    template <class Scanner>
    void search_with(const std::function<Scanner()>& make);
    template <class Scanner>
    void do_tasks(int thread, Scanner scanner, Tally& tally);
    void merge_slices();
    void take_votes();

    const SearchRequest& request_;
    const Kernel& kernel_;
    std::int64_t units_;  ///< of the training set, see Task
    Work work_;
    Team team_;
    Neighbors slices_;  ///< slices × n_query rows where there is more than one slice
    SearchResult result_;
};

/// The slices of the training set whose neighbors fit the room, at least 1.
std::int64_t most_slices(const SearchRequest& request) {
    const std::int64_t rows = std::max<std::int64_t>(request.query.count, 1);
    return std::max<std::int64_t>(slices_bytes / (rows * request.k * std::int64_t{sizeof(Neighbor)}), 1);
}

std::int64_t units_of(const SearchRequest& request, const Kernel& kernel) {
    const std::int64_t rows = request.query.count > few_queries ? kernel.images : RowScanner::unit_rows;
    return (request.train.count + rows - 1) / rows;
}

Search::Search(const SearchRequest& request, const Watch& watch, const Kernel& kernel, int threads)
    : request_(request),
      kernel_(kernel),
      units_(units_of(request, kernel)),
      work_(request.query.count, units_, threads, packs() ? kernel.queries : 1,
            largest_block(kernel, request.train.dim, request.batch), most_slices(request)),
      team_(threads, watch, request.query.count, units_) {}

/// Throws DataError before anything is allocated that cannot be had.
void Search::require_memory() const {
    const Problem problem = request_.problem();
    const std::int64_t rows = problem.n_query * (work_.slices() > 1 ? work_.slices() + 1 : 1);
    std::int64_t thread = BestLists::bytes(work_.largest(), problem.k);
    if (packs()) thread += PanelScanner::bytes(kernel_, problem.dim, work_.largest());
    std::int64_t needed = rows * problem.k * std::int64_t{sizeof(Neighbor)} +
                          problem.n_query * std::int64_t{sizeof(Vote)} + thread * team_.threads();
    if (packs())
        needed += Panels::bytes(kernel_, problem.n_train, problem.dim) +
                  scoring_bytes(measure_of(request_), kernel_, problem.n_train, problem.dim);
    const std::int64_t available = available_bytes();
    if (available < 0 || needed <= available) return;
    const auto mib = [](std::int64_t bytes) {
        return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
    };
    throw DataError("memory: searching " + std::to_string(problem.n_train) + " training images of " +
                    std::to_string(problem.dim) + " pixels for " + std::to_string(problem.n_query) +
                    " others needs " + mib(needed) + "; expected at most " + mib(available) +
                    ", which is what is free");
}

template <class Scanner>
void Search::do_tasks(int thread, Scanner scanner, Tally& tally) {
    BestLists best(work_.largest(), request_.k);
    while (const auto task = work_.next()) {
        const Rows queries{request_.query.row(task->first_query), task->n_query, request_.query.dim};
        scanner.begin(queries, tally);
        best.clear(task->n_query, scanner.room());
        for (std::int64_t unit = task->first_unit; unit < task->last_unit; ++unit) {
            if (team_.halted()) return;
            scanner.scan(unit, best, tally);
            team_.advance(thread, task->n_query);
        }
        const auto start = Clock::now();
        Neighbors& out = work_.slices() > 1 ? slices_ : result_.neighbors;
        const std::int64_t first_row = task->slice * request_.query.count + task->first_query;
        for (std::int64_t q = 0; q < task->n_query; ++q)
            best.finish(q, out.row(first_row + q));
        tally.select_ms += ms_since(start);
        ++tally.tasks;
    }
}

template <class Scanner>
void Search::search_with(const std::function<Scanner()>& make) {
    std::vector<Tally> tallies(static_cast<std::size_t>(team_.threads()));
    team_.run([&](int thread) {
        Tally tally;  // not in the shared array: neighbors there would share a cache line
        do_tasks(thread, make(), tally);
        tallies[static_cast<std::size_t>(thread)] = tally;
    });
    Stage distance{"distance"}, select{"select"};
    for (const Tally& tally : tallies) {
        distance.total_ms += tally.distance_ms / team_.threads();
        select.total_ms += tally.select_ms / team_.threads();
        distance.bytes += tally.bytes;
        distance.launches += tally.tasks;
    }
    select.launches = distance.launches;
    distance.operations = 2.0 * static_cast<double>(request_.train.count) *
                          static_cast<double>(request_.query.count) * static_cast<double>(request_.train.dim);
    result_.timeline.add(distance);
    result_.timeline.add(select);
}

void Search::search_panels() {
    const auto start = Clock::now();
    Panels panels(kernel_, request_.train);
    const auto scoring = make_scoring(measure_of(request_), kernel_, request_.train, true);
    team_.run_pieces(panels.count(), 1, [&](int, std::int64_t first, std::int64_t) {
        panels.fill(first);
        scoring->fill(first);
    });
    const double images = static_cast<double>(request_.train.count) * static_cast<double>(request_.train.dim);
    result_.timeline.add(
        {.name = "pack", .launches = 1, .total_ms = ms_since(start), .bytes = 2 * images, .operations = 0});
    search_with<PanelScanner>(
        [&] { return PanelScanner(kernel_, panels, *scoring, request_.train, work_.largest()); });
}

void Search::search_rows() {
    const auto scoring = make_scoring(measure_of(request_), kernel_, request_.train, false);
    search_with<RowScanner>([&] { return RowScanner(*scoring, request_.train, work_.largest()); });
}

/// The k best among the best of all slices: the order of the keys is the order of neighbors, and sentinels
/// come last.
void Search::merge_slices() {
    const auto start = Clock::now();
    const std::int64_t n_query = request_.query.count;
    team_.run_pieces(n_query, 64, [&](int, std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> all;
        for (std::int64_t q = first; q < last; ++q) {
            all.clear();
            for (std::int64_t s = 0; s < work_.slices(); ++s) {
                const auto row = std::as_const(slices_).row(s * n_query + q);
                all.insert(all.end(), row.begin(), row.end());
            }
            std::partial_sort(all.begin(), all.begin() + request_.k, all.end());
            std::copy_n(all.begin(), request_.k, result_.neighbors.row(q).begin());
        }
    });
    result_.timeline.add({.name = "select", .launches = 1, .total_ms = ms_since(start)});
}

void Search::take_votes() {
    const auto start = Clock::now();
    team_.run_pieces(request_.query.count, 128, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q)
            result_.votes[static_cast<std::size_t>(q)] =
                vote(std::as_const(result_.neighbors).row(q), request_.train_labels, request_.weights,
                     request_.tie, measure_of(request_));
    });
    result_.timeline.add({.name = "vote", .launches = 1, .total_ms = ms_since(start)});
}

SearchResult Search::run() {
    const std::int64_t n_query = request_.query.count;
    result_.distance = kernel_.name;
    result_.select = "threshold";
    result_.batch = work_.largest();
    result_.threads = team_.threads();
    if (n_query == 0) return std::move(result_);
    require_memory();
    result_.neighbors = Neighbors(n_query, request_.k);
    result_.votes.resize(static_cast<std::size_t>(n_query));
    if (work_.slices() > 1) slices_ = Neighbors(n_query * work_.slices(), request_.k);
    if (packs())
        search_panels();
    else
        search_rows();
    if (work_.slices() > 1) merge_slices();
    take_votes();
    return std::move(result_);
}

}  // namespace

Refusal refuse(const Problem& problem) {
    return refuse_problem(problem);
}

SearchResult search(const SearchRequest& request, const Watch& watch) {
    const auto start = Clock::now();
    if (const Refusal why = refuse(request.problem())) throw UsageError(*why);
    const Kernel& kernel = chosen_kernel(arithmetic_of(measure_of(request)));
    const int threads = std::min(request.threads > 0 ? request.threads : available_threads(), most_threads);
    watch.step(0, request.query.count);
    try {
        SearchResult result = Search(request, watch, kernel, threads).run();
        result.device = device();
        result.search_ms = ms_since(start);
        watch.step(request.query.count, request.query.count);
        return result;
    } catch (const std::bad_alloc&) {
        throw DataError("memory: searching " + std::to_string(request.train.count) + " training images of " +
                        std::to_string(request.train.dim) +
                        " pixels ran out of it; expected more, or fewer images");
    }
}

}  // namespace knn::cpu
