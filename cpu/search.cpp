#include "cpu/search.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/scanner.h"
#include "cpu/self_search.h"
#include "cpu/serial/serial.h"
#include "cpu/sketch_scanner.h"
#include "cpu/sketch_self_search.h"
#include "cpu/vectors/vector_index.h"
#include "cpu/work.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr int max_threads = 1024;
/// Up to here reading the rows as they are is not slower than packing them first, or than reading panels that an earlier search has
/// made. Measured on MNIST with two threads: rows 3 ms for one query and 2 ms for each further one, panels 25 to 30 ms for 1 to 16
/// queries, of which 20 to 25 are for packing.
constexpr std::int64_t max_unpacked_queries = 12, max_queries_beside_panels = 3;

/// Memory limit for the neighbors of all slices before they are merged.
constexpr std::int64_t slices_bytes = 64 << 20;

/// The lists of a block of queries have at most about this much memory, which a cache holds: with k = 16,384 on MNIST, a third
/// faster than without a limit.
constexpr std::int64_t block_lists_bytes = 16 << 20;

/// Above, the bounds of sketches prune too little for what their lists cost.
constexpr int max_sketched_k = 1024;
bool can_sketch(Metric metric) {
    return metric == Metric::l2 || metric == Metric::cosine || metric == Metric::pearson;
}

struct QueryRange {
    std::int64_t first = 0, n = 0;
};

/// One search in progress: what its steps share.
class Search {
  public:
    /// sketched: null: direct products.
    Search(Resident& resident, const Sketched* sketched, const Queries& queries, int k,
           std::span<Neighbor> found, Timeline& timeline, const ProgressToken& token);

    /// Returns the most queries of a task.
    std::int64_t run();

    /// After run(): queries without an answer, which direct products find faster than sketches.
    const std::vector<QueryRange>& left() const { return left_; }

  private:
    const Kernel& kernel() const { return sketched_ != nullptr ? sketched_->kernel() : resident_.kernel; }
    std::int64_t units() const {
        return divide_up(resident_.train.count, packs_ ? kernel().images : RowScanner::unit_rows);
    }
    std::int64_t max_block() const {
        if (sketched_ != nullptr) return SketchScanner::max_block(sketched_->resident(), k_);
        const std::int64_t fitting =
            round_up(block_lists_bytes / BestLists::bytes(1, k_), resident_.kernel.queries);
        return std::min(fitting, resident_.max_block());
    }
    /// For a task of the largest size; the kernels have whole strips of queries.
    std::int64_t lists() const {
        return packs_ ? round_up(work_.largest(), kernel().queries) : work_.largest();
    }
    void require_memory() const;
    template <class Scanner>
    void do_tasks(int thread, Scanner scanner, Tally& tally);
    void share_limits(const Task& task, BestLists& best);
    void merge_slices();
    void leave(const Task& task);
    /// After more tasks were left than done, the others are left too.
    bool leaves_all() const { return n_left_ > n_done_; }

    std::span<Neighbor> row(std::span<Neighbor> rows, std::int64_t i) const {
        return rows.subspan(static_cast<std::size_t>(i * k_), static_cast<std::size_t>(k_));
    }

    Resident& resident_;
    const Sketched* sketched_;
    const Queries& queries_;
    int k_;
    std::span<Neighbor> found_;
    Timeline& timeline_;
    const bool packs_;
    Team team_;
    Work work_;
    Neighbors slices_;  ///< slices × n_query rows if there is more than one slice
    std::vector<std::atomic<std::uint32_t>> limits_;  ///< of the queries, of the k best
    std::mutex mutex_;
    std::vector<QueryRange> left_;
    std::atomic<std::int64_t> n_left_{0}, n_done_{0};  ///< tasks
};

/// The number of slices of the training set whose neighbors fit in that memory, at least 1.
std::int64_t max_slices(std::int64_t n_query, int k) {
    const std::int64_t row_bytes = k * std::int64_t{sizeof(Neighbor)};
    return std::max<std::int64_t>(slices_bytes / (std::max<std::int64_t>(n_query, 1) * row_bytes), 1);
}

/// A thread takes some 2 ns for a pair, and 1 more for 16 elements.
int threads_of(const Resident& resident, std::int64_t n_query) {
    const Rows& train = resident.train;
    const double pair_ns = 2 + static_cast<double>(train.dim) / 16;
    return threads_for(resident.plan,
                       static_cast<double>(n_query) * static_cast<double>(train.count) * pair_ns);
}

Search::Search(Resident& resident, const Sketched* sketched, const Queries& queries, int k,
               std::span<Neighbor> found, Timeline& timeline, const ProgressToken& token)
    : resident_(resident),
      sketched_(sketched),
      queries_(queries),
      k_(k),
      found_(found),
      timeline_(timeline),
      packs_(sketched != nullptr ||
             queries.count() >
                 (resident.bytes_to_pack() > 0 ? max_unpacked_queries : max_queries_beside_panels)),
      team_(threads_of(resident, queries.count()), token, queries.count(), units()),
      work_(queries.count(), units(), team_.threads(),
            packs_ && resident.plan.batch == 0 ? kernel().queries : 1, max_block(),
            max_slices(queries.count(), k), sketched != nullptr) {}

/// Throws MemoryError if memory cannot suffice, before anything is allocated.
void Search::require_memory() const {
    const Rows& train = resident_.train;
    const std::int64_t rows = queries_.count() * (work_.slices() > 1 ? work_.slices() + 1 : 1);
    std::int64_t thread = BestLists::bytes(lists(), k_);
    if (sketched_ != nullptr)
        thread += SketchScanner::bytes(kernel(), sketched_->columns(), k_, work_.largest());
    else if (packs_)
        thread += PanelScanner::bytes(kernel(), train.dim, work_.largest());
    std::int64_t needed = rows * k_ * std::int64_t{sizeof(Neighbor)} +
                          queries_.count() * std::int64_t{sizeof(Vote)} + thread * team_.threads();
    if (packs_ && sketched_ == nullptr) needed += resident_.bytes_to_pack();
    cpu::require_memory(needed, [&] {
        return "searching " + std::to_string(train.count) + " training images of " +
               std::to_string(train.dim) + " pixels for " + std::to_string(queries_.count()) + " others";
    });
}

template <class Scanner>
void Search::do_tasks(int thread, Scanner scanner, Tally& tally) {
    BestLists best(lists(), k_);
    while (auto task = work_.next()) {
        if (leaves_all()) {
            leave(*task);
            continue;
        }
        scanner.begin(queries_.rows.slice(task->first_query, task->n_query), tally);
        best.clear(task->n_query, scanner.n_lists());
        if (queries_.leaves_out())
            for (std::int64_t q = 0; q < task->n_query; ++q)
                best.exclude(q, queries_.images[static_cast<std::size_t>(task->first_query + q)]);
        do {
            for (std::int64_t unit = task->first_unit; unit < task->last_unit; ++unit) {
                if (team_.halted()) return;
                scanner.scan(unit, best, tally);
                team_.advance(thread, task->n_query);
            }
            if (!limits_.empty()) share_limits(*task, best);
        } while (work_.more(*task));
        if (!scanner.finish(best, tally)) {
            leave(*task);
            continue;
        }
        ++n_done_;
        const auto start = Clock::now();
        const std::span<Neighbor> out = work_.slices() > 1 ? slices_.rows : found_;
        const std::int64_t first_row = task->slice * queries_.count() + task->first_query;
        for (std::int64_t q = 0; q < task->n_query; ++q)
            best.finish(q, row(out, first_row + q));
        tally.select_ms += ms_since(start);
        ++tally.tasks;
    }
}

/// Slices of the same queries prune by the limits of each other. An image at the limit itself may be there before those of the other
/// slice.
void Search::share_limits(const Task& task, BestLists& best) {
    for (std::int64_t q = 0; q < task.n_query; ++q) {
        std::atomic<std::uint32_t>& least = limits_[static_cast<std::size_t>(task.first_query + q)];
        std::uint32_t known = least.load(std::memory_order_relaxed);
        if (const std::uint32_t own = best.limit(q); own < known)
            while (own + 1 < known && !least.compare_exchange_weak(known, own + 1, std::memory_order_relaxed))
                ;
        best.lower(q, known);
    }
}

void Search::leave(const Task& task) {
    const std::lock_guard lock(mutex_);
    ++n_left_;
    left_.push_back({task.first_query, task.n_query});
}

/// The k best among the best of all slices: the order of the keys is the order of neighbors, and sentinels
/// come last.
void Search::merge_slices() {
    const auto start = Clock::now();
    const std::int64_t n_query = queries_.count();
    team_.run_pieces(n_query, 64, [&](int, std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> all;
        for (std::int64_t q = first; q < last; ++q) {
            all.clear();
            for (std::int64_t s = 0; s < work_.slices(); ++s) {
                const auto list = slices_.row(s * n_query + q);
                all.insert(all.end(), list.begin(), list.end());
            }
            std::partial_sort(all.begin(), all.begin() + k_, all.end());
            std::copy_n(all.begin(), k_, row(found_, q).begin());
        }
    });
    timeline_.add_since("select", start, StageKind::kernel);
}

std::int64_t Search::run() {
    require_memory();
    if (work_.slices() > 1) slices_ = Neighbors(queries_.count() * work_.slices(), k_);
    if (work_.slices() > 1 && sketched_ == nullptr) {
        limits_ = std::vector<std::atomic<std::uint32_t>>(static_cast<std::size_t>(queries_.count()));
        std::ranges::fill(limits_, no_limit);
    }
    if (packs_ && sketched_ == nullptr) resident_.pack(team_, timeline_);
    const Scoring scoring =
        packs_ ? Scoring{} : make_scoring(resident_.measure, resident_.kernel, resident_.train, false);
    const double pairs = static_cast<double>(resident_.train.count) * static_cast<double>(queries_.count());
    const std::int64_t columns = sketched_ != nullptr ? sketched_->columns() : queries_.rows.dim;
    run_tallied(team_, pairs, columns, timeline_, [&](int thread, Tally& tally) {
        if (sketched_ != nullptr)
            do_tasks(thread,
                     SketchScanner(*sketched_, resident_, k_, work_.largest(),
                                   resident_.plan.sketch == SketchColumns::automatic),
                     tally);
        else if (packs_)
            do_tasks(thread, resident_.scanner(work_.largest()), tally);
        else
            do_tasks(thread, RowScanner(scoring, resident_.train, work_.largest()), tally);
    });
    if (work_.slices() > 1 && !left_.empty())
        left_ = {{0, queries_.count()}};
    else if (work_.slices() > 1)
        merge_slices();
    return work_.largest();
}

class CpuIndex final : public DeviceIndex {
  public:
    CpuIndex(const Rows& train, const Measure& measure, const Plan& plan)
        : resident_{train, measure, chosen_kernel(arithmetic_of(measure)), plan} {}

    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override {
        const Rows& train = resident_.train;
        require_top_k(wanted, result, train.count);
        const std::int64_t n = wanted.queries.count();
        token.step(0, n);
        if (n == 0) return 0;
        try {
            const std::int64_t batch = search(wanted.queries, wanted.k, result.neighbors, timeline, token);
            token.step(n, n);
            if (wanted.on_batch) wanted.on_batch({0, result.neighbors});
            return batch;
        } catch (const std::bad_alloc&) {
            throw_out_of_memory("searching " + std::to_string(train.count) + " training rows of " +
                                std::to_string(train.dim) + " columns");
        }
    }

    void expect(std::int64_t queries, int k, const ProgressToken& token) override {
        Timeline timeline;
        sketches_for(Rows{nullptr, queries, resident_.train.dim}, k, timeline, token);
    }

  private:
    std::int64_t search(const Queries& queries, int k, std::span<Neighbor> found, Timeline& timeline,
                        const ProgressToken& token);
    std::int64_t search_directly(const Queries& queries, int k, std::span<Neighbor> found, Timeline& timeline,
                                 const ProgressToken& token);
    const Sketched* sketches_for(const Queries& queries, int k, Timeline& timeline,
                                 const ProgressToken& token);

    Resident resident_;
    std::mutex sketching_;  ///< while `sketched_` is made
    std::unique_ptr<const Sketched> sketched_;
    std::atomic<const Sketched*> made_ = nullptr;      ///< `sketched_` from then on
    std::atomic<bool> is_declined_ = false;            ///< sketches prune too little here
    std::atomic<std::int64_t> directly_searched_ = 0;  ///< queries that were too few for sketches to be made
};

std::int64_t CpuIndex::search(const Queries& queries, int k, std::span<Neighbor> found, Timeline& timeline,
                              const ProgressToken& token) {
    const Sketched* sketched = sketches_for(queries, k, timeline, token);
    if (sketched == nullptr) return search_directly(queries, k, found, timeline, token);
    const ProgressToken rising = token.rising();  // what is left begins where less was reported
    if (queries.is_training_set) {
        const bool may_give_up = resident_.plan.sketch == SketchColumns::automatic;
        if (const auto block =
                SketchSelfSearch(resident_, *sketched, queries, k, may_give_up, found, timeline, rising)
                    .run())
            return *block;
        return search_directly(queries, k, found, timeline, rising);
    }
    Search search(resident_, sketched, queries, k, found, timeline, rising);
    const std::int64_t batch = search.run();
    for (const QueryRange& range : search.left())
        search_directly(
            queries.slice(range.first, range.n), k,
            found.subspan(static_cast<std::size_t>(range.first * k), static_cast<std::size_t>(range.n * k)),
            timeline, rising.part(range.first, queries.count()));
    return batch;
}

std::int64_t CpuIndex::search_directly(const Queries& queries, int k, std::span<Neighbor> found,
                                       Timeline& timeline, const ProgressToken& token) {
    if (queries.count() > max_unpacked_queries && SelfSearch::suits(resident_, queries, k))
        return SelfSearch(resident_, queries, k, found, timeline, token).run();
    return Search(resident_, nullptr, queries, k, found, timeline, token).run();
}

/// Null: direct products are faster, or memory does not suffice.
const Sketched* CpuIndex::sketches_for(const Queries& queries, int k, Timeline& timeline,
                                       const ProgressToken& token) {
    const Plan& plan = resident_.plan;
    const Rows& train = resident_.train;
    if (plan.sketch == SketchColumns::off || !can_sketch(resident_.measure.metric) || k > max_sketched_k)
        return nullptr;
    const bool automatic = plan.sketch == SketchColumns::automatic;
    const std::int64_t columns = count_of(plan.sketch), n = queries.count();
    const auto pay = [&](std::int64_t n_query, double making) {
        return sketches_pay(resident_, columns, n_query, k, making, queries.is_training_set);
    };
    if (automatic && (is_declined_ || !pay(n, 0))) return nullptr;
    if (const Sketched* made = made_.load()) return made;
    const double making = sketching_cost(resident_);
    // They are made when all queries so far would have paid for them, which of many small searches none does.
    const bool pays = !automatic || pay(n, making);
    if (!pays && !pay(directly_searched_ += n, making)) return nullptr;
    std::unique_lock lock(sketching_, std::try_to_lock);
    if (!lock) {
        if (!pays) return nullptr;  // meanwhile another search makes them
        lock.lock();
    }
    if (made_ != nullptr || is_declined_) return made_;
    const std::int64_t available = available_bytes();
    const std::int64_t needed = Sketched::bytes(chosen_kernel(), train, columns);
    if (available >= 0 && (queries.is_training_set ? 3 : 1) * needed > available / 2) return nullptr;
    Team team(plan.threads, token, n, 1);
    sketched_ =
        make_sketched(resident_, columns, k, queries.is_training_set, team, timeline, token.waiting(0, n));
    is_declined_ = sketched_ == nullptr;
    made_ = sketched_.get();
    return made_;
}

std::unique_ptr<DeviceIndex> open_bytes(const Rows& rows, const Measure& measure, const Plan& plan) {
    return std::make_unique<CpuIndex>(rows, measure, plan);
}

}  // namespace

UnsupportedReason configure(const Problem& problem, Plan& plan) {
    const bool sketches = names_columns(plan.sketch);
    if (sketches && !plan.select.empty()) return plan.select + " takes no sketches; expected §sketch auto";
    const bool bytes = problem.type == ElementType::uint8;
    if (bytes && !plan.select.empty()) return configure_serial(problem, plan);
    if (UnsupportedReason wrong = refuse_problem(problem)) return wrong;
    if (sketches && !can_sketch(problem.measure.metric))
        return "sketches bound distances by l2, cosine and pearson; expected one of them, or §sketch auto";
    if (sketches && problem.k > max_sketched_k)
        return "sketches find at most 1,024 neighbors; expected §sketch auto";
    if (bytes) {
        plan.distance = chosen_kernel(arithmetic_of(problem.measure)).name;
        plan.select = "threshold";
    } else if (UnsupportedReason refusal = configure_vectors(plan)) {
        return refusal;
    }
    plan.spares_threads = plan.threads == 0;
    plan.threads = std::min(threads_or_all(plan.threads), max_threads);
    return std::nullopt;
}

std::unique_ptr<DeviceIndex> open(const Training& training, const Measure& measure, const Plan& plan,
                                  Timeline&) {
    const Rows& rows = training.features.count > 0 ? training.features : training.rows;
    if (training.transform != nullptr && training.features.count == 0)
        throw std::invalid_argument("images to transform, not features");
    if (plan.distance == serial_distance) return open_serial(rows);
    if (!rows.are_bytes()) return open_vectors(rows, measure, plan, open_bytes);
    return open_bytes(rows, measure, plan);
}

}  // namespace knn::cpu
