#include "cpu/search.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu/host.h"
#include "cpu/kernels/kernels.h"
#include "cpu/resident.h"
#include "cpu/self_search.h"
#include "cpu/serial/serial.h"
#include "cpu/threads.h"
#include "cpu/transform/searcher.h"
#include "cpu/work.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr int max_threads = 1024;
/// Up to here reading the rows as they are is not slower than packing them first. Measured on MNIST with two
/// threads: rows 3 ms for one query and 2 ms for each further one, panels 25 to 30 ms for 1 to 16 queries.
constexpr std::int64_t few_queries = 12;

/// Memory limit for the neighbors of all slices before they are merged.
constexpr std::int64_t slices_bytes = 64 << 20;

/// One search in progress: what its steps share.
class Search {
  public:
    Search(Resident& resident, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
           const Watch& watch);

    Neighbors run();
    std::int64_t batch() const { return work_.largest(); }

  private:
    bool packs() const { return queries_.count > few_queries; }
    /// For a task of the largest size; the kernels have whole strips of queries.
    std::int64_t lists() const {
        return packs() ? round_up(work_.largest(), resident_.kernel.queries) : work_.largest();
    }
    void require_memory() const;
    void search_panels();
    void search_rows();
    template <class Scanner>
    void search_with(const std::function<Scanner()>& make);
    template <class Scanner>
    void do_tasks(int thread, Scanner scanner, Tally& tally);
    void merge_slices();

    Resident& resident_;
    Rows queries_;
    int k_;
    Exclude exclude_;
    Timeline& timeline_;
    Work work_;
    Team team_;
    Neighbors slices_;  ///< slices × n_query rows if there is more than one slice
    Neighbors found_;
};

/// The number of slices of the training set whose neighbors fit in that memory, at least 1.
std::int64_t max_slices(std::int64_t n_query, int k) {
    const std::int64_t row_bytes = k * std::int64_t{sizeof(Neighbor)};
    return std::max<std::int64_t>(slices_bytes / (std::max<std::int64_t>(n_query, 1) * row_bytes), 1);
}

/// Of the training set, see Task.
std::int64_t units_of(const Resident& resident, std::int64_t n_query) {
    return divide_up(resident.train.count,
                     n_query > few_queries ? resident.kernel.images : RowScanner::unit_rows);
}

Search::Search(Resident& resident, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
               const Watch& watch)
    : resident_(resident),
      queries_(queries),
      k_(k),
      exclude_(exclude),
      timeline_(timeline),
      work_(queries.count, units_of(resident, queries.count), resident.plan.threads,
            packs() && resident.plan.batch == 0 ? resident.kernel.queries : 1, resident.max_block(),
            max_slices(queries.count, k)),
      team_(resident.plan.threads, watch, queries.count, units_of(resident, queries.count)) {}

/// Throws DataError if memory cannot suffice, before anything is allocated.
void Search::require_memory() const {
    const Kernel& kernel = resident_.kernel;
    const Rows& train = resident_.train;
    const std::int64_t rows = queries_.count * (work_.slices() > 1 ? work_.slices() + 1 : 1);
    std::int64_t thread = BestLists::bytes(lists(), k_);
    if (packs()) thread += PanelScanner::bytes(kernel, train.dim, work_.largest());
    std::int64_t needed = rows * k_ * std::int64_t{sizeof(Neighbor)} +
                          queries_.count * std::int64_t{sizeof(Vote)} + thread * team_.threads();
    if (packs()) needed += resident_.bytes_to_pack();
    const std::int64_t available = available_bytes();
    if (available < 0 || needed <= available) return;
    const auto mib = [](std::int64_t bytes) { return std::to_string(divide_up(bytes, 1 << 20)) + " MiB"; };
    throw DataError("memory: searching " + std::to_string(train.count) + " training images of " +
                    std::to_string(train.dim) + " pixels for " + std::to_string(queries_.count) +
                    " others needs " + mib(needed) + "; expected at most " + mib(available) +
                    ", the free memory");
}

template <class Scanner>
void Search::do_tasks(int thread, Scanner scanner, Tally& tally) {
    BestLists best(lists(), k_);
    while (const auto task = work_.next()) {
        scanner.begin(queries_.slice(task->first_query, task->n_query), tally);
        best.clear(task->n_query, scanner.n_lists());
        if (exclude_.any())
            for (std::int64_t q = 0; q < task->n_query; ++q)
                best.exclude(q, exclude_.index_of(task->first_query + q));
        for (std::int64_t unit = task->first_unit; unit < task->last_unit; ++unit) {
            if (team_.halted()) return;
            scanner.scan(unit, best, tally);
            team_.advance(thread, task->n_query);
        }
        const auto start = Clock::now();
        Neighbors& out = work_.slices() > 1 ? slices_ : found_;
        const std::int64_t first_row = task->slice * queries_.count + task->first_query;
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
    add_stages(tallies, static_cast<double>(resident_.train.count) * static_cast<double>(queries_.count),
               queries_.dim, timeline_);
}

void Search::search_panels() {
    resident_.pack(team_, timeline_);
    search_with<PanelScanner>([&] { return resident_.scanner(work_.largest()); });
}

void Search::search_rows() {
    const auto scoring = make_scoring(resident_.measure, resident_.kernel, resident_.train, false);
    search_with<RowScanner>([&] { return RowScanner(*scoring, resident_.train, work_.largest()); });
}

/// The k best among the best of all slices: the order of the keys is the order of neighbors, and sentinels
/// come last.
void Search::merge_slices() {
    const auto start = Clock::now();
    const std::int64_t n_query = queries_.count;
    team_.run_pieces(n_query, 64, [&](int, std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> all;
        for (std::int64_t q = first; q < last; ++q) {
            all.clear();
            for (std::int64_t s = 0; s < work_.slices(); ++s) {
                const auto row = std::as_const(slices_).row(s * n_query + q);
                all.insert(all.end(), row.begin(), row.end());
            }
            std::partial_sort(all.begin(), all.begin() + k_, all.end());
            std::copy_n(all.begin(), k_, found_.row(q).begin());
        }
    });
    timeline_.add({.name = "select", .launches = 1, .total_ms = ms_since(start)});
}

Neighbors Search::run() {
    require_memory();
    found_ = Neighbors(queries_.count, k_);
    if (work_.slices() > 1) slices_ = Neighbors(queries_.count * work_.slices(), k_);
    if (packs())
        search_panels();
    else
        search_rows();
    if (work_.slices() > 1) merge_slices();
    return std::move(found_);
}

class CpuSearcher : public Searcher {
  public:
    CpuSearcher(const Rows& train, const Measure& measure, const Plan& plan)
        : resident_{train, measure, chosen_kernel(arithmetic_of(measure)), plan, {}}, ran_(plan) {}

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override {
        require_k(k, resident_.train.count, exclude);
        watch.step(0, queries.count);
        if (queries.count == 0) return {};
        try {
            const auto run = [&](auto search) {
                Neighbors found = search.run();
                ran_.batch = search.batch();
                watch.step(queries.count, queries.count);
                return found;
            };
            if (queries.count > few_queries && SelfSearch::suits(resident_, queries, k, exclude))
                return run(SelfSearch(resident_, k, exclude, timeline, watch));
            return run(Search(resident_, queries, k, exclude, timeline, watch));
        } catch (const std::bad_alloc&) {
            throw DataError("memory: searching " + std::to_string(resident_.train.count) +
                            " training images of " + std::to_string(resident_.train.dim) +
                            " pixels ran out of it; expected more, or fewer images");
        }
    }

    Plan plan() const override { return ran_; }

  private:
    Resident resident_;
    Plan ran_;
};

}  // namespace

Refusal settle(const Problem& problem, Plan& plan) {
    if (!plan.select.empty()) return settle_serial(problem, plan);
    if (Refusal refusal = refuse_problem(problem)) return refusal;
    plan.distance = chosen_kernel(arithmetic_of(problem.measure)).name;
    plan.select = "threshold";
    plan.threads = std::min(threads_or_all(plan.threads), max_threads);
    return std::nullopt;
}

std::unique_ptr<Searcher> open(const Training& training, const Measure& measure, const Plan& plan,
                               Timeline& timeline) {
    const auto open_rows = [&](const Rows& rows) -> std::unique_ptr<Searcher> {
        if (plan.distance == serial_distance) return open_serial(rows, plan);
        return std::make_unique<CpuSearcher>(rows, measure, plan);
    };
    if (training.transform == nullptr) return open_rows(training.rows);
    return std::make_unique<TransformedSearcher>(training, plan.threads, open_rows, timeline);
}

}  // namespace knn::cpu
