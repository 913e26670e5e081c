/// Times of the library on MNIST, or any set of --data:  library_measure FOLDER   (docs/library.md)

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "mnist_knn/knn.hpp"

namespace {

/// Median milliseconds of `runs` calls.
template <class Call>
double median_ms(int runs, const Call& call) {
    std::vector<double> all;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        call();
        all.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

void print(const char* what, double ms) {
    std::printf("%-62s %9.3f ms\n", what, ms);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) return std::fputs("usage: library_measure FOLDER [DEVICE]\n", stderr), 2;
    const char* device = argc > 2 ? argv[2] : "cpu";
    const mnist_knn::files from{.folder = argv[1]};
    mnist_knn::set set(from);
    const std::int64_t n = set.count(), dim = set.info().dim;
    std::printf("%ld vectors of %ld, device %s\n", static_cast<long>(n), static_cast<long>(dim), device);
    const std::vector<std::uint8_t> rows = set.read(0, std::min<std::int64_t>(n, 10'000)),
                                    labels = set.read_labels(0, std::min<std::int64_t>(n, 1000));
    const auto first = [&](std::int64_t count) {
        return mnist_knn::vectors(std::span(rows).first(static_cast<std::size_t>(count * dim)), dim);
    };
    print("knn_set_open", median_ms(3, [&] { mnist_knn::set again(from); }));
    print("knn_index_create, raw", median_ms(3, [&] { mnist_knn::index again(set, {.device = device}); }));
    const mnist_knn::index index(set, {.device = device});
    index.classify(first(100));
    print("knn_classify, 1 query", median_ms(51, [&] { index.classify(first(1)); }));
    print("knn_classify, 100 queries", median_ms(21, [&] { index.classify(first(100)); }));
    print("knn_classify, 10,000 queries", median_ms(3, [&] { index.classify(first(10'000)); }));
    for (const int count : {1, 2, 4, 8}) {
        const double ms = median_ms(5, [&] {
            std::vector<std::thread> threads;
            for (int i = 0; i < count; ++i)
                threads.emplace_back([&] {
                    for (int search = 0; search < 50; ++search)
                        index.classify(first(100));
                });
            for (std::thread& thread : threads)
                thread.join();
        });
        print((std::to_string(count) + " threads, 50 searches of 100 queries each: one search").c_str(),
              ms / (50 * count));
    }
    print("knn_set_add, 1,000 vectors", median_ms(9, [&] { set.add(first(1000), labels); }));
    print("knn_classify, 1 query, the first after that", median_ms(1, [&] { index.classify(first(1)); }));
    print("knn_classify, 1 query", median_ms(51, [&] { index.classify(first(1)); }));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
