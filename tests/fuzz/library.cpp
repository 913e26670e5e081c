/// Random sequences of calls of the C interface: each ends with a status, and what a search finds is in order and in the set.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <string>

#include "mnist_knn/knn.h"
#include "tests/fuzz/input.h"

namespace {

using knn::test::Input;
using knn::test::require;

constexpr std::size_t slots = 3, max_rows = 16, max_dim = 16, max_pitch = 32, max_found = 64;

struct World {
    explicit World(Input& from) : input(from) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(i * i / 7);
    }
    World(const World&) = delete;
    ~World() {
        for (knn_index* index : indexes)
            knn_index_free(index);
        for (knn_set* set : sets)
            knn_set_free(set);
    }

    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[input.byte() % values.size()];
    }
    std::int64_t count() {
        return one_of<std::int64_t>({1, 2, 5, 7, 16, 3, 0, -1, std::numeric_limits<std::int64_t>::max()});
    }
    /// A size that is usually right.
    std::size_t size_of(std::size_t right) {
        return one_of<std::size_t>({right, right, right, right, right, right, right - 8, 8, 0, 1 << 20});
    }
    knn_vectors vectors() {
        knn_vectors some = KNN_VECTORS(bytes.data(), count(), one_of<std::int64_t>({4, 4, 4, 4, 16, 1, 0}));
        some.pitch = one_of<std::int64_t>({0, 0, 0, 16, 32, -1});
        some.type = one_of<std::int32_t>({0, 0, 0, 0, 0, 0, 0, 2, 9});
        some.space = one_of<std::int32_t>({0, 0, 0, 0, 0, 0, 0, 1, 9});
        some.image_rows = some.image_cols = one_of<std::int32_t>({0, 0, 2, 4, -1});
        some.struct_size = size_of(sizeof some);
        if (input.byte() > 250) some.data = nullptr;
        return some;
    }
    knn_settings settings() {
        knn_settings some{};
        some.struct_size = size_of(sizeof some);
        some.method = one_of<const char*>({nullptr, "raw", "raw", "accurate", "none"});
        some.metric = one_of<const char*>({nullptr, nullptr, "l1", "lp", "cosine", "pearson", "x"});
        some.p = one_of<double>({0, 0, 3, -1});
        some.weights = one_of<const char*>({nullptr, "uniform", "distance", "x"});
        some.tie = one_of<const char*>({nullptr, "nearest", "x"});
        some.device = one_of<const char*>({"cpu", "cpu", nullptr, "gpu:9", "x"});
        some.k = one_of<std::int32_t>({0, 1, 2, 3, 40, -1});
        some.threads = one_of<std::int32_t>({1, 1, 2, -1});
        some.memory = one_of<std::int64_t>({0, 0, 64, 1, -1});
        return some;
    }
    knn_options options() {
        knn_options some{};
        some.struct_size = size_of(sizeof some);
        if (input.byte() > 200)
            some.progress = [](void*, std::int64_t done, std::int64_t) { return done > 0 ? 1 : 0; };
        some.reject = one_of<double>({0, 0.1, 0.99, 2});
        return some;
    }
    knn_neighbors neighbors(std::int64_t n) {
        knn_neighbors out = KNN_NEIGHBORS(n, one_of<std::int32_t>({1, 2, 3, 5, 40, 0, -1}));
        out.struct_size = size_of(sizeof out);
        if (input.byte() < 240) out.indices = indices.data();
        if (input.byte() < 240) out.distances = distances.data();
        out.roots = one_of<std::int32_t>({0, 0, 0, 0, 1, 2});
        return out;
    }
    std::int64_t size_of_set(std::size_t slot) {
        knn_index_info info{};
        info.struct_size = sizeof info;
        return knn_index_get_info(indexes[slot], &info) == KNN_OK ? info.count : 0;
    }
    void check(const knn_neighbors& out, std::size_t slot) {
        if (out.indices == nullptr || out.distances == nullptr || out.struct_size < sizeof out) return;
        const std::int64_t n = size_of_set(slot);
        for (std::int64_t i = 0; i < out.count * out.k; ++i) {
            require(indices[static_cast<std::size_t>(i)] < n, "a neighbor is in the set");
            const auto at = static_cast<std::size_t>(i);
            if (i % out.k != 0)
                require(
                    distances[at - 1] < distances[at] || (distances[at - 1] == distances[at] &&
                                                          (out.roots != 0 || indices[at - 1] < indices[at])),
                    "neighbors are in order");
        }
    }

    /// One call; false at the end of the input.
    void step() {
        const std::size_t slot = input.byte() % slots;
        knn_set*& set = sets[slot];
        knn_index*& index = indexes[slot];
        knn_status status = KNN_OK;
        switch (input.byte() % 9) {
            case 0: {
                knn_set_free(set);
                const knn_vectors some = vectors();
                status = knn_set_create(&some, input.byte() < 200 ? bytes.data() : nullptr, &set);
                break;
            }
            case 1: {
                const knn_vectors some = vectors();
                status = knn_set_add(set, &some, input.byte() < 200 ? bytes.data() : nullptr);
                break;
            }
            case 2: {
                knn_index_free(index);
                const knn_settings some = settings();
                status = knn_index_create(sets[input.byte() % slots], &some, &index);
                break;
            }
            case 3: {
                const knn_vectors some = vectors();
                const knn_options chosen = options();
                knn_neighbors out = neighbors(some.count);
                status = knn_search(index, &some, input.byte() < 128 ? &chosen : nullptr, &out);
                if (status == KNN_OK) check(out, slot);
                break;
            }
            case 4: {
                const std::int64_t n = count();
                knn_neighbors out = neighbors(n);
                const std::array<std::uint32_t, max_rows> rows = {0, 1, 1, 5, 3, 2};
                const bool all = input.byte() < 128 || n > std::int64_t{max_rows};
                status = knn_search_rows(index, all ? nullptr : rows.data(), n, nullptr, &out);
                if (status == KNN_OK) check(out, slot);
                break;
            }
            case 5: {
                const knn_vectors some = vectors();
                const knn_options chosen = options();
                knn_answers out = KNN_ANSWERS(some.count);
                out.struct_size = size_of(sizeof out);
                out.labels = labels.data();
                out.rejected = input.byte() < 128 ? rejected.data() : nullptr;
                out.probabilities = input.byte() < 128 ? distances.data() : nullptr;
                status = knn_classify(index, &some, &chosen, &out);
                break;
            }
            case 6: {
                knn_set_info info{};
                info.struct_size = size_of(sizeof info);
                status = knn_set_get_info(set, &info);
                std::array<std::uint8_t, max_rows* max_dim> read = {};
                if (status == KNN_OK && info.struct_size == sizeof info)
                    status = knn_set_read(set, count(), std::min<std::int64_t>(count(), max_rows),
                                          read.data(), nullptr);
                break;
            }
            case 7:
                knn_set_free(set), set = nullptr;
                break;
            default:
                knn_index_free(index), index = nullptr;
                break;
        }
        require(status >= KNN_OK && status < KNN_INTERNAL, "a status, and no defect");
        if (status != KNN_OK)
            require(std::string(knn_last_error()).find("expected") != std::string::npos,
                    "an error says what was expected");
    }

    Input& input;
    std::array<knn_set*, slots> sets{};
    std::array<knn_index*, slots> indexes{};
    std::array<std::uint8_t, max_rows * max_pitch> bytes{};
    std::array<std::uint32_t, max_rows * max_found> indices{};
    std::array<double, max_rows * max_found> distances{};
    std::array<std::uint8_t, max_rows> labels{}, rejected{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    World world(input);
    while (!input.rest().empty())
        world.step();
    return 0;
}
