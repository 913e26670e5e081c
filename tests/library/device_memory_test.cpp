/// Queries and answers in the memory of a GPU: the same as in that of the host, and queued where the GPU does it alone.

#include <cuda_runtime.h>

#include "tests/library/api.h"
#include "tests/library/drawn_set.h"

namespace knn::test {

namespace {

#define CUDA(call) REQUIRE((call) == cudaSuccess)

bool has_gpu() {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
    cudaGetLastError();
    skip("no GPU");
    return false;
}

/// Device memory with a copy of `values`.
template <class T>
struct OnDevice {
    T* d_data = nullptr;
    std::size_t size;

    explicit OnDevice(const std::vector<T>& values) : size(values.size()) {
        CUDA(cudaMalloc(reinterpret_cast<void**>(&d_data), size * sizeof(T)));
        CUDA(cudaMemcpy(d_data, values.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~OnDevice() { cudaFree(d_data); }
    OnDevice(const OnDevice&) = delete;

    std::vector<T> read() const {
        std::vector<T> values(size);
        CUDA(cudaMemcpy(values.data(), d_data, size * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

struct Stream {
    cudaStream_t stream = nullptr;
    Stream() { CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(stream); }
    Stream(const Stream&) = delete;
};

/// `found` is of the host; the same search by queries and answers on the device.
void check_on_device(knn_index* index, const DrawnSet& asked, const Found& found, cudaStream_t stream,
                     std::int64_t step = 1) {
    const OnDevice<std::uint8_t> pixels(asked.pixels);
    const OnDevice<std::uint32_t> indices(std::vector<std::uint32_t>(found.indices.size(), 77));
    const OnDevice<double> distances(std::vector<double>(found.distances.size(), -1));
    knn_vectors vectors = KNN_VECTORS(pixels.d_data, asked.n / step, DrawnSet::dim);
    vectors.pitch = step * DrawnSet::dim;
    vectors.space = KNN_CUDA;
    vectors.stream = stream;
    knn_neighbors out = KNN_NEIGHBORS(vectors.count, found.out.k);
    out.indices = indices.d_data;
    out.distances = distances.d_data;
    out.space = KNN_CUDA;
    out.stream = stream;
    OK(knn_search(index, &vectors, nullptr, &out));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(indices.read() == found.indices);
    CHECK(distances.read() == found.distances);
    out.distances = nullptr;  // the indices alone
    CUDA(cudaMemset(indices.d_data, 1, indices.size * 4));
    CUDA(cudaDeviceSynchronize());
    OK(knn_search(index, &vectors, nullptr, &out));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(indices.read() == found.indices);
}

const DrawnSet train(700, 1), queries(60, 2);

OpenIndex index_on(const Set& set, const char* device, const char* method, const char* metric = nullptr,
                   const char* engine = nullptr) {
    knn_settings settings = settings_of(method);
    settings.device = device;
    settings.metric = metric;
    settings.engine = engine;
    settings.p = metric != nullptr && std::string(metric) == "lp" ? 3 : 0;
    return made_index(set, settings);
}

}  // namespace

TEST_CASE("library: queries and neighbors in device memory are those of the host") {
    if (!has_gpu()) return;
    const Stream stream;
    const Set set = made_set(train.vectors(), train.labels.data());
    struct Case {
        const char *device, *method, *metric, *engine;
    };
    for (const Case& one : {Case{"gpu", "raw", "l2", "tensor"}, Case{"gpu", "raw", "l2", "classic"},
                            Case{"gpu", "raw", "l1", "classic"}, Case{"gpu", "raw", "cosine", "classic"},
                            Case{"gpu", "raw", "lp", nullptr}, Case{"gpu", "gradients", nullptr, nullptr},
                            Case{"gpu", "accurate", nullptr, nullptr}, Case{"cpu", "raw", "l2", nullptr}}) {
        CAPTURE(one.device);
        CAPTURE(one.method);
        CAPTURE(one.metric);
        const OpenIndex index = index_on(set, one.device, one.method, one.metric, one.engine);
        for (const int k : {1, 9, 64}) {
            Found found(queries.n, k), half(queries.n / 2, k);
            knn_vectors asked = queries.vectors();
            OK(knn_search(index.get(), &asked, nullptr, &found.out));
            asked.count /= 2;
            asked.pitch = 2 * DrawnSet::dim;
            OK(knn_search(index.get(), &asked, nullptr, &half.out));
            check_on_device(index.get(), queries, found, stream.stream);
            check_on_device(index.get(), queries, half, stream.stream, 2);
            check_on_device(index.get(), queries, found, nullptr);
        }
    }
}

TEST_CASE("library: a search in device memory waits for its stream, not the caller for the search") {
    if (!has_gpu()) return;
    const Stream stream;
    const Set set = made_set(train.vectors(), nullptr);
    const OpenIndex index = index_on(set, "gpu", "raw");
    Found found(queries.n, 5);
    const knn_vectors asked = queries.vectors();
    OK(knn_search(index.get(), &asked, nullptr, &found.out));
    check_on_device(index.get(), queries, found, stream.stream);  // what is loaded late is loaded
    const OnDevice<std::uint8_t> pixels(std::vector<std::uint8_t>(queries.pixels.size(), 0));
    const OnDevice<std::uint32_t> indices(std::vector<std::uint32_t>(found.indices.size(), 77));
    std::atomic<bool> go = false;
    CUDA(cudaLaunchHostFunc(
        stream.stream,
        [](void* data) {
            while (!*static_cast<std::atomic<bool>*>(data))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        &go));
    CUDA(cudaMemcpyAsync(pixels.d_data, queries.pixels.data(), queries.pixels.size(), cudaMemcpyHostToDevice,
                         stream.stream));
    knn_vectors vectors = KNN_VECTORS(pixels.d_data, queries.n, DrawnSet::dim);
    knn_neighbors out = KNN_NEIGHBORS(queries.n, 5);
    vectors.space = out.space = KNN_CUDA;
    vectors.stream = out.stream = stream.stream;
    out.indices = indices.d_data;
    out.roots = 1;
    REFUSED(KNN_INVALID, "KNN_HOST", knn_search(index.get(), &vectors, nullptr, &out));
    out.roots = 0;
    OK(knn_search(index.get(), &vectors, nullptr, &out));  // would not return if it waited
    CHECK(cudaStreamQuery(stream.stream) == cudaErrorNotReady);
    go = true;
    CUDA(cudaStreamSynchronize(stream.stream));
    CHECK(indices.read() == found.indices);
}

TEST_CASE("library: searches of both memories take turns on one index, also while rows are added") {
    if (!has_gpu()) return;
    const Set set = made_set(train.vectors(0, 600), nullptr);
    const OpenIndex index = index_on(set, "gpu", "raw");
    const DrawnSet many(3000, 3);
    const auto check = [&] {
        std::vector<std::thread> threads;
        std::atomic<int> wrong = 0;
        Found small(queries.n, 4), large(many.n, 11);
        const knn_vectors few_asked = queries.vectors(), many_asked = many.vectors();
        OK(knn_search(index.get(), &few_asked, nullptr, &small.out));
        OK(knn_search(index.get(), &many_asked, nullptr, &large.out));
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                const Stream stream;
                for (int round = 0; round < 10; ++round) {
                    if ((i + round) % 2 == 0) {
                        check_on_device(index.get(), i < 2 ? queries : many, i < 2 ? small : large,
                                        stream.stream);
                        continue;
                    }
                    Found again(many.n, 11);
                    if (knn_search(index.get(), &many_asked, nullptr, &again.out) != KNN_OK ||
                        !(again == large))
                        ++wrong;
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        CHECK(wrong == 0);
    };
    check();
    const knn_vectors more = train.vectors(600);
    OK(knn_set_add(set.get(), &more, nullptr));
    check();  // the host merges what was added
}

TEST_CASE(
    "library: sets and classified queries in device memory are copied; memory that is no device's is "
    "refused") {
    if (!has_gpu()) return;
    const OnDevice<std::uint8_t> rows(train.pixels), asked(queries.pixels);
    knn_vectors vectors = KNN_VECTORS(rows.d_data, train.n, DrawnSet::dim);
    knn_vectors some = KNN_VECTORS(asked.d_data, queries.n, DrawnSet::dim);
    vectors.space = some.space = KNN_CUDA;
    const Set set = made_set(vectors, train.labels.data());
    std::vector<std::uint8_t> read(train.pixels.size());
    OK(knn_set_read(set.get(), 0, train.n, read.data(), nullptr));
    CHECK(read == train.pixels);
    const OpenIndex index = index_on(set, "gpu", "raw");
    Answers host(queries.n, true), device(queries.n, true);
    const knn_vectors here = queries.vectors();
    OK(knn_classify(index.get(), &here, nullptr, &host.out));
    OK(knn_classify(index.get(), &some, nullptr, &device.out));
    CHECK(host == device);
    some.data = queries.pixels.data();
    Found found(queries.n, 3);
    REFUSED(KNN_DEVICE, "GPU", knn_search(index.get(), &some, nullptr, &found.out));
    found.out.space = KNN_CUDA;
    REFUSED(KNN_DEVICE, "GPU", knn_search(index.get(), &here, nullptr, &found.out));
    vectors.borrowed = 1;
    knn_set* none = nullptr;
    REFUSED(KNN_INVALID, "borrowed", knn_set_create(&vectors, nullptr, &none));
    int current = -1;
    CUDA(cudaGetDevice(&current));
    CHECK(current == 0);
}

}  // namespace knn::test
