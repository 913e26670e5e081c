// Seed 000, §5: the whole search, distances and selection, with one size varied at a time around 128 queries,
// 65,536 reference points, 64 dimensions and k = 128. The paper shows diagrams; its text has neither their
// values nor the ranges of their axes.

#include "app/bench/run.h"
#include "app/bench/table.h"
#include "data/core/format.h"

namespace knn {

namespace {

struct Sizes {
    std::int64_t n_query = 128, n_train = 65'536, dim = 64;
    int k = 128;
};

class Nolan {
  public:
    explicit Nolan(BenchRun& run) : run_(run) {
        // The paper's three, the one that it proposes, and the best of this program; on the CPU the one that it
        // describes for serial programs, §2.2.2.
        for (const char* name : {"insertion", "rank", "rank512", "bitonic", "bitonic_single",
                                 "block_rank_merge", "bitonic_topk", "multiselect"})
            if (run.wants(name)) selectors_.emplace_back(name);
        for (const char* name : {"serial_insertion", "nth_element", "cpu"})
            if (run.wants(name)) on_cpu_.emplace_back(name);
        if (run.has_gpu()) return;
        const Sizes sizes;
        run.need_gpu("select", selectors_, {sizes.n_train, sizes.n_query, sizes.dim, sizes.k});
        selectors_.clear();
    }

    /// Whether this machine can run any of the requested selectors.
    bool any() const { return !selectors_.empty() || !on_cpu_.empty(); }

    std::int64_t ways() const {
        return static_cast<std::int64_t>(selectors_.size() + on_cpu_.size()) + (selectors_.empty() ? 0 : 1);
    }

    /// One figure with these sizes.
    void figure(const std::string& number, const std::string& title, const std::string& x,
                const std::vector<std::pair<std::int64_t, Sizes>>& points, const std::string& says) {
        std::vector<std::string> columns = selectors_;
        columns.insert(columns.end(), on_cpu_.begin(), on_cpu_.end());
        run_.figure(number);
        Diagram diagram((number.size() > 3 ? "Figures " : "Figure ") + number + ": " + title, x, "ms",
                        columns);
        std::unique_ptr<Workload> work;
        Measurement distance;
        for (const auto& [value, sizes] : points) {
            diagram.row(static_cast<double>(value), with_commas(value));
            if (work == nullptr || !same_images(work->problem(1), sizes)) {
                work.reset();
                work =
                    std::make_unique<Workload>(sizes.n_train, sizes.n_query, sizes.dim, k_limit(points), 5);
                run_.prepare(*work);
                if (!selectors_.empty()) run_.upload(*work);
                if (work->arrays != nullptr) distance = run_.distance(*work, texture, 0.2);
            }
            measure(diagram, *work, distance, sizes.k);
            diagram.words("paper", "not stated");
        }
        if (!selectors_.empty())
            diagram.note(std::string("Distances by ") + texture + "; the paper's are by texture or tiles.");
        diagram.note("The paper: " + says);
        diagram.add_to(run_.report());
    }

  private:
    static bool same_images(const Problem& problem, const Sizes& sizes) {
        return problem.n_train == sizes.n_train && problem.n_query == sizes.n_query &&
               problem.dim == sizes.dim;
    }
    static int k_limit(const std::vector<std::pair<std::int64_t, Sizes>>& points) {
        int k = 1;
        for (const auto& [value, sizes] : points)
            k = std::max(k, sizes.k);
        return k;
    }

    /// Adds both parts of a search to the diagram, if both were measured.
    static void add(Diagram& diagram, const std::string& name, Measurement select,
                    const Measurement& distance) {
        const double us_per_query = select.us_per_query() + distance.us_per_query();
        if (!distance.good() && select.good()) {
            select.ms.clear();
            select.wrong = distance.wrong;
        }
        // Scales both to the smaller number of queries; times per query are unchanged.
        const double share = select.n_query > distance.n_query && select.n_query > 0
                                 ? static_cast<double>(distance.n_query) / static_cast<double>(select.n_query)
                                 : 1;
        select.n_query = std::min(select.n_query, distance.n_query);
        for (double& ms : select.ms)
            ms *= share;
        diagram.value(name, select, us_per_query * 1e-3 * static_cast<double>(select.n_query));
    }

    void measure(Diagram& diagram, const Workload& work, const Measurement& distance, int k) {
        if (work.arrays != nullptr) {
            work.arrays->fill(texture);
            for (const std::string& name : selectors_)
                add(diagram, name, run_.select(work, name, k, 0.2), distance);
        }
        for (const std::string& name : on_cpu_)
            if (name == "cpu") {
                const Measurement one = run_.search(work, search_way("cpu"), k, 0.1);
                diagram.value(name, one, one.summary().median);
            } else {
                const BenchRun::Serial one = run_.serial(work, name, k, 0.2);
                add(diagram, name, one.select, one.distance);
            }
    }

    static constexpr const char* texture = "auto-texture";
    BenchRun& run_;
    std::vector<std::string> selectors_, on_cpu_;
};

std::vector<std::pair<std::int64_t, Sizes>> varied(const std::vector<std::int64_t>& values,
                                                   void (*set)(Sizes&, std::int64_t)) {
    std::vector<std::pair<std::int64_t, Sizes>> points;
    for (const std::int64_t value : values) {
        Sizes sizes;
        set(sizes, value);
        points.emplace_back(value, sizes);
    }
    return points;
}

}  // namespace

void run_nolan(BenchRun& run) {
    BenchReport& report = run.report();
    report.data = "random bytes; unless varied 128 queries, 65,536 reference points, 64 dimensions, k = 128";
    report.quotes = {{"number of queries", "128", "", "seed 000, 5"},
                     {"number of reference points", "65536", "", "seed 000, 5"},
                     {"dimension", "64", "", "seed 000, 5"},
                     {"value of k", "128", "", "seed 000, 5"},
                     {"times of Figures 5.1 to 5.5", "not stated", "ms", "seed 000, 5: in diagrams alone"}};
    Nolan nolan(run);
    if (!nolan.any()) return;
    const auto by_k = varied({1, 4, 16, 64, 128, 256, 512, 1024},
                             [](Sizes& sizes, std::int64_t k) { sizes.k = static_cast<int>(k); });
    const auto by_points =
        varied({1024, 4096, 16'384, 65'536, 131'072, 262'144}, [](Sizes& sizes, std::int64_t n) {
            sizes.n_query = 1;
            sizes.n_train = n;
        });
    const auto by_queries =
        varied({1, 8, 32, 128, 512, 2048}, [](Sizes& sizes, std::int64_t n) { sizes.n_query = n; });
    const auto by_dim =
        varied({8, 16, 32, 64, 128, 256, 512}, [](Sizes& sizes, std::int64_t dim) { sizes.dim = dim; });
    run.expect(nolan.ways() *
               static_cast<std::int64_t>(by_k.size() + by_points.size() + by_queries.size() + by_dim.size()));
    nolan.figure("5.1 and 5.4", "k varied", "k", by_k,
                 "insertion degrades rapidly as k grows, bitonic is unaffected.");
    nolan.figure("5.2", "one query, reference points varied", "reference points", by_points,
                 "rank (its cuBubbleSort) is comparable to bitonic for small sets, then rises suddenly.");
    nolan.figure("5.3", "queries varied", "queries", by_queries,
                 "both slow down linearly, bitonic at a greater rate: its queries go one at a time; here "
                 "bitonic_single's do, and bitonic sorts all at once.");
    nolan.figure("5.5", "dim varied", "dimensions", by_dim,
                 "the sorting does not depend on the dimension; the whole grows with it.");
    report.tables.back().notes.push_back(
        "The ranges of the axes are ours: the text does not state the paper's.");
}

}  // namespace knn
