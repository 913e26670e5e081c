/// Host checks before a launch, for the limits that kernels assert. Needs no GPU.

#include <doctest/doctest.h>

#include "data/core/errors.h"
#include "gpu/distance/distance.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/fused.h"
#include "gpu/runtime/check.h"
#include "gpu/select/select.h"

namespace knn {

namespace {

using gpu::DistanceRows, gpu::FloatRows, gpu::NeighborRows;

constexpr Problem small{.n_train = 100, .n_query = 7, .dim = 10, .k = 5};

/// Addresses that are never read.
template <class T>
T* somewhere(std::size_t address = 4096) {
    return reinterpret_cast<T*>(address);
}

struct Arrays {
    FloatRows train{somewhere<float>(), small.n_train, small.dim, 64};
    FloatRows query{somewhere<float>(), small.n_query, small.dim, 64};
    gpu::ByteRows train_bytes{somewhere<std::uint8_t>(), small.n_train, small.dim, 12};
    gpu::ByteRows query_bytes{somewhere<std::uint8_t>(), small.n_query, small.dim, 12};
    DistanceRows matrix{somewhere<std::uint32_t>(), small.n_query, small.n_train, 512};
    NeighborRows out{somewhere<Neighbor>(), small.n_query, small.k};
};

const char* const wrong = "invalid launch; expected ";

}  // namespace

TEST_CASE("distance kernels refuse arrays that do not fit the problem") {
    for (const gpu::DistanceKernel* kernel : gpu::distance_table()) {
        CAPTURE(kernel->name);
        if (kernel->supports(small)) continue;  // gemm where there is no cuBLAS
        const bool floats = kernel->takes == gpu::Pixels::floats;
        const bool prepares = kernel->prepared_bytes(small) > 0;
        const auto refuses = [&](auto&& spoil, const char* why) {
            Arrays arrays;
            spoil(arrays);
            gpu::DistanceInput in;
            in.query = floats ? gpu::Images{arrays.query, {}} : gpu::Images{{}, arrays.query_bytes};
            if (prepares)
                in.d_prepared = somewhere<char>();
            else
                in.train = floats ? gpu::Images{arrays.train, {}} : gpu::Images{{}, arrays.train_bytes};
            CHECK_THROWS_WITH_AS(kernel->enqueue(small, in, arrays.matrix, nullptr, nullptr),
                                 doctest::Contains(why), DeviceError);
        };
        const std::string shape = std::string(wrong) + "arrays of the problem's shape";
        refuses([](Arrays& a) { a.query.cols = a.query_bytes.cols = 9; }, shape.c_str());
        refuses([](Arrays& a) { a.matrix.n = 6; }, shape.c_str());
        refuses([](Arrays& a) { a.matrix.pitch_bytes = 384; }, shape.c_str());
        if (!prepares) {
            refuses([](Arrays& a) { a.train.n = 99; }, shape.c_str());
            refuses([](Arrays& a) { a.train.pitch_bytes = 32; }, shape.c_str());  // 12 floats do not fit
            refuses([](Arrays& a) { a.train.pitch_bytes = 72; }, "rows of floats at multiples of 16 bytes");
        }
        refuses(
            [](Arrays& a) {
                a.query.d_data = somewhere<float>(4104);
                a.query_bytes.d_data = somewhere<std::uint8_t>(4098);
            },
            floats ? "rows of floats at multiples of 16 bytes" : "rows of bytes at multiples of 4");
    }
}

TEST_CASE("selectors refuse arrays that do not fit the problem") {
    for (const gpu::Selector* selector : gpu::selector_table()) {
        CAPTURE(selector->name);
        const auto refuses = [&](auto&& spoil, const char* why) {
            Arrays arrays;
            spoil(arrays);
            CHECK_THROWS_WITH_AS(selector->enqueue(small, arrays.matrix, arrays.out, nullptr, nullptr),
                                 doctest::Contains(why), DeviceError);
        };
        const std::string shape = std::string(wrong) + "arrays of the problem's shape";
        refuses([](Arrays& a) { a.matrix.n = 8; }, shape.c_str());
        refuses([](Arrays& a) { a.matrix.cols = 99; }, shape.c_str());
        refuses([](Arrays& a) { a.out.n_query = 6; }, shape.c_str());
        refuses([](Arrays& a) { a.out.k = 6; }, shape.c_str());
        refuses([](Arrays& a) { a.matrix.pitch_bytes = 396; }, "rows of scores that do not overlap");
    }
}

// 46 columns of 5,800,000 distances fit in 1 GiB, where there is memory for a multiple of 32.
TEST_CASE("a workspace for many rows is enough for fewer") {
    for (const gpu::Selector* selector : gpu::bench_selector_table()) {
        CAPTURE(std::string(selector->name));
        for (const std::int64_t n_train : {100, 5'800'000}) {
            std::size_t before = 0;
            for (const std::int64_t n_query : {1, 31, 33, 40, 45, 46, 100}) {
                const std::size_t bytes = selector->workspace_bytes({n_train, n_query, 10, 5});
                CHECK(bytes >= before);
                before = bytes;
            }
        }
    }
}

TEST_CASE("selectors refuse rows that are too long, and work that would take minutes") {
    int limited = 0;
    const auto refused = [&](const gpu::Selector& selector, std::int64_t n_train, int k, const char* why) {
        const std::string message = selector.supports({n_train, 1, 10, k}).value_or("");
        CHECK(message.starts_with(selector.name));
        CHECK(message.find(why) != std::string::npos);
        ++limited;
    };
    for (const gpu::Selector* selector : gpu::bench_selector_table()) {
        CAPTURE(std::string(selector->name));
        const std::int64_t longest = selector->max_train, most = selector->max_k_train;
        if (longest < gpu::unlimited) refused(*selector, longest + 1, 1, " takes rows of at most ");
        if (longest < gpu::unlimited) CHECK(!selector->supports({longest, 1, 10, 1}));
        if (longest == gpu::unlimited && most < gpu::unlimited)
            refused(*selector, most / 1024 + 1, 1024, " would take minutes: expected k times ");
    }
    CHECK(limited > 8);
}

TEST_CASE("the vote refuses k out of range, and lp by distance") {
    const auto vote = [](int k, Weights weights, Metric metric) {
        gpu::enqueue_vote({somewhere<Neighbor>(), 3, k}, somewhere<std::uint8_t>(), weights, Tie::smallest,
                          somewhere<Vote>(), nullptr, metric);
    };
    for (const int k : {0, 16'385})
        CHECK_THROWS_WITH_AS(vote(k, Weights::uniform, Metric::l2), doctest::Contains("1 to 16384 neighbors"),
                             DeviceError);
    CHECK_THROWS_WITH_AS(vote(5, Weights::distance, Metric::lp), doctest::Contains("uniform weights"),
                         DeviceError);
}

TEST_CASE("expanding refuses rows that it would read or write across") {
    const gpu::ByteRows bytes{somewhere<std::uint8_t>(), 3, 10, 32};
    for (const FloatRows& floats :
         {FloatRows{somewhere<float>(), 3, 10, 40}, FloatRows{somewhere<float>(), 3, 10, 32},
          FloatRows{somewhere<float>(4100), 3, 10, 64}, FloatRows{somewhere<float>(), 4, 10, 64}})
        CHECK_THROWS_WITH_AS(gpu::enqueue_expand(bytes, floats, nullptr), doctest::Contains(wrong),
                             DeviceError);
}

TEST_CASE("the brute-force fallback and the tensor kernels refuse what their tiles do not hold") {
    const auto rows = [](std::int64_t n, std::size_t pitch = 32) {
        return gpu::ByteRows{somewhere<std::uint8_t>(), n, 20, pitch};
    };
    const auto fallback = [&](const gpu::ByteRows& train, const gpu::ByteRows& query, int k) {
        gpu::enqueue_brute_force(train, nullptr, query, nullptr, {{}, {somewhere<Neighbor>(), 5, k}}, {}, {},
                                 nullptr);
    };
    CHECK_THROWS_WITH_AS(fallback(rows(256), rows(5), 257), doctest::Contains("k from 1"), DeviceError);
    CHECK_THROWS_WITH_AS(fallback(rows(2048), rows(5), 1025), doctest::Contains("k from 1"), DeviceError);
    CHECK_THROWS_WITH_AS(fallback(rows(200), rows(5), 1), doctest::Contains("whole tiles"), DeviceError);
    CHECK_THROWS_WITH_AS(fallback(rows(256), rows(4), 1), doctest::Contains("whole tiles"), DeviceError);
    CHECK_THROWS_WITH_AS(fallback(rows(256, 40), rows(5), 1), doctest::Contains("16 bytes"), DeviceError);

    for (const gpu::TensorKernel* kernel : gpu::tensor_table()) {
        CAPTURE(std::string(kernel->name));
        const int max_tensor_dim = kernel->name == std::string("tensor_mma") ? 4096 : 1024;
        const auto search = [&](const gpu::ByteRows& train, int dim, int capacity, int tiles) {
            gpu::TensorPass pass;
            pass.dim = dim;
            pass.lists.capacity = capacity;
            pass.schedule.train_tiles = tiles;
            kernel->search(train, rows(128), pass, nullptr);
        };
        for (const int dim : {0, max_tensor_dim + 1})
            CHECK_THROWS_WITH_AS(search(rows(256), dim, 8, 1), doctest::Contains("pixels"), DeviceError);
        CHECK_THROWS_WITH_AS(search(rows(256, 48), 20, 8, 1), doctest::Contains("32 bytes"), DeviceError);
        CHECK_THROWS_WITH_AS(search(rows(256), 20, 8, 2), doctest::Contains("whole tiles"), DeviceError);
        CHECK_THROWS_WITH_AS(search(rows(256), 20, 0, 1), doctest::Contains("one group"), DeviceError);
    }
}

TEST_CASE("a fold refuses ranks, k and queries that it has no room for") {
    const auto fold = [](int k, std::int64_t n_query, const gpu::FoldStep& step) {
        gpu::TensorPass pass;
        pass.schedule.query_tiles = 1;
        gpu::enqueue_fold(pass, step, {{}, {somewhere<Neighbor>(), n_query, k}}, nullptr);
    };
    for (const int k : {0, 1025})
        CHECK_THROWS_WITH_AS(fold(k, 1, {}), doctest::Contains("k from 1"), DeviceError);
    for (const int rank : {0, 6})
        CHECK_THROWS_WITH_AS(fold(5, 1, {.is_last = false, .rank = rank}), doctest::Contains("a rank"),
                             DeviceError);
    CHECK_THROWS_WITH_AS(fold(5, 129, {}), doctest::Contains("each query"), DeviceError);
}

TEST_CASE("a grid has 1 to 2^31 - 1 blocks") {
    CHECK(gpu::grid_size(1) == 1);
    CHECK(gpu::grid_size(2'147'483'647) == 2'147'483'647);
    for (const std::int64_t blocks :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1})
        CHECK_THROWS_AS(gpu::grid_size(blocks), DeviceError);
}

}  // namespace knn
