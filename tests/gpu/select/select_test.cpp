#include "gpu/select/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "cpu/serial/serial.h"
#include "gpu/runtime/buffers.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

/// The k smallest (value, column) of every row, by std::partial_sort.
std::vector<Neighbor> smallest(const std::vector<std::uint32_t>& matrix, std::int64_t n_query,
                               std::int64_t n_train, int k) {
    std::vector<Neighbor> all;
    for (std::int64_t q = 0; q < n_query; ++q) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> row;
        for (std::int64_t t = 0; t < n_train; ++t)
            row.emplace_back(matrix[q * n_train + t], static_cast<std::uint32_t>(t));
        std::partial_sort(row.begin(), row.begin() + k, row.end());
        for (int i = 0; i < k; ++i)
            all.push_back({row[i].first, row[i].second});
    }
    return all;
}

/// A selector may rely on the bound of scores by metric and dim, so the problem is one that allows these
/// scores.
Problem problem_of(const std::vector<std::uint32_t>& matrix, std::int64_t n_query, std::int64_t n_train,
                   int k) {
    const bool mnist = *std::max_element(matrix.begin(), matrix.end()) <= 784 * 255 * 255;
    return {n_train, n_query, mnist ? 784 : max_dim, k, Metric::l2};
}

/// One thread takes seconds: it moves k neighbors per distance of a descending row, or passes over the row many times.
bool takes_long(const std::string& name, const Problem& problem) {
    const std::int64_t n = problem.n_train, all = problem.k * n;
    if (name == "comb_sort") return n > 5'000;
    if (name == "k_pass_thread" || name == "heap") return all > 1 << 18;
    if (name == "insertion") return all > 1 << 25;
    return (name == "insertion_columns" || name == "replace_max_thread") && all > 1 << 22;
}

void check_selector(const gpu::Selector& selector, const Problem& problem, const gpu::DistanceRows& in,
                    const std::vector<Neighbor>& expected) {
    const std::string name = selector.name;  // doctest would print a pointer's address
    CAPTURE(name);
    CAPTURE(problem);
    if (selector.supports(problem) || takes_long(name, problem)) return;
    gpu::DeviceBuffer<Neighbor> out(static_cast<std::size_t>(problem.n_query * problem.k));
    gpu::DeviceBuffer<char> workspace(selector.workspace_bytes(problem));
    gpu::fill(out, 0xa5, "poisoning");
    // At most the beginning of a large one, where kernels place their arrays.
    const std::size_t poisoned = std::min(workspace.size(), std::size_t{1} << 26);
    if (poisoned > 0) gpu::check(cudaMemsetAsync(workspace.d_data(), 0, poisoned, nullptr), "poisoning");
    selector.enqueue(problem, in, {out.d_data(), problem.n_query, problem.k}, workspace.d_data(), nullptr);
    CHECK(test::to_host(out) == expected);
}

/// What a selector of `bench` leaves of the expected neighbors, in poisoned memory.
std::vector<Neighbor> left_by(Finds finds, std::vector<Neighbor> expected, int k) {
    constexpr std::uint32_t poisoned_word = 0xa5a5a5a5;
    if (finds == Finds::nearest) return expected;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (static_cast<int>(i % k) != k - 1)
            expected[i] = {poisoned_word, poisoned_word};
        else
            expected[i].index = no_neighbor.index;
    return expected;
}

/// Every selector on this matrix, those of `bench` too, but for the sorts that are wrong.
void check_selectors(const Problem& problem, const std::vector<std::uint32_t>& matrix) {
    // Gaps of zeros would win if they were read.
    const auto in = test::to_device(matrix, problem.n_query, problem.n_train, 0);
    const std::vector<Neighbor> expected = smallest(matrix, problem.n_query, problem.n_train, problem.k);
    for (const gpu::Selector* selector : gpu::selector_table())
        check_selector(*selector, problem, in.rows(), expected);
    for (const gpu::Selector* selector : gpu::bench_selector_table())
        if (selector->finds != Finds::wrong)
            check_selector(*selector, problem, in.rows(), left_by(selector->finds, expected, problem.k));
}

void check_selectors(std::int64_t n_query, std::int64_t n_train, int k,
                     const std::vector<std::uint32_t>& matrix) {
    check_selectors(problem_of(matrix, n_query, n_train, k), matrix);
}

/// The value of a column in rows of n, and a random number for it.
using Values = std::uint32_t (*)(std::uint32_t column, std::int64_t n, std::uint32_t random);

std::uint32_t random_value(std::uint32_t, std::int64_t, std::uint32_t random) {
    return random % 50'979'600;
}
std::uint32_t equal(std::uint32_t, std::int64_t, std::uint32_t) {
    return 12'345;
}
std::uint32_t few_values(std::uint32_t, std::int64_t, std::uint32_t random) {
    return random % 3;
}
std::uint32_t descending(std::uint32_t column, std::int64_t, std::uint32_t) {
    return 4'000'000'000u - column;
}
/// Small ones in the lines that radix_select samples, or in all others.
template <bool in_sample>
std::uint32_t few_near(std::uint32_t column, std::int64_t n, std::uint32_t random) {
    const bool sampled = column % std::max<std::int64_t>(n / 64, 1) < 32;
    return random % 1000 + (sampled == in_sample ? 0 : 1'000'000);
}

const Values all_orders[] = {
    random_value, few_values, equal, [](std::uint32_t column, std::int64_t, std::uint32_t) { return column; },
    descending,
    [](std::uint32_t, std::int64_t, std::uint32_t random) { return random % 2 == 0 ? 0xffffffffu : 0u; },
    // Near the limit of l2 and dim 66,051.
    [](std::uint32_t, std::int64_t, std::uint32_t random) { return 0xffffffffu - random % 1000; },
    few_near<true>, few_near<false>,
    // All but a few in the last of `bucket_select`'s buckets, which ends above 2³².
    [](std::uint32_t column, std::int64_t, std::uint32_t random) {
        return column % 5000 == 7 ? 0x40000001u : 0xffe00001u + random % 0x1ffffeu;
    }};

std::vector<std::uint32_t> values(Values order, std::int64_t n_query, std::int64_t n_train) {
    std::mt19937 random(static_cast<unsigned>(n_train));
    std::vector<std::uint32_t> matrix(n_query * n_train);
    for (std::int64_t i = 0; i < n_query * n_train; ++i)
        matrix[i] =
            order(static_cast<std::uint32_t>(i % n_train), n_train, static_cast<std::uint32_t>(random()));
    return matrix;
}

}  // namespace

GPU_TEST_CASE("gpu: every selector finds the k smallest in order, for rows of every kind") {
    for (const std::int64_t n_train :
         {1,    2,    31,   32,     33,     1000,   1023,   1024,   1025,   2048,   2049,
          4095, 8192, 8193, 16'384, 16'385, 32'769, 60'000, 65'536, 65'537, 131'073})
        for (const Values order : all_orders) {
            const std::vector<std::uint32_t> matrix = values(order, 3, n_train);
            for (const int k : {1, 5, 32, 33, 1024, 16'384})
                if (k <= n_train) check_selectors(3, n_train, k, matrix);
            if (n_train <= 1024) check_selectors(3, n_train, static_cast<int>(n_train), matrix);
        }
}

GPU_TEST_CASE("gpu: every selector reads rows that begin anywhere") {
    for (const std::int64_t n_train : {7, 5'001, 60'003}) {
        const std::vector<std::uint32_t> matrix = values(random_value, 5, n_train);
        const auto in = gpu::copied_to_device(std::span(matrix), "uploading");
        const Problem problem = problem_of(matrix, 5, n_train, 6);
        const gpu::DistanceRows rows{in.d_data(), 5, n_train, 4 * static_cast<std::size_t>(n_train)};
        const std::vector<Neighbor> expected = smallest(matrix, 5, n_train, 6);
        for (const gpu::Selector* selector : gpu::selector_table())
            check_selector(*selector, problem, rows, expected);
        for (const gpu::Selector* selector : gpu::bench_selector_table())
            if (selector->finds != Finds::wrong)
                check_selector(*selector, problem, rows, left_by(selector->finds, expected, 6));
    }
}

GPU_TEST_CASE("gpu: rows of a million and more") {
    for (const std::int64_t n_train : {1 << 20, (1 << 20) + 1, 3'000'000})
        for (const Values order : {random_value, descending})
            for (const int k : {7, 100})
                check_selectors(2, n_train, k, values(order, 2, n_train));
}

GPU_TEST_CASE("gpu: more rows than run at once") {
    for (const std::int64_t n_train : {100, 9'000, 70'000})
        check_selectors(700, n_train, 7, values(random_value, 700, n_train));
}

// The scores of cosine, pearson and lp are the bits of nonnegative floats; `bitonic` compares its
// keys as doubles. 0 to 0x47ffffff has every exponent that lp reaches, 66,051 being 0x47810180 as a float,
// and subnormals.
GPU_TEST_CASE("gpu: scores that are bits of floats are sorted as what they are") {
    std::mt19937 random(5);
    for (const std::int64_t n_train : {40, 1'500, 20'000, 70'000, 140'000}) {
        std::vector<std::uint32_t> angles(3 * n_train), powers(3 * n_train), tiny(3 * n_train);
        for (std::int64_t i = 0; i < 3 * n_train; ++i) {
            angles[i] = static_cast<std::uint32_t>(random() % 0x40000001u);  // 0 to 2
            powers[i] = static_cast<std::uint32_t>(random() % 0x48000000u);
            tiny[i] = random() % 0x01000000u;
        }
        for (const int k : {1, 40}) {
            check_selectors({n_train, 3, 784, k, Metric::cosine}, angles);
            check_selectors({n_train, 3, 784, k, Metric::pearson}, angles);
            check_selectors({n_train, 3, 66'051, k, Metric::lp, 0.5}, powers);
            check_selectors({n_train, 3, 66'051, k, Metric::lp, 15}, tiny);
        }
    }
}

GPU_TEST_CASE("gpu: scores of l1 are sorted in as many bits as they can have") {
    std::mt19937 random(6);
    for (const std::int64_t dim : {1, 784, 66'051}) {
        std::vector<std::uint32_t> matrix(3 * 5'000);
        for (std::uint32_t& value : matrix)
            value = static_cast<std::uint32_t>(random() % 100 == 0 ? dim * 255 : random() % (dim * 255 + 1));
        check_selectors({5'000, 3, dim, 100, Metric::l1}, matrix);
    }
}

// `multiselect` uses a warp per row for many short rows, else a block.
GPU_TEST_CASE("gpu: small rows, many of them") {
    const std::int64_t n_query = gpu::device_attribute(cudaDevAttrMultiProcessorCount) + 1;
    for (const Values order : {random_value, equal})
        check_selectors(n_query, 600, 5, values(order, n_query, 600));
}

// Long enough for a block of `multiselect` to partition them.
GPU_TEST_CASE("gpu: small matrix of longer rows") {
    for (const int k : {5, 300})
        check_selectors(2, 5'000, k, values(random_value, 2, 5'000));
}

GPU_TEST_CASE("gpu: sorts that are wrong return what their steps return on the CPU") {
    std::vector<std::uint64_t> scratch;
    int sorts = 0;
    for (const std::int64_t n_train : {1, 2, 3, 23, 256, 300, 2'047, 2'049, 5'000, 8'192, 60'000})
        for (const Values order : {random_value, few_values}) {
            const std::vector<std::uint32_t> matrix = values(order, 5, n_train);
            const int k = static_cast<int>(std::min<std::int64_t>(n_train, 20));
            const auto in = test::to_device(matrix, 5, n_train, 0);
            for (const gpu::Selector* selector : gpu::bench_selector_table()) {
                if (selector->finds != Finds::wrong) continue;
                const cpu::SerialSelector* steps = cpu::find_wrong_sort(selector->name);
                REQUIRE(steps != nullptr);
                std::vector<Neighbor> expected(static_cast<std::size_t>(5 * k));
                for (std::int64_t q = 0; q < 5; ++q)
                    steps->select({matrix.data() + q * n_train, static_cast<std::size_t>(n_train)},
                                  {expected.data() + q * k, static_cast<std::size_t>(k)}, scratch);
                check_selector(*selector, problem_of(matrix, 5, n_train, k), in.rows(), expected);
                ++sorts;
            }
        }
    CHECK(sorts == 11 * 2 * 2);
}

// 1 GiB has 13,421 columns of 20,000 distances, of which 13,408 are transposed at once.
GPU_TEST_CASE("gpu: more columns than are transposed at once") {
    const std::int64_t n_query = 13'409, n_train = 20'000;
    const std::vector<std::uint32_t> row = values(few_values, 1, n_train);
    const gpu::PitchedBuffer<std::uint32_t> in(n_query, n_train);
    const std::vector<Neighbor> one = smallest(row, 1, n_train, 3);
    std::vector<Neighbor> expected;
    for (std::int64_t q = 0; q < n_query; ++q) {
        gpu::check(cudaMemcpyAsync(in.rows().row(q), row.data(), 4 * row.size(), cudaMemcpyHostToDevice,
                                   cudaStreamLegacy),
                   "copying");
        expected.insert(expected.end(), one.begin(), one.end());
    }
    const auto by_columns = std::ranges::find(gpu::bench_selector_table(), std::string("insertion_columns"),
                                              &gpu::Selector::name);
    check_selector(**by_columns, problem_of(row, n_query, n_train, 3), in.rows(), expected);
}

// A random pivot leaves nothing below it where it is the smallest key: once in about 300 rows, or 2,112, of them.
GPU_TEST_CASE("gpu: random pivots, so many that some are the smallest key") {
    for (const std::int64_t n_train : {300, 2'112}) {  // a warp per row, a block per row
        const std::vector<std::uint32_t> matrix = values(random_value, 8'192, n_train);
        const auto in = test::to_device(matrix, 8'192, n_train, 0);
        for (const gpu::Selector* selector : gpu::selector_table())
            if (std::string(selector->name).starts_with("multiselect"))
                check_selector(*selector, problem_of(matrix, 8'192, n_train, 5), in.rows(),
                               smallest(matrix, 8'192, n_train, 5));
    }
}

GPU_TEST_CASE("gpu: many rows of every kind") {
    const std::int64_t n_query = 2 * gpu::device_attribute(cudaDevAttrMultiProcessorCount) + 3;
    for (const std::int64_t n_train : {255, 256, 257, 2'048, 2'049})
        for (const Values order : all_orders)
            for (const int k : {1, 100, 1024})
                if (k <= n_train) check_selectors(n_query, n_train, k, values(order, n_query, n_train));
}

}  // namespace knn
