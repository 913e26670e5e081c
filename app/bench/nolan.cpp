// Seed 000, §5: the whole search, distances and selection, with one size varied at a time around 128 queries,
// 65,536 reference points, 64 dimensions and k = 128. The paper shows diagrams; its text has neither their
// values nor the ranges of their axes.

#include "app/bench/run.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char* texture = "auto-texture";

struct Sizes {
    std::int64_t n_query = 128, n_train = 65'536, dim = 64, k = 128;
};

/// A figure of the paper, and what it says of it.
struct Varied {
    std::string number, title, x;
    std::int64_t Sizes::*size;
    std::vector<std::int64_t> values;
    std::string says;
    Sizes others = {};
};
const std::vector<Varied> varied_sizes = {
    {"5.1 and 5.4",
     "k varied",
     "k",
     &Sizes::k,
     {1, 4, 16, 64, 128, 256, 512, 1024},
     "insertion degrades rapidly as k grows, bitonic is unaffected."},
    {"5.2",
     "one query, reference points varied",
     "reference points",
     &Sizes::n_train,
     {1024, 4096, 16'384, 65'536, 131'072, 262'144},
     "rank (its cuBubbleSort) is comparable to bitonic for small sets, then rises suddenly.",
     {.n_query = 1}},
    {"5.3",
     "queries varied",
     "queries",
     &Sizes::n_query,
     {1, 8, 32, 128, 512, 2048},
     "both slow down linearly, bitonic at a greater rate: its queries go one at a time; here "
     "bitonic_single's do, and bitonic sorts all at once."},
    {"5.5",
     "dim varied",
     "dimensions",
     &Sizes::dim,
     {8, 16, 32, 64, 128, 256, 512},
     "the sorting does not depend on the dimension; the whole grows with it."},
};

/// Adds both parts of a search to the diagram, if both were measured.
void add(Diagram& diagram, const std::string& name, Measurement select, const Measurement& distance) {
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

struct Nolan {
    BenchRun& run;
    std::vector<std::string> selectors, on_cpu;

    void figure(const Varied& shown) const {
        std::vector<std::string> columns = selectors;
        columns.insert(columns.end(), on_cpu.begin(), on_cpu.end());
        run.figure(shown.number);
        Diagram diagram(
            (shown.number.size() > 3 ? "Figures " : "Figure ") + shown.number + ": " + shown.title, shown.x,
            "ms", columns);
        const bool by_k = shown.size == &Sizes::k;
        std::unique_ptr<Workload> work;
        Measurement distance;
        for (const std::int64_t value : shown.values) {
            Sizes sizes = shown.others;
            sizes.*shown.size = value;
            diagram.row(static_cast<double>(value), with_commas(value));
            if (work == nullptr || !by_k) {  // k alone needs no other images
                const std::int64_t largest_k = by_k ? shown.values.back() : sizes.k;
                work.reset();
                work = std::make_unique<Workload>(sizes.n_train, sizes.n_query, sizes.dim,
                                                  static_cast<int>(largest_k), 5);
                run.prepare(*work);
                if (!selectors.empty()) run.upload(*work);
                if (work->arrays != nullptr) distance = run.distance(*work, texture, 0.2);
            }
            measure(diagram, *work, distance, static_cast<int>(sizes.k));
            diagram.words("paper", "not stated");
        }
        if (!selectors.empty())
            diagram.note(std::string("Distances by ") + texture + "; the paper's are by texture or tiles.");
        diagram.note("The paper: " + shown.says);
        diagram.add_to(run.report);
    }

    void measure(Diagram& diagram, const Workload& work, const Measurement& distance, int k) const {
        if (work.arrays != nullptr) {
            work.arrays->fill(texture);
            for (const std::string& name : selectors)
                add(diagram, name, run.select(work, name, k, 0.2), distance);
        }
        for (const std::string& name : on_cpu)
            if (name == "cpu") {
                const Measurement one = run.search(work, search_way("cpu"), k, 0.1);
                diagram.value(name, one, one.summary().median);
            } else {
                const std::vector<Measurement> both = run.serial(work, name, k, 0.2);
                add(diagram, name, both.back(), both.front());
            }
    }
};

}  // namespace

void run_nolan(BenchRun& run) {
    BenchReport& report = run.report;
    report.data = "random bytes; unless varied 128 queries, 65,536 reference points, 64 dimensions, k = 128";
    const std::string source = "seed 000, 5";
    report.quotes = {{source, "number of queries", "", "128", ""},
                     {source, "number of reference points", "", "65536", ""},
                     {source, "dimension", "", "64", ""},
                     {source, "value of k", "", "128", ""},
                     {source + ": in diagrams alone", "times of Figures 5.1 to 5.5", "", "not stated", "ms"}};
    // The paper's three, the one that it proposes, and the best of this program; on the CPU the one that it
    // describes for serial programs, §2.2.2.
    Nolan nolan = {run, {}, {}};
    for (const std::string& name : run.wanted(words_of(find_case("nolan")->names))) {
        const bool on_cpu = name == "cpu" || cpu::find_serial_selector(name) != nullptr;
        (on_cpu ? nolan.on_cpu : nolan.selectors).push_back(name);
    }
    if (!run.has_gpu()) {
        const Sizes sizes;
        run.not_run("select", nolan.selectors,
                    {sizes.n_train, sizes.n_query, sizes.dim, static_cast<int>(sizes.k)});
        nolan.selectors.clear();
    }
    const std::int64_t selected = std::ssize(nolan.selectors), ways = selected + std::ssize(nolan.on_cpu);
    if (ways == 0) return;
    for (const Varied& shown : varied_sizes)
        run.expect((ways + (selected > 0 ? 1 : 0)) * std::ssize(shown.values));
    for (const Varied& shown : varied_sizes)
        nolan.figure(shown);
    report.tables.back().notes.push_back(
        "The ranges of the axes are ours: the text does not state the paper's.");
}

}  // namespace knn
