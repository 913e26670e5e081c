#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gpu/fused/search.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/points.h"

namespace knn {

namespace {

using gpu::TensorKernel;

/// Calls `run` with each kernel that this card can run; those that it cannot are named in a message.
template <class Run>
void for_kernels(const Problem& problem, Run&& run) {
    int ran = 0;
    for (const TensorKernel* kernel : gpu::tensor_table()) {
        if (const UnsupportedReason why = kernel->supports(problem, test::capability())) {
            MESSAGE(*why);
            continue;
        }
        INFO(std::string(kernel->name), ": ", problem);
        run(*kernel);
        ++ran;
    }
    CHECK(ran == test::tensor_kernels_of(test::capability(), problem.dim));
}

struct How {
    int capacity = 0;      ///< above 0: of the lists, shorter than they would be
    bool improve = false;  ///< begins with known neighbors
    bool itself = false;   ///< the queries are the training images, and not neighbors of themselves
    bool sketch = false;   ///< by sketches, where the kernel has them
};

const How some_ways[] = {{}, {.capacity = 1}, {.sketch = true}, {.capacity = 1, .sketch = true}};

std::ostream& operator<<(std::ostream& out, const How& how) {
    return out << "capacity " << how.capacity << (how.sketch ? ", by sketches" : "");
}

/// One fused search over copies of the rows.
class Fused {
  public:
    Fused(const TensorKernel& kernel, const test::Rows& train, const test::Rows& query, int k, How how = {})
        : query_count_(query.n),
          k_(k),
          query_bytes_(gpu::copied_to_device(std::span(query.pixels), "uploading")) {
        std::vector<std::uint32_t> images(how.itself ? static_cast<std::size_t>(query.n) : 0);
        std::iota(images.begin(), images.end(), 0U);
        left_out_ = gpu::copied_to_device(std::span(images), "uploading");
        const auto train_bytes = gpu::copied_to_device(std::span(train.pixels), "uploading");
        Sketch sketch;
        if (how.sketch) sketch = fit_sketch(test::view(train), gpu::sketch_columns);
        search_ = std::make_unique<gpu::FusedSearch>(kernel, view(train_bytes, train), stream_,
                                                     how.sketch ? &sketch : nullptr);
        if (how.capacity > 0) search_->limit_capacity(how.capacity);
        batch_ = search_->reserve({query.n, k, how.itself, how.improve});
        query_ = view(query_bytes_, query);
        out_ = gpu::DeviceBuffer<Neighbor>(static_cast<std::size_t>(query.n * k));
    }
    std::vector<Neighbor> run() { return run(gpu::KnownRows{}); }
    std::vector<Neighbor> improve(const std::vector<Neighbor>& known, std::int64_t first) {
        const auto rows = gpu::copied_to_device(std::span(known), "uploading");
        return run({rows.d_data(), static_cast<std::uint32_t>(first)});
    }
    std::int64_t undecided() const { return search_->undecided(); }
    bool uses_sketches() const { return search_->uses_sketches(batch_); }
    /// With all queries as the sample, which are training images; then ready to search again.
    bool try_sketches() {
        const bool are_kept = search_->try_sketches(query_, left_out_.d_data(), k_, false, stream_);
        batch_ = search_->reserve({query_count_, k_, left_out_.size() > 0, false});
        return are_kept;
    }
    /// How many of n queries are searched at once.
    std::int64_t batch_of(std::int64_t n) { return search_->reserve({n, k_}); }

  private:
    std::vector<Neighbor> run(const gpu::KnownRows& known) {
        gpu::fill(out_, 0xee, "poisoning");
        for (std::int64_t begin = 0; begin < query_count_; begin += batch_) {
            const std::int64_t n = std::min(batch_, query_count_ - begin);
            const gpu::LeftOut left_out{left_out_.size() > 0 ? left_out_.d_data() + begin : nullptr};
            const gpu::ByteRows query{query_.row(begin), n, query_.cols, query_.pitch_bytes};
            search_->enqueue({query, {out_.d_data() + begin * k_, n, k_}, left_out, known}, stream_);
        }
        stream_.synchronize();
        return test::to_host(out_);
    }
    static gpu::ByteRows view(const gpu::DeviceBuffer<std::uint8_t>& bytes, const test::Rows& rows) {
        return {bytes.d_data(), rows.n, rows.dim, static_cast<std::size_t>(rows.dim)};
    }
    gpu::Stream stream_;
    std::int64_t query_count_, batch_ = 0;
    int k_;
    gpu::DeviceBuffer<std::uint32_t> left_out_;
    gpu::DeviceBuffer<std::uint8_t> query_bytes_;
    gpu::ByteRows query_;
    gpu::DeviceBuffer<Neighbor> out_;
    std::unique_ptr<gpu::FusedSearch> search_;
};

test::Rows ramp(std::int64_t n, std::int64_t dim, bool rising) {
    test::Rows rows{std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim)), n, dim};
    for (std::int64_t i = 0; i < n; ++i)
        std::fill_n(rows.pixels.begin() + i * dim, dim,
                    static_cast<std::uint8_t>((rising ? i : n - 1 - i) * 255 / n));
    return rows;
}

struct Data {
    const char* name;
    test::Rows train, query;
    int k;
    std::int64_t step = 1;   ///< of the queries that are compared with the oracle
    std::int64_t known = 0;  ///< of the training images
    bool itself = false;     ///< the queries are the training images, and not neighbors of themselves
};

}  // namespace

TENSOR_TEST_CASE(
    "gpu: fused search on random sizes, on data that defeats its thresholds, and of a set's own images") {
    std::vector<Data> all = {
        {"random", test::random_rows(5'000, 784, 1), test::random_rows(300, 784, 2), 5, 7},
        {"two tiles and one more image", test::random_rows(513, 40, 1), test::random_rows(129, 40, 2), 31, 5},
        {"many neighbors", test::random_rows(30'000, 64, 1), test::random_rows(200, 64, 2), 1024, 20},
        {"all of them", test::random_rows(1'000, 33, 1), test::random_rows(5, 33, 2), 1000},
        {"heavy ties", test::random_rows(20'000, 8, 1, 2), test::random_rows(200, 8, 2, 2), 10, 5},
        {"all equal", test::random_rows(7'000, 100, 1, 1), test::random_rows(150, 100, 2, 1), 10, 10},
        {"each nearer than the one before", ramp(20'000, 64, false), ramp(3, 64, true), 20},
        {"each farther", ramp(20'000, 64, true), ramp(3, 64, false), 20},
        {"largest sums", test::random_rows(3'000, 1'024, 1, 2), test::random_rows(150, 1'024, 2, 2), 10, 10},
        {"one of each", test::random_rows(1, 784, 1), test::random_rows(1, 784, 2), 1},
        {"nine stages", test::random_rows(2'000, 1'100, 1), test::random_rows(140, 1'100, 2), 7, 9},
    };
    const auto add_itself = [&](const char* name, const test::Rows& rows, int k, std::int64_t step) {
        all.push_back({name, rows, rows, k, step, 0, true});
    };
    add_itself("itself", test::random_rows(5'000, 784, 1), 5, 97);
    add_itself("itself, two tiles and one more image", test::random_rows(513, 40, 1), 9, 11);
    add_itself("itself, heavy ties", test::random_rows(20'000, 8, 1, 2), 10, 777);
    add_itself("itself, all equal", test::random_rows(7'000, 100, 1, 1), 40, 333);
    add_itself("itself, each nearer than the one before", ramp(20'000, 64, false), 10, 999);
    std::mt19937 random(7);
    const auto upto = [&](int most) { return std::uniform_int_distribution(1, most)(random); };
    for (int round = 0; round < 40; ++round) {
        const int n_train = upto(round % 2 == 0 ? 9'000 : 700), n_query = upto(300), dim = upto(1'024);
        const int k = std::min(upto(round % 3 == 0 ? 1'024 : 40), n_train), values = 1 << upto(8);
        const auto seed = static_cast<unsigned>(round);
        all.push_back({"random size", test::random_rows(n_train, dim, seed, values),
                       test::random_rows(n_query, dim, seed + 1'000, values), k, 37});
    }
    for (const Data& data : all)
        for_kernels({data.train.n, data.query.n, data.train.dim, data.k}, [&](const TensorKernel& kernel) {
            for (How how : {How{}, How{.capacity = 1}, How{.capacity = 3}, How{.sketch = true},
                            How{.capacity = 3, .sketch = true}}) {
                if (how.capacity > 0 && !data.itself) continue;
                how.itself = data.itself;
                INFO(std::string(data.name), ", ", how);
                Fused fused(kernel, data.train, data.query, data.k, how);
                const auto first = fused.run();
                const Exclude exclude{.first = data.itself ? 0 : -1};
                CHECK(test::wrong_queries(first, data.train, data.query, data.k, exclude, {}, data.step) ==
                      0);
                CHECK(fused.run() == first);  // what the first left behind
            }
        });
}

TENSOR_TEST_CASE("gpu: sketches are those of data/, byte for byte") {
    const test::Rows worst[] = {test::random_rows(700, 784, 1), test::random_rows(300, 1, 2),
                                test::random_rows(70, 1'024, 3, 2), test::random_rows(65, 33, 4, 1),
                                ramp(129, 100, true)};
    for (const test::Rows& rows : worst) {
        INFO(rows.n, " rows of ", rows.dim);
        const test::Rows others = test::random_rows(rows.n, rows.dim, 9);  // clamped, in part
        const Sketch sketch = fit_sketch(test::view(rows), gpu::sketch_columns);
        const gpu::Stream stream;
        const auto pitch = static_cast<std::size_t>(gpu::TensorRows::pitch_of(rows.dim));
        std::vector<std::uint8_t> padded(pitch * static_cast<std::size_t>(rows.n));
        for (std::int64_t i = 0; i < rows.n; ++i)
            std::copy_n(others.pixels.begin() + i * rows.dim, rows.dim,
                        padded.begin() + i * static_cast<std::int64_t>(pitch));
        const auto bytes = gpu::copied_to_device(std::span(padded), "uploading");
        const std::vector<std::uint32_t> arranged = gpu::arranged_weights(sketch, nullptr);
        const auto weights = gpu::copied_to_device(std::span(arranged), "uploading");
        std::vector<std::int32_t> padded_centers = sketch.centers;
        padded_centers.resize(gpu::sketch_columns);
        const auto centers = gpu::copied_to_device(std::span(padded_centers), "uploading");
        const auto n = static_cast<std::size_t>(rows.n);
        const gpu::DeviceBuffer<std::uint8_t> sketches(n * gpu::sketch_columns);
        const gpu::DeviceBuffer<gpu::SketchTerms> terms(n);
        for (const bool are_queries : {false, true}) {
            gpu::enqueue_sketches(
                {reinterpret_cast<const uint4*>(weights.d_data()), centers.d_data(), sketch.scale},
                {bytes.d_data(), rows.n, rows.dim, pitch}, are_queries, sketches.d_data(), terms.d_data(),
                stream);
            stream.synchronize();
            const auto made = test::to_host(sketches);
            const auto made_terms = test::to_host(terms);
            std::vector<std::uint8_t> right(gpu::sketch_columns);
            int wrong = 0;
            for (std::int64_t i = 0; i < rows.n; ++i) {
                const std::uint32_t error = sketch_row(sketch, test::view(others).row(i), right.data());
                int sum = 0, square = 0;
                for (const std::uint8_t byte : right) {
                    sum += byte - 128;
                    square += (byte - 128) * (byte - 128);
                }
                const std::uint8_t* row = made.data() + i * gpu::sketch_columns;
                for (int column = 0; column < gpu::sketch_columns - gpu::value_columns; ++column)
                    wrong += row[column] != (are_queries ? right[static_cast<std::size_t>(column)] ^ 0x80
                                                         : right[static_cast<std::size_t>(column)]);
                const gpu::SketchTerms& found = made_terms[static_cast<std::size_t>(i)];
                wrong += found.sum != sum || found.square != square || found.error != error;
            }
            CHECK(wrong == 0);
        }
    }
}

TENSOR_TEST_CASE("gpu: fused search by sketches on sets that defeat them") {
    const auto with = [](test::Rows rows, std::int64_t row, std::uint8_t value) {
        std::fill_n(rows.pixels.begin() + row * rows.dim, rows.dim, value);
        return rows;
    };
    test::Rows clusters = test::random_rows(9'000, 300, 1, 20), doubled = test::random_rows(6'000, 200, 3);
    for (std::size_t i = 0; i < clusters.pixels.size(); ++i)
        if (i / 300 % 2 == 1) clusters.pixels[i] = static_cast<std::uint8_t>(clusters.pixels[i] + 200);
    std::copy_n(doubled.pixels.begin(), 3'000 * 200, doubled.pixels.begin() + 3'000 * 200);
    test::Rows points = test::random_rows(5'000, 500, 5, 1);
    for (std::int64_t i = 0; i < points.n; ++i)
        points.pixels[static_cast<std::size_t>(i * points.dim + i * 37 % points.dim)] = 255;
    const auto few = [](const test::Rows& rows, std::int64_t n) {
        return test::Rows{{rows.pixels.begin(), rows.pixels.begin() + n * rows.dim}, n, rows.dim};
    };
    const test::Rows dark = test::random_rows(9'000, 300, 1, 4);
    const Data all[] = {
        {"one far image that the sketch is fitted to", with(dark, 0, 255), few(dark, 200), 5, 3},
        {"one far image that it is not fitted to", with(dark, 8'999, 255), few(dark, 200), 5, 3},
        {"far queries", dark, with(with(few(dark, 200), 0, 255), 13, 128), 5, 1},
        {"two clusters", clusters, few(clusters, 300), 10, 7},
        {"duplicates", doubled, few(doubled, 300), 7, 7},
        {"images of one pixel", points, few(points, 300), 5, 7},
        {"one dimension", test::random_rows(4'000, 1, 1), test::random_rows(300, 1, 2), 8, 7},
        {"thirty-two of 1,024 pixels", test::random_rows(4'000, 1'024, 1, 9),
         test::random_rows(300, 1'024, 2, 9), 32, 7},
        {"fewer than k + 1", test::random_rows(32, 50, 1), test::random_rows(300, 50, 2), 32, 7},
        {"equal values in all pixels", ramp(60'000, 64, false), ramp(500, 64, true), 32, 9},
    };
    int by_sketches = 0;
    for (const Data& data : all)
        for_kernels({data.train.n, data.query.n, data.train.dim, data.k}, [&](const TensorKernel& kernel) {
            INFO(std::string(data.name));
            Fused fused(kernel, data.train, data.query, data.k, {.sketch = true});
            by_sketches += fused.uses_sketches();
            CHECK(test::wrong_queries(fused.run(), data.train, data.query, data.k, {}, {}, data.step) == 0);
        });
    if (test::capability() / 10 == 9) CHECK(by_sketches >= 5);
}

TENSOR_TEST_CASE("gpu: fused search keeps sketches where a trial is faster by them, and answers alike") {
    // The first rows of the training set are the sample, each left out of its own neighbors.
    const auto check = [](test::Rows train, std::int64_t n, bool may_be_kept) {
        const test::Rows sample{{train.pixels.begin(), train.pixels.begin() + n * train.dim}, n, train.dim};
        for_kernels({train.n, n, train.dim, 5}, [&](const TensorKernel& kernel) {
            Fused fused(kernel, train, sample, 5, {.itself = true});
            const std::vector<Neighbor> before = fused.run();
            const bool are_kept = fused.try_sketches();
            CHECK(are_kept == fused.uses_sketches());
            if (!may_be_kept) CHECK(!are_kept);
            CHECK(fused.run() == before);
        });
    };
    check(test::random_rows(60'000, 400, 1), 512, false);                     // random bytes: all survive
    test::Rows thin{std::vector<std::uint8_t>(200'000 * 300), 200'000, 300};  // on a line, with little noise
    const test::Rows noise = test::random_rows(200'000, 300, 3, 3);
    for (std::size_t i = 0; i < thin.pixels.size(); ++i)
        thin.pixels[i] = static_cast<std::uint8_t>(noise.pixels[i] + i / 300 * 7919 % 200'000 / 1000);
    check(thin, 1024, true);
}

TENSOR_TEST_CASE("gpu: fused search improves known neighbors") {
    const Data all[] = {
        {"random", test::random_rows(25'000, 300, 1), test::random_rows(300, 300, 2), 10, 11, 8'000},
        {"fewer known than k", test::random_rows(4'000, 90, 1), test::random_rows(150, 90, 2), 32, 5, 7},
        {"none known", test::random_rows(4'000, 90, 1), test::random_rows(150, 90, 2), 5, 5, 0},
        {"half of them wanted", test::random_rows(1'200, 40, 1), test::random_rows(70, 40, 2), 600, 7, 500},
        {"most of them wanted", test::random_rows(300, 40, 1), test::random_rows(70, 40, 2), 140, 7, 150},
        {"two queries", test::random_rows(9'000, 60, 1), test::random_rows(2, 60, 2), 100, 1, 4'000},
        {"heavy ties", test::random_rows(20'000, 8, 1, 2), test::random_rows(200, 8, 2, 2), 10, 5, 9'000},
        {"all equal", test::random_rows(7'000, 100, 1, 1), test::random_rows(150, 100, 2, 1), 10, 10, 3'000},
        {"each nearer than the one before", ramp(20'000, 64, false), ramp(5, 64, true), 20, 1, 9'000},
        {"each farther", ramp(20'000, 64, true), ramp(5, 64, false), 128, 1, 9'000},
        {"many neighbors", test::random_rows(40'000, 64, 1), test::random_rows(200, 64, 2), 1024, 20, 9'000},
        {"folds by blocks", test::random_rows(40'000, 64, 1), test::random_rows(200, 64, 2), 200, 20, 9'000},
        {"the largest of them", test::random_rows(90'000, 32, 1), test::random_rows(100, 32, 2), 1000, 20,
         9'000},
        {"largest sums", test::random_rows(3'000, 1'024, 1, 2), test::random_rows(150, 1'024, 2, 2), 10, 10,
         900},
        {"several passes", test::random_rows(160'000, 784, 1, 4), test::random_rows(100, 784, 2, 4), 10, 25,
         100},
    };
    for (const Data& data : all) {
        const auto cut = data.train.pixels.begin() + data.known * data.train.dim;
        const Rows before = test::view(data.train).first(data.known);
        const test::Rows rest{{cut, data.train.pixels.end()}, data.train.n - data.known, data.train.dim};
        const int there = static_cast<int>(std::min<std::int64_t>(data.k, data.known));
        std::vector<Neighbor> known;
        for (std::int64_t q = 0; q < data.query.n; ++q) {
            const Rows one = test::view(data.query).slice(q, 1);
            const Neighbors nearest = test::nearest(before, one, q % data.step == 0 ? there : 0);
            known.insert(known.end(), nearest.rows.begin(), nearest.rows.end());
            known.resize(static_cast<std::size_t>((q + 1) * data.k), no_neighbor);
        }
        for_kernels({rest.n, data.query.n, rest.dim, data.k}, [&](const TensorKernel& kernel) {
            for (How how : some_ways) {
                how.improve = true;
                INFO(std::string(data.name), ", ", how);
                Fused fused(kernel, rest, data.query, data.k, how);
                const auto found = fused.improve(known, data.known);
                CHECK(test::wrong_queries(found, data.train, data.query, data.k, {}, {}, data.step) == 0);
                if (how.capacity == 0 && !how.sketch && std::string(data.name) == "random")
                    CHECK(fused.undecided() <= 50);
                CHECK(fused.improve(known, data.known) == found);
            }
        });
    }
}

namespace {

/// n rows beside each other around each of `runs` random ones.
test::Rows in_runs(std::int64_t runs, std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    const test::Rows centers = test::random_rows(runs, dim, 1);
    test::Rows rows = test::random_rows(runs * n, dim, seed, 60);
    for (std::int64_t i = 0; i < rows.n * dim; ++i) {
        std::uint8_t& pixel = rows.pixels[static_cast<std::size_t>(i)];
        const std::int64_t center = i / dim / n * dim + i % dim;
        pixel = static_cast<std::uint8_t>((pixel + centers.pixels[static_cast<std::size_t>(center)]) / 2);
    }
    return rows;
}

}  // namespace

TENSOR_TEST_CASE(
    "gpu: fused search of a set whose nearest images are adjacent falls back no more than others") {
    // Runs of 200 images, which tiles have in one or two rows. As many queries as give long lists.
    const test::Rows train = in_runs(250, 200, 200, 2), query = in_runs(250, 40, 200, 3);
    for (const int k : {5, 32})
        for_kernels({train.n, query.n, train.dim, k}, [&](const TensorKernel& kernel) {
            Fused fused(kernel, train, query, k);
            CHECK(test::wrong_queries(fused.run(), train, query, k, {}, {}, 500) == 0);
            CHECK(fused.undecided() <= 5);
        });
}

TENSOR_TEST_CASE("gpu: rows without an image are the farthest in sketches") {
    // Else black ones are among the nearest of a digit of few pixels, and take the places of images in its sample.
    constexpr std::size_t n = 300, columns = gpu::sketch_columns;
    constexpr std::int32_t square = 50'000;
    std::vector<std::uint8_t> bytes(n * columns, 120);
    std::vector<gpu::TrainImage> images(n);
    for (std::size_t i = 0; i < n; ++i)
        images[i] = {0, i % 3 == 0 ? gpu::no_image : static_cast<std::uint32_t>(i)};
    const std::vector<gpu::SketchTerms> terms(n, {0, square, 10});
    const auto sketches = gpu::copied_to_device(std::span(bytes), "uploading");
    const auto d_images = gpu::copied_to_device(std::span(images), "uploading");
    const auto d_terms = gpu::copied_to_device(std::span(terms), "uploading");
    const gpu::DeviceBuffer<std::int32_t> unfit(1);
    const gpu::Stream stream;
    gpu::enqueue_values(n, d_terms.d_data(), d_images.d_data(), 10, sketches.d_data(), unfit.d_data(),
                        stream);
    stream.synchronize();
    const auto made = test::to_host(sketches);
    int wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t *row = made.data() + i * columns, *value = row + columns - gpu::value_columns;
        const bool is_image = i % 3 != 0;
        for (const std::uint8_t* column = row; column < value; ++column)
            wrong += *column != (is_image ? 120 : 128);
        wrong += value[0] + gpu::value_base * (value[1] + value[2] + value[3]) !=
                 (is_image ? square / 2 : gpu::most_value);
    }
    CHECK(wrong == 0);
}

TENSOR_TEST_CASE("gpu: fused search in many passes") {
    // 235 MB: more than two passes. Few values, so that many distances are equal.
    const test::Rows train = test::random_rows(300'000, 784, 1, 4), query = test::random_rows(200, 784, 2, 4);
    for (const int k : {1, 10, 32, 100, 1024})
        for_kernels({train.n, query.n, train.dim, k}, [&](const TensorKernel& kernel) {
            if (k <= 32) {
                Fused by_sketches(kernel, train, query, k, {.sketch = true});
                CHECK(test::wrong_queries(by_sketches.run(), train, query, k, {}, {}, 50) == 0);
            }
            Fused fused(kernel, train, query, k);
            CHECK(test::wrong_queries(fused.run(), train, query, k, {}, {}, 50) == 0);
            CHECK(fused.undecided() <= 4);
            CHECK(fused.batch_of(100'000) >= 1'000);
        });
}

TENSOR_TEST_CASE(
    "gpu: fused search stays exact where lists overflow, and gives the same bytes in a thousand runs") {
    const test::Rows train = test::random_rows(30'000, 50, 1), query = test::random_rows(300, 50, 2);
    for_kernels({train.n, query.n, train.dim, 10}, [&](const TensorKernel& kernel) {
        Fused whole(kernel, train, query, 10), cut(kernel, train, query, 10, {.capacity = 1});
        const auto expected = whole.run();
        CHECK(test::wrong_queries(expected, train, query, 10, {}, {}, 29) == 0);
        CHECK(cut.run() == expected);  // compares those queries with all images
        CHECK(cut.undecided() > whole.undecided());
    });
    const test::Rows ties = test::random_rows(8'000, 200, 1, 3), some = test::random_rows(260, 200, 2, 3);
    for_kernels({ties.n, some.n, ties.dim, 9}, [&](const TensorKernel& kernel) {
        Fused fused(kernel, ties, some, 9);
        const auto first = fused.run();
        int different = 0;
        for (int run = 1; run < 1000; ++run)
            different += fused.run() != first;
        CHECK(different == 0);
    });
}

// For compute-sanitizer: every kernel of the fused search, with a split and an unsplit fallback.
TENSOR_TEST_CASE("gpu: small fused search") {
    const test::Rows train = test::random_rows(900, 130, 1, 5), query = test::random_rows(130, 130, 2, 5);
    for_kernels({train.n, query.n, train.dim, 5}, [&](const TensorKernel& kernel) {
        for (How how : some_ways) {
            Fused fused(kernel, train, query, 5, how);
            CHECK(test::wrong_queries(fused.run(), train, query, 5, {}, {}, 13) == 0);
            how.improve = true;
            Fused improving(kernel, train, query, 5, how);
            const auto found = improving.improve(std::vector<Neighbor>(650, no_neighbor), 0);
            CHECK(test::wrong_queries(found, train, query, 5, {}, {}, 13) == 0);
        }
        test::Rows one = query;
        one.n = 1;
        one.pixels.resize(static_cast<std::size_t>(one.dim));
        Fused fused(kernel, train, one, 5);
        CHECK(test::wrong_queries(fused.run(), train, one, 5) == 0);
    });
}

}  // namespace knn
