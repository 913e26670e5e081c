// A resident index that several threads search, while rows are added:  ./threads
#include <iostream>
#include <mnist_knn/knn.hpp>
#include <thread>

int main() try {
    constexpr std::int64_t n = 20'000, dim = 64, n_threads = 4;
    std::vector<std::uint8_t> rows(n * dim), labels(n);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        labels[i / dim] = static_cast<std::uint8_t>(i / dim % 10);
        rows[i] = static_cast<std::uint8_t>(25 * labels[i / dim] + std::rand() % 30);
    }
    mnist_knn::set set(mnist_knn::vectors(rows, dim), labels);
    const mnist_knn::index index(set, {.k = 3});

    std::vector<std::int64_t> right(n_threads);
    std::vector<std::thread> threads;
    for (std::int64_t t = 0; t < n_threads; ++t)
        threads.emplace_back([&, t] {
            for (std::int64_t i = t; i < 400; i += n_threads) {
                const std::span query = std::span(rows).subspan(static_cast<std::size_t>(i * dim), dim);
                const mnist_knn::answers answers = index.classify(mnist_knn::vectors(query, dim));
                right[t] += answers.labels[0] == labels[i] ? 1 : 0;
            }
        });
    const std::vector<std::uint8_t> bright(dim, 255), label = {10};
    set.add(mnist_knn::vectors(bright, dim), label);
    for (std::thread& thread : threads)
        thread.join();
    std::int64_t sum = 0;
    for (const std::int64_t one : right)
        sum += one;
    std::cout << sum << " of 400 answers right\n";
    const auto found = index.search(mnist_knn::vectors(bright, dim), 1);
    std::cout << "the added row is neighbor " << found.indices[0] << " at distance " << found.distances[0]
              << '\n';
    return sum == 400 && found.indices[0] == n ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << "threads: " << error.what() << '\n';
    return 1;
}
