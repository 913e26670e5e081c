#include "gpu/runtime/check.h"
#include "gpu/transform/step.h"

// One line per kernel of a transform; the first that takes a step is used.
#define TRANSFORMS(ROW) \
    ROW(gradients)      \
    ROW(deskew)         \
    ROW(normalize)      \
    ROW(blur)           \
    ROW(projection)     \
    ROW(histograms)

namespace knn::gpu {

#define ROW(name) extern const TransformKernel name##_transform;
TRANSFORMS(ROW)
#undef ROW

namespace {
#define ROW(name) &name##_transform,
const TransformKernel* const table[] = {TRANSFORMS(ROW)};
#undef ROW
}  // namespace

std::span<const TransformKernel* const> transform_table() {
    return table;
}

void check_arrays(Steps steps, const StepArrays& arrays) {
    const auto fits = [](const ByteRows& rows, std::int64_t dim) {
        return rows.cols == dim && rows.pitch_bytes >= static_cast<std::size_t>(dim);
    };
    require(!steps.empty() && arrays.in.n == arrays.out.n && arrays.in.n >= 1 &&
                fits(arrays.in, steps.front().dim_in) && fits(arrays.out, steps.back().dim_out),
            "images and features of the steps' shape");
}

}  // namespace knn::gpu
