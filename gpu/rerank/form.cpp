#include "gpu/rerank/form.h"

namespace knn::gpu {

namespace {

GradientForm gradient_form(const DescriptorLayout& layout, bool special) {
    GradientForm form;
    form.image = layout.image;
    for (int a = 0; a < gradient_step; ++a)
        for (int b = 0; b < gradient_step; ++b) {
            const int plane = a * gradient_step + b;
            form.planes[plane] = special ? plane * side28 * pitch28 : layout.plane(a, b);
            form.pitch[b] = special ? pitch28 : layout.plane_cols(b);
        }
    form.bytes = special ? bytes28 : layout.gradient_bytes();
    return form;
}

CellForm cell_form(const DescriptorLayout& layout, bool special) {
    const int cols = layout.cell_cols();
    return {.rows = layout.cell_rows(),
            .cols = cols,
            .first = special ? 1 : 0,
            .pitch = special ? pitch28 : cols,
            .bytes = special ? bytes28 : layout.cell_bytes()};
}

}  // namespace

bool takes_28(ImageShape image) {
    return image.rows == 28 && image.cols == 28;
}

DescriptorForm::DescriptorForm(const Rerank& rerank, ImageShape image, bool plain) {
    const DescriptorLayout layout(image, rerank);
    if (layout.has_gradients) gradients = gradient_form(layout, !plain && takes_28(image));
    if (layout.has_cells) cells = cell_form(layout, !plain && takes_28(image));
}

}  // namespace knn::gpu
