// Transforms on the device against the oracle (support/transform_oracle.h), as those of the CPU are.

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
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/images.h"
#include "tests/support/transform_oracle.h"

namespace knn {

namespace {

using TestBytes = std::vector<std::uint8_t>;

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
        const TestBytes all = test::to_host(memory);
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
void check_on_device(const FittedTransform& transform, const test::Rows& images, std::int64_t reserved) {
    const std::int64_t n = images.n;
    const TestBytes expected = test::features_of(transform, {images.pixels.data(), n, images.dim}).pixels;
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
        test::upload(images.pixels, in.rows);
        on_device.enqueue(in.rows, out.rows, stream);
        stream.synchronize();
        const TestBytes found = test::to_host(out.rows);
        const auto different = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
        CAPTURE((different.first - found.begin()) / dim_out);
        CAPTURE((different.first - found.begin()) % dim_out);
        CHECK((different.first == found.end() && different.second == expected.end()));
        CHECK(out.gaps_are_untouched());
    }
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

GPU_TEST_CASE("gpu: transforms give the bytes that define them, for images of every shape") {
    for (const test::ImageSet& set : test::image_sets())
        for (const std::string& text : test::transform_texts(set)) {
            CAPTURE(set.name);
            CAPTURE(text);
            const FittedTransform fitted =
                cpu::fit(parse_transform("--transform", text), set.rows(), set.shape, 2);
            check_on_device(fitted, set.images, (set.images.n + 2) / 3);
        }
    // Many of 28 x 28 in launches of 100 and in one, and the largest that hog takes.
    const auto check = [](const char* text, const test::Rows& images, ImageShape shape,
                          std::int64_t reserved = 100) {
        const FittedTransform fitted = cpu::fit(parse_transform("--transform", text),
                                                {images.pixels.data(), images.n, images.dim}, shape, 2);
        check_on_device(fitted, images, reserved);
    };
    check("gradients", test::sparse(5000, 784, 3, 4), {28, 28}, 5000);
    for (const char* text : {"deskew:2", "blur:20,normalize", "hog", "gradients", "gradients,pca:3"})
        check(text, test::sparse(331, 784, 3, 4), {28, 28});
    for (const char* text : {"hog", "gradients"})
        check(text, test::sparse(9, 170 * 170, 5, 8), {170, 170});
}

GPU_TEST_CASE("gpu: projections of long rows") {
    const std::int64_t n = 70, n_out = 130, dim = 4096;
    std::mt19937 random(5);
    Projection projection{.n_out = n_out, .dim = dim, .weights = {}, .centers = {}, .scale = 40'000};
    for (std::int64_t i = 0; i < n_out * dim; ++i)
        projection.weights.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 801) - 400));
    for (std::int64_t i = 0; i < n_out; ++i)
        projection.centers.push_back(static_cast<std::int32_t>(random() % 2'000'001) - 1'000'000);
    FittedTransform fitted{.spec = {}, .image = {64, 64}, .steps = {}};
    append_step(fitted, {TransformKind::pca, static_cast<double>(n_out)}, projection);
    check_on_device(fitted, test::sparse(n, dim, 9, 2), 33);
}

GPU_TEST_CASE("gpu: the fused kernel computes gradients of 28 x 28 pixels, others any shape") {
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

GPU_TEST_CASE("gpu: quick roots and quotients are those of the definition") {
    const Histograms histograms = gradient_histograms({28, 28});
    const gpu::DeviceBuffer<unsigned long long> wrong(1);
    gpu::fill(wrong, 0, "clearing");
    compare_roots<<<(1 << 16) + 1, 256>>>(histograms.numerator, histograms.offset, wrong.d_data());
    gpu::check_launch("comparing roots");
    CHECK(test::to_host(wrong).front() == 0);
}

GPU_TEST_CASE("gpu: transforms refuse arrays of another shape") {
    const std::int64_t n = 7;
    const test::Rows images = test::random_rows(n, 15, 1);
    const auto in = test::to_device(images.pixels, n, 15), out = test::to_device(TestBytes(n * 15), n, 15);
    const gpu::Stream stream;
    CHECK(gpu::DeviceTransform().is_raw());
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
    CHECK(test::to_host(out.rows()) == test::features_of(fitted, {images.pixels.data(), n, 15}).pixels);
}

}  // namespace knn
