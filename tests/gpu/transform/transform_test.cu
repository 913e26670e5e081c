// Transforms on the device against the functions that define them, applied step by step on the host, and against the
// CPU's kernels.

#include "gpu/transform/transform.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cpu/transform/transform.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/transform/gradients.cuh"
#include "gpu/transform/step.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"

namespace knn {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr const char* all_specs[] = {"deskew",          "deskew:0.3",
                                     "deskew:2",        "normalize",
                                     "blur:0.1",        "blur",
                                     "blur:20",         "pca:1",
                                     "pca:5",           "hog",
                                     "gradients",       "deskew,pca:7",
                                     "gradients,pca:3", "blur:2,gradients",
                                     "hog,pca:2",       "normalize,blur,deskew,hog",
                                     "pca:6,pca:2"};

/// Kinds of images in turn: random, nearly empty, empty, white, one gray, a box at a corner, a stroke along the
/// diagonal, a single pixel.
Bytes images_of(std::int64_t n, ImageShape shape, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes;
    for (std::int64_t i = 0; i < n; ++i)
        for (int y = 0; y < shape.rows; ++y)
            for (int x = 0; x < shape.cols; ++x) {
                const auto noise = static_cast<std::uint8_t>(random());
                const int along = shape.cols > 1 ? x * shape.rows / shape.cols : 0;
                const int kinds[] = {noise,
                                     random() % 10 == 0 ? noise : 0,
                                     0,
                                     255,
                                     static_cast<int>(i % 256),
                                     4 * y >= 3 * shape.rows && 4 * x >= 3 * shape.cols ? noise / 2 + 128 : 0,
                                     std::abs(y - along) < 3 ? 255 - noise % 16 : 0,
                                     y == shape.rows - 1 && x == static_cast<int>(i) % shape.cols ? 1 : 0};
                bytes.push_back(static_cast<std::uint8_t>(kinds[i % 8]));
            }
    return bytes;
}

/// Whether a `pca` of the transform would take seconds to fit.
bool is_slow(const TransformSpec& spec, ImageShape shape) {
    TransformSpec before;
    for (const TransformStep& step : spec.steps) {
        if (step.kind == TransformKind::pca && output_dim(before, shape) > 1300) return true;
        before.steps.push_back(step);
    }
    return false;
}

/// As data/transform defines it.
Bytes defined(const FittedTransform& transform, const Bytes& images, std::int64_t n) {
    Bytes features;
    TransformScratch scratch;
    for (std::int64_t i = 0; i < n; ++i) {
        Bytes row(images.begin() + i * transform.dim_in(), images.begin() + (i + 1) * transform.dim_in());
        for (const FittedStep& step : transform.steps) {
            Bytes next(static_cast<std::size_t>(step.dim_out));
            apply_step(step, row.data(), next.data(), scratch);
            row = next;
        }
        features.insert(features.end(), row.begin(), row.end());
    }
    return features;
}

/// Rows on the device that begin `offset` bytes after the memory and `gap` bytes after one another.
struct SpacedRows {
    static constexpr std::uint8_t poison = 0xa5;
    SpacedRows(std::int64_t n, std::int64_t cols, std::size_t offset, std::size_t gap)
        : pitch(static_cast<std::size_t>(cols) + gap), memory(offset + static_cast<std::size_t>(n) * pitch) {
        gpu::fill(memory, poison, "poisoning");
        rows = {memory.d_data() + offset, n, cols, pitch};
    }
    /// Whether what lies between the rows is unchanged.
    bool gaps_are_untouched() const {
        const Bytes all = test::to_host(memory);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t begin = all.size() - static_cast<std::size_t>(rows.n) * pitch;
            const bool is_gap = i < begin || (i - begin) % pitch >= static_cast<std::size_t>(rows.cols);
            if (is_gap && all[i] != poison) return false;
        }
        return true;
    }

    std::size_t pitch;
    gpu::DeviceBuffer<std::uint8_t> memory;
    gpu::ByteRows rows;
};

/// With rows at multiples of 16 bytes and at odd places, in launches of `reserved` images.
void check_on_device(const FittedTransform& transform, const Bytes& images, std::int64_t n,
                     std::int64_t reserved, const Bytes& expected) {
    gpu::DeviceTransform on_device(transform);
    on_device.reserve(reserved);
    REQUIRE(on_device.dim_out() == transform.dim_out());
    const gpu::Stream stream;
    const std::int64_t dim_in = transform.dim_in(), dim_out = transform.dim_out();
    const auto padding = [](std::int64_t dim) { return static_cast<std::size_t>((16 - dim % 16) % 16); };
    for (const bool aligned : {true, false}) {
        CAPTURE(aligned);
        const SpacedRows in(n, dim_in, aligned ? 0 : 3, aligned ? padding(dim_in) : 5);
        const SpacedRows out(n, dim_out, aligned ? 0 : 1, aligned ? padding(dim_out) : 2);
        test::upload(images, in.rows);
        on_device.enqueue(in.rows, out.rows, stream);
        stream.synchronize();
        const Bytes found = test::to_host(out.rows);
        const auto different = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
        CAPTURE((different.first - found.begin()) / dim_out);
        CAPTURE((different.first - found.begin()) % dim_out);
        CHECK((different.first == found.end() && different.second == expected.end()));
        CHECK(out.gaps_are_untouched());
    }
}

void check_shape(ImageShape shape, std::int64_t n, std::int64_t reserved) {
    CAPTURE(shape.rows);
    CAPTURE(shape.cols);
    const Bytes images = images_of(n, shape, static_cast<unsigned>(shape.dim() + n));
    const Rows rows{images.data(), n, shape.dim()};
    int left_out = 0;
    for (const std::string text : all_specs) {
        CAPTURE(text);
        const TransformSpec spec = parse_transform("--transform", text);
        if (refuse_transform(spec, shape, n) || is_slow(spec, shape)) {
            ++left_out;
            continue;
        }
        const FittedTransform fitted = cpu::fit(spec, rows, shape, 2);
        const Bytes expected = defined(fitted, images, n);
        CHECK(cpu::features(fitted, rows, 2) == expected);
        check_on_device(fitted, images, n, reserved, expected);
    }
    CHECK(left_out <= 8);  // those with pca, and hog where it makes too many features
}

/// By one thread per number: the quick forms and those of the definition.
__global__ void compare_roots(float numerator, float offset, unsigned long long* wrong) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x > 1u << 24) return;
    const auto value = static_cast<float>(x);
    const float input = __fadd_rn(value, gpu::nearly_zero);
    constexpr unsigned max_squared = 2 * 1020 * 1020;
    bool same =
        static_cast<std::uint8_t>(gpu::root_byte(input)) == root_feature(static_cast<std::int32_t>(x));
    if (x <= max_squared) {
        const float gain_of_x = __fdiv_rn(numerator, __fadd_rn(__fsqrt_rn(value), offset));
        same = same && gpu::fast_gain(input, numerator, offset) == gain_of_x;
    }
    if (!same) atomicAdd(wrong, 1ull);
}

}  // namespace

TEST_CASE("gpu: transforms give the bytes that define them, for images of 28 x 28") {
    if (!test::have_gpu()) return;
    check_shape({28, 28}, 331, 100);
}

TEST_CASE("gpu: transforms of images of other shapes") {
    if (!test::have_gpu()) return;
    for (const ImageShape shape :
         {ImageShape{1, 1}, {1, 784}, {784, 1}, {2, 3}, {7, 31}, {31, 7}, {32, 32}, {33, 40}})
        check_shape(shape, 17, 5);
}

TEST_CASE("gpu: transforms of images that do not fit in shared memory") {
    if (!test::have_gpu()) return;
    check_shape({257, 257}, 9, 4);
    check_shape({170, 170}, 9, 4);  // the largest that hog takes
}

TEST_CASE("gpu: projections of long rows") {
    if (!test::have_gpu()) return;
    const std::int64_t n = 70, n_out = 130, dim = 4096;
    std::mt19937 random(5);
    Projection projection{.n_out = n_out, .dim = dim, .weights = {}, .centers = {}, .scale = 40'000};
    for (std::int64_t i = 0; i < n_out * dim; ++i)
        projection.weights.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 801) - 400));
    for (std::int64_t i = 0; i < n_out; ++i)
        projection.centers.push_back(static_cast<std::int32_t>(random() % 2'000'001) - 1'000'000);
    FittedTransform fitted{.spec = {}, .image = {64, 64}, .steps = {}};
    append_step(fitted, {TransformKind::pca, static_cast<double>(n_out)}, projection);
    const Bytes images = images_of(n, fitted.image, 9);
    check_on_device(fitted, images, n, 33, defined(fitted, images, n));
}

TEST_CASE("gpu: the fused kernel computes gradients of 28 x 28 pixels, others any shape") {
    if (!test::have_gpu()) return;
    const auto kernels = [](const char* text, ImageShape shape) {
        FittedTransform fitted{.spec = {}, .image = shape, .steps = {}};
        for (const TransformStep& step : parse_transform("--transform", text).steps)
            append_step(fitted, step);
        std::string names;
        for (const char* name : gpu::DeviceTransform(fitted).kernels())
            names.append(names.empty() ? "" : " ").append(name);
        return names;
    };
    CHECK(kernels("gradients", {28, 27}) == "deskew histograms");
    CHECK(kernels("hog", {28, 28}) == "histograms");
    if (test::capability() < 80) return test::skip("the fused kernel needs compute capability 8.0");
    CHECK(kernels("gradients", {28, 28}) == "gradients");
    CHECK(kernels("blur,gradients", {28, 28}) == "blur gradients");
}

TEST_CASE("gpu: many images in one launch of the fused kernel") {
    if (!test::have_gpu()) return;
    const std::int64_t n = 5000;
    FittedTransform fitted{.spec = {}, .image = {28, 28}, .steps = {}};
    append_step(fitted, {TransformKind::gradients, 0});
    const Bytes images = images_of(n, fitted.image, 3);
    check_on_device(fitted, images, n, n, cpu::features(fitted, {images.data(), n, 784}, 0));
}

TEST_CASE("gpu: quick roots and quotients are those of the definition") {
    if (!test::have_gpu()) return;
    const Histograms histograms = gradient_histograms({28, 28});
    const gpu::DeviceBuffer<unsigned long long> wrong(1);
    gpu::fill(wrong, 0, "clearing");
    compare_roots<<<(1 << 16) + 1, 256>>>(histograms.numerator, histograms.offset, wrong.d_data());
    gpu::check_launch("comparing roots");
    CHECK(test::to_host(wrong).front() == 0);
}

TEST_CASE("gpu: a raw transform copies, and arrays of another shape are refused") {
    if (!test::have_gpu()) return;
    const std::int64_t n = 7;
    const Bytes images = images_of(n, {3, 5}, 1);
    const auto in = test::to_device(images, n, 15), out = test::to_device(Bytes(n * 15), n, 15);
    const gpu::Stream stream;
    gpu::DeviceTransform raw;
    CHECK(raw.is_raw());
    raw.reserve(n);
    raw.enqueue(in.rows(), out.rows(), stream);
    stream.synchronize();
    CHECK(test::to_host(out.rows()) == images);

    FittedTransform fitted{.spec = {}, .image = {3, 5}, .steps = {}};
    append_step(fitted, {TransformKind::blur, 1});
    gpu::DeviceTransform blur(fitted);
    CHECK_FALSE(blur.is_raw());
    CHECK_THROWS_AS(blur.enqueue(in.rows(), out.rows(), stream), DeviceError);  // nothing is reserved
    blur.reserve(n);
    gpu::ByteRows wide = in.rows();
    wide.cols = 16;
    CHECK_THROWS_AS(blur.enqueue(wide, out.rows(), stream), DeviceError);
    CHECK_THROWS_AS(blur.enqueue(in.rows(), out.first(n - 1), stream), DeviceError);
    CHECK_NOTHROW(blur.enqueue(in.first(0), out.first(0), stream));
    gpu::DeviceTransform moved = std::move(blur);
    moved.enqueue(in.rows(), out.rows(), stream);
    stream.synchronize();
    CHECK(test::to_host(out.rows()) == defined(fitted, images, n));
}

}  // namespace knn
