#include "tests/support/battery.h"

#include <algorithm>

#include "tests/support/images.h"

namespace knn::test {

namespace {

/// Image i has a total brightness of i, filled pixel by pixel: each is farther from black than the previous
/// one. At most dim · 255 + 1 images.
Rows thermometer(std::int64_t n, std::int64_t dim) {
    return made(n, dim, [](std::int64_t i, std::int64_t p) {
        return static_cast<int>(std::clamp<std::int64_t>(i - p * 255, 0, 255));
    });
}

/// Every `step`-th image.
Rows every(std::int64_t step, const Rows& of) {
    return picked(of, (of.n + step - 1) / step, [&](std::int64_t i) { return i * step; });
}

/// Rows that alternate between all 0 and all 255: the largest distance that `dim` allows, and 0.
Rows extremes(std::int64_t n, std::int64_t dim) {
    return made(n, dim, [](std::int64_t i, std::int64_t) { return i % 2 == 0 ? 255 : 0; });
}

/// Images made of random ones: `value` gets the image, its own pixel, and that of the first image.
template <class Value>
Rows changed(const Rows& all, const Value& value) {
    return made(all.n, all.dim, [&](std::int64_t i, std::int64_t p) {
        return value(i, int{all.pixels[static_cast<std::size_t>(i * all.dim + p)]},
                     int{all.pixels[static_cast<std::size_t>(p)]});
    });
}

/// Images of a ninth of the levels each, and the first one times 2 and 3: at distance 0 or nearly so by cosine.
Rows multiples(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    return changed(random_rows(n, dim, seed), [](std::int64_t i, int own, int first) {
        return i % 3 == 0 ? own / 9 : first / 9 * static_cast<int>(i % 3 + 1);
    });
}

/// Every second image is the negative of the one before.
Rows negatives(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    const Rows all = picked(random_rows(n, dim, seed), n, [](std::int64_t i) { return i / 2 * 2; });
    return changed(all, [](std::int64_t i, int own, int) { return i % 2 == 0 ? own : 255 - own; });
}

/// Every third image random, the others constant, many of them black.
Rows grays(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    return changed(random_rows(n, dim, seed), [](std::int64_t i, int own, int) {
        return i % 3 == 0 ? own : i % 3 == 1 ? 0 : static_cast<int>(i * 37 % 256);
    });
}

/// 254 and 255: almost nothing is left after mean-centering.
Rows nearly_white(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    return changed(random_rows(n, dim, seed, 2),
                   [](std::int64_t, int own, int) { return own == 0 ? 254 : 255; });
}

/// Collects cases; every random one gets its own seed.
class Builder {
  public:
    std::vector<Case> cases;

    void random(const std::string& why, std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int k,
                int levels) {
        seed_ += 2;
        add(why, random_rows(n_train, dim, seed_, levels), random_rows(n_query, dim, seed_ + 1, levels), k);
    }
    void add(const std::string& why, Rows train, Rows query, int k) {
        cases.push_back({why, std::move(train), std::move(query), k});
    }

  private:
    std::uint64_t seed_ = 0;
};

void add_sizes(Builder& to) {
    for (const int n :
         {1,   2,   3,   15,  16,  17,  31,  32,   33,   47,   48,   49,   63,   64,   65,   100,  127,
          128, 129, 255, 256, 257, 511, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3000, 4096, 5000})
        to.random("size", n, 3, 17, std::min(n, 5), 4);
    to.random("more than 65,536", 70'001, 2, 4, 10, 256);
    to.random("more than 65,536, many ties", 65'537, 2, 3, 40, 3);
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 65, 200, 257})
        to.random("queries", 150, n, 20, 3, 256);
    for (const int dim : {1,   2,   3,   4,   5,   15,  16,  17,   31,   32,   33,   63,   64,   65,
                          127, 128, 129, 255, 783, 784, 785, 1023, 1024, 1025, 1032, 1033, 2049, 5000})
        to.random("dim", 130, 5, dim, 7, 256);
    to.random("like MNIST", 1500, 70, 784, 5, 256);
}

void add_ks(Builder& to) {
    for (const int k : {1, 2, 5, 10, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 257, 500, 1023, 1024}) {
        to.random("n_train = k", k, 2, 6, k, 256);
        to.random("n_train = k + 1", k + 1, 2, 6, k, 6);
        to.random("n_train = 3 k", 3 * k, 3, 9, k, 256);
    }
    to.random("k of many", 20'000, 3, 12, 1024, 16);
    to.random("k of many", 20'000, 3, 12, 32, 16);
}

void add_orders(Builder& to) {
    const Rows rising = thermometer(4'000, 16), falling = reversed(rising);
    for (const int k : {1, 5, 33, 200, 1024}) {
        to.add("sorted, nearest first", rising, filled(2, 16, 0), k);
        to.add("sorted, nearest last", falling, filled(2, 16, 0), k);
        to.add("sorted, query in the middle", rising, every(450, rising), k);
        to.add("all equal", filled(1'500, 20, 77), filled(3, 20, 78), k);
        to.add("all equal to the query", filled(1'500, 20, 77), filled(3, 20, 77), k);
        to.add("duplicates", repeated(random_rows(60, 25, 901), 20), random_rows(5, 25, 902), k);
    }
    const Rows images = random_rows(300, 784, 903);
    to.add("queries are training images", repeated(images, 2), images, 3);
}

void add_largest_sums(Builder& to) {
    for (const std::int64_t dim : {784, 1024, 1032, 1033, 2048}) {
        to.add("largest sums", extremes(67, dim), extremes(5, dim), 40);
        to.add("largest sums", filled(35, dim, 255), filled(2, dim, 0), 3);
        to.random("only 0 and 255", 70, 5, dim, 9, 2);
    }
    to.add("largest distance in 32 bits", extremes(9, max_dim), extremes(2, max_dim), 9);
    to.add("largest product in 32 bits", filled(9, max_dim, 255), filled(2, max_dim, 255), 9);
    to.add("largest distance in 32 bits", filled(3, max_dim, 255), filled(2, max_dim, 0), 2);
    to.random("largest dim", 9, 3, max_dim, 5, 256);
}

void add_random_sizes(Builder& to) {
    struct Size {
        std::int64_t n_train, n_query, dim;
        int k, levels;
    };
    for (const Size& size : {Size{1, 1, 1, 1, 256},
                             {2, 3, 3, 2, 4},
                             {33, 5, 4, 7, 256},
                             {47, 2, 17, 5, 3},
                             {49, 17, 16, 5, 256},
                             {257, 3, 63, 33, 5},
                             {65, 4, 127, 65, 256},
                             {130, 5, 255, 7, 256},
                             {300, 9, 784, 5, 256},
                             {130, 5, 784, 9, 2},
                             {70, 5, 1024, 9, 2},
                             {90, 4, 1025, 7, 256},
                             {40, 3, 5000, 5, 256},
                             {1025, 3, 6, 1024, 16},
                             {3000, 3, 12, 32, 16},
                             {9, 3, max_dim, 5, 256},
                             {9, 2, max_dim, 9, 2}})
        to.random("size", size.n_train, size.n_query, size.dim, size.k, size.levels);
}

void add_special_images(Builder& to) {
    const Rows rising = thermometer(1'000, 16), images = random_rows(60, 784, 911);
    to.add("sorted", rising, every(300, rising), 5);
    to.add("sorted, last first", reversed(rising), every(300, rising), 33);
    for (const int gray : {0, 77})
        for (const int query : {0, 77, 255})
            to.add("all equal", filled(200, 20, static_cast<std::uint8_t>(gray)),
                   filled(2, 20, static_cast<std::uint8_t>(query)), 40);
    to.add("queries are training images", repeated(images, 3), images, 5);
    to.add("largest sums", extremes(67, 1024), extremes(4, 1024), 40);
    to.add("largest sums", extremes(9, max_dim), extremes(2, max_dim), 9);
    to.add("of one gray", grays(150, 30, 921), grays(6, 30, 922), 70);
    to.add("of one gray", grays(60, 784, 923), grays(6, 784, 924), 5);
    for (const std::int64_t dim : {5, 784, static_cast<int>(max_dim)})
        to.add("nearly white", nearly_white(40, dim, 931), nearly_white(3, dim, 932), 9);
    to.add("multiples", multiples(120, 50, 941), multiples(7, 50, 941), 30);
    to.add("negatives", negatives(120, 50, 951), negatives(6, 50, 951), 120);
    to.add("sparse", sparse(900, 784, 961, 4), sparse(12, 784, 962, 4), 5);
}

std::vector<Case> build_for_metrics() {
    Builder builder;
    add_random_sizes(builder);
    add_special_images(builder);
    return std::move(builder.cases);
}

std::vector<Case> build() {
    Builder builder;
    add_sizes(builder);
    add_ks(builder);
    add_orders(builder);
    add_largest_sums(builder);
    return std::move(builder.cases);
}

}  // namespace

const std::vector<Case>& battery() {
    static const std::vector<Case> cases = build();
    return cases;
}

const std::vector<Case>& metric_battery() {
    static const std::vector<Case> cases = build_for_metrics();
    return cases;
}

}  // namespace knn::test
