#include "classifier/method.h"

#include <algorithm>
#include <array>

#include "data/core/errors.h"

namespace knn {

Problem Method::problem(const Training& training, std::int64_t n_query) const {
    const Rows& rows = training.rows;
    if (transform.is_raw()) return {rows.count, n_query, rows.dim, vote.k, measure};
    if (const Refusal why = refuse_transform(transform, training.shape, rows.count)) throw UsageError(*why);
    return {rows.count, n_query, output_dim(transform, training.shape), vote.k, measure};
}

std::span<const NamedMethod> methods() {
    static const std::array table{
        NamedMethod{"raw", "pixels, the papers' classifier", {}},
        NamedMethod{"gradients",
                    "gradient histograms of the deskewed image",
                    {.transform = {{{TransformKind::gradients, 0}}}}},
    };
    return table;
}

std::string_view name_of(const Method& method) {
    const auto found = std::find_if(methods().begin(), methods().end(),
                                    [&](const NamedMethod& one) { return one.method == method; });
    return found != methods().end() ? found->name : "custom";
}

}  // namespace knn
