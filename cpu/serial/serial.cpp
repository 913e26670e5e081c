#include "cpu/serial/serial.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "data/core/clock.h"

namespace knn::cpu {

namespace {

using Row = std::span<const std::uint32_t>;
using Scratch = std::vector<std::uint64_t>;

/// (distance, index) as one number, in the order of neighbors.
void make_keys(Row row, Scratch& keys) {
    keys.resize(row.size());
    for (std::size_t t = 0; t < row.size(); ++t)
        keys[t] = neighbor_key({row[t], static_cast<std::uint32_t>(t)});
}

/// By keys that `order` brings into order as far as the first k.
template <void order(Scratch& keys, std::ptrdiff_t k)>
void by_order(Row row, std::span<Neighbor> out, Scratch& keys) {
    make_keys(row, keys);
    order(keys, std::ssize(out));
    std::transform(keys.begin(), keys.begin() + std::ssize(out), out.begin(), neighbor_of_key);
}

/// Seed 001, Fig. 9: the k-th smallest in its place, the smaller ones before it, and then these in order.
void up_to_kth(Scratch& keys, std::ptrdiff_t k) {
    std::nth_element(keys.begin(), keys.begin() + k - 1, keys.end());
    std::sort(keys.begin(), keys.begin() + k);
}

/// Seed 002, appendix B.3: the whole row.
void whole_row(Scratch& keys, std::ptrdiff_t) {
    std::sort(keys.begin(), keys.end());
}

/// Seed 004, §4.2: finds the minimum k times, each time setting it to infinity.
void by_k_pass(Row row, std::span<Neighbor> out, Scratch& keys) {
    make_keys(row, keys);
    for (Neighbor& found : out) {
        const auto min = std::min_element(keys.begin(), keys.end());
        found = neighbor_of_key(*min);
        *min = std::numeric_limits<std::uint64_t>::max();
    }
}

/// Seed 000, §2.2.2: the first k in order, then each value below the largest of them is inserted. The pseudocode of
/// §4.4.1, which runs in a GPU thread there, is the same.
void by_insertion(Row row, std::span<Neighbor> out, Scratch& /*scratch*/) {
    std::size_t size = 0;
    for (std::size_t t = 0; t < row.size(); ++t) {
        if (size == out.size() && row[t] >= out[size - 1].distance) continue;
        std::size_t place = size < out.size() ? size++ : size - 1;
        for (; place > 0 && out[place - 1].distance > row[t]; --place)
            out[place] = out[place - 1];
        out[place] = {row[t], static_cast<std::uint32_t>(t)};
    }
}

/// The steps of seed 003's bitonic sort (§2) for the next power of two, without padding: keys whose partner would be behind the
/// end stay where they are. With blocks of `max_size` keys it ends when these are sorted.
template <std::size_t max_size>
void bitonic_steps(Scratch& keys, std::ptrdiff_t) {
    const std::size_t n = keys.size();
    for (std::size_t size = 2; size / 2 < n && size <= max_size; size *= 2)
        for (std::size_t step = size / 2; step > 0; step /= 2)
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t partner = i ^ step;
                if (partner < i || partner >= n) continue;
                if ((keys[i] > keys[partner]) == ((i & size) == 0)) std::swap(keys[i], keys[partner]);
            }
}

// Those of `bench`, then the wrong ones.
constexpr std::array<SerialSelector, 6> table = {{
    {"nth_element", "on the CPU, one thread: std::nth_element, then a sort of the k best",
     by_order<up_to_kth>},
    {"serial_sort", "on the CPU, one thread: std::sort of the whole row", by_order<whole_row>},
    {"serial_k_pass", "on the CPU, one thread: k searches for the minimum", by_k_pass},
    {"serial_insertion", "on the CPU, one thread: insertion into the k best", by_insertion},
    {"bitonic_unpadded", "", by_order<bitonic_steps<std::numeric_limits<std::size_t>::max() / 2>>},
    {"bitonic_blocks", "", by_order<bitonic_steps<2048>>},
}};

/// Answers queries one after another.
struct Serial {
    const Problem problem;
    const SerialRows& rows;
    const SerialSelector& selector;
    const ProgressToken& token;
    Neighbors neighbors{problem.n_query, problem.k};
    double fill_ms = 0, select_ms = 0;       ///< of the last run
    std::vector<std::uint32_t> matrix = {};  ///< one row, or all, which get distances from each other
    Scratch scratch = {};

    /// The first n queries.
    void run(std::int64_t n) {
        fill_ms = select_ms = 0;
        const auto n_rows = static_cast<std::size_t>(rows.half ? n : 1),
                   n_train = static_cast<std::size_t>(problem.n_train);
        matrix.resize(n_rows * n_train);
        for (std::int64_t q = 0; q < n; ++q) {
            token.throw_if_stopped();
            const auto begin = Clock::now();
            const auto i = static_cast<std::size_t>(q);
            const std::span row = std::span(matrix).subspan(i % n_rows * n_train, n_train);
            rows.fill(q, row);
            if (rows.half)
                for (std::size_t t = i + 1; t < n_rows; ++t)
                    matrix[t * n_train + i] = row[t];
            const auto filled = Clock::now();
            selector.select(row, neighbors.row(q), scratch);
            fill_ms += ms_between(begin, filled);
            select_ms += ms_between(filled, Clock::now());
        }
    }
};

}  // namespace

std::span<const SerialSelector> serial_selectors() {
    return std::span(table).first<4>();
}
const SerialSelector* find_serial_selector(std::string_view name) {
    return row_named(serial_selectors(), name);
}
const SerialSelector* find_wrong_sort(std::string_view name) {
    return row_named(std::span(table).last<2>(), name);
}

void serial_distances(const Rows& train, const std::uint8_t* query, std::span<std::uint32_t> row,
                      std::int64_t first) {
    constexpr std::int64_t piece = 1 << 15;  // pixels whose squares fit a signed sum of 32 bits
    for (std::int64_t t = first; t < train.count; ++t) {
        const std::uint8_t* image = train.row(t);
        std::uint32_t total = 0;
        for (std::int64_t begin = 0; begin < train.dim; begin += piece) {
            const std::int64_t end = std::min(begin + piece, train.dim);
            int sum = 0;
            for (std::int64_t i = begin; i < end; ++i) {
                const int d = int{image[i]} - int{query[i]};
                sum += d * d;
            }
            total += static_cast<std::uint32_t>(sum);
        }
        row[static_cast<std::size_t>(t)] = total;
    }
}

namespace {

class SerialIndex final : public DeviceIndex {
  public:
    explicit SerialIndex(const Rows& train) : train_(train) {}

    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override {
        require_top_k(wanted, result, train_.count);
        const Queries& queries = wanted.queries;
        const std::int64_t n = queries.count();
        const SerialRows rows{[&](std::int64_t q, std::span<std::uint32_t> row) {
            token.step(q, n);
            serial_distances(train_, queries.rows.row(q), row);
            const std::uint32_t itself =
                queries.leaves_out() ? queries.images[static_cast<std::size_t>(q)] : no_neighbor.index;
            if (itself < row.size()) row[itself] = excluded_distance;
        }};
        Serial serial{{train_.count, n, train_.dim, wanted.k}, rows, table.front(), token};
        serial.run(n);
        token.step(n, n);
        std::copy(serial.neighbors.rows.begin(), serial.neighbors.rows.end(), result.neighbors.begin());
        const double pairs = static_cast<double>(n) * static_cast<double>(train_.count);
        const double pixels = pairs * static_cast<double>(train_.dim);
        timeline.add({"distance", n, serial.fill_ms, pixels, 3 * pixels});
        timeline.add({"select", n, serial.select_ms, 4 * pairs});
        if (wanted.on_batch && n > 0) wanted.on_batch({0, result.neighbors});
        return 1;
    }

  private:
    Rows train_;
};

}  // namespace

UnsupportedReason configure_serial(const Problem& problem, Plan& plan) {
    if (plan.select.empty()) plan.select = table.front().name;
    if (UnsupportedReason refusal = refuse_all_but_l2(plan.select.c_str(), problem)) return refusal;
    plan.distance = serial_distance;
    plan.batch = plan.threads = 1;
    return refuse_problem(problem);
}

std::unique_ptr<DeviceIndex> open_serial(const Rows& train) {
    return std::make_unique<SerialIndex>(train);
}

SerialRows serial_rows(const Rows& train, const Rows& query) {
    return {
        [=](std::int64_t q, std::span<std::uint32_t> row) { serial_distances(train, query.row(q), row); }};
}

SerialRows half_of_rows(const Rows& points) {
    const auto fill = [=](std::int64_t q, std::span<std::uint32_t> row) {
        row[static_cast<std::size_t>(q)] = excluded_distance;
        serial_distances(points, points.row(q), row, q + 1);
    };
    return {fill, true};
}

SerialTrial time_serial(const Problem& problem, const SerialRows& rows, const SerialSelector& selector,
                        TrialOptions options, const ProgressToken& token) {
    SerialTrial trial;
    Plan plan;
    plan.select = selector.name;
    trial.distance.refusal = trial.select.refusal = configure_serial(problem, plan);
    if (trial.select.refusal) return trial;
    options.first = 1;
    options.all_queries = false;
    Serial serial{problem, rows, selector, token};
    std::vector<double> fill_ms, select_ms;
    trial.select = trial.distance = timed_trial(options, problem.n_query, [&](std::int64_t n) {
        serial.run(n);
        fill_ms.push_back(serial.fill_ms);
        select_ms.push_back(serial.select_ms);
        return serial.fill_ms + serial.select_ms;
    });
    const std::int64_t n = trial.select.n_query, runs = std::ssize(trial.select.ms);
    trial.distance.ms.assign(fill_ms.end() - runs, fill_ms.end());
    trial.select.ms.assign(select_ms.end() - runs, select_ms.end());
    if (rows.half) {
        trial.distance.n_query = 2 * n - n * n / problem.n_train;
        trial.distance.operations /= 2;
    }
    trial.select.found = std::move(serial.neighbors);
    trial.select.found.n_query = n;
    trial.select.found.rows.resize(static_cast<std::size_t>(n * problem.k));
    return trial;
}

double copy_gb_per_s(const ProgressToken& token) {
    constexpr std::size_t size = std::size_t{128} << 20, step = std::size_t{4} << 20;
    constexpr int runs = 5;
    std::vector<char> from, to;
    from.reserve(size);
    to.reserve(size);
    while (to.size() < size) {  // a busy system takes seconds for all of these pages
        token.throw_if_stopped();
        from.resize(from.size() + step, 1);
        to.resize(from.size());
    }
    double best = 0;
    for (int run = 0; run < runs; ++run) {
        token.throw_if_stopped();
        const auto begin = Clock::now();
        std::memcpy(to.data(), from.data(), size);
        best = std::max(best, 2.0 * static_cast<double>(size) / ms_between(begin, Clock::now()) * 1e-6);
        from[static_cast<std::size_t>(run)] = to[size - 1];  // what was copied is used
    }
    return best;
}

}  // namespace knn::cpu
