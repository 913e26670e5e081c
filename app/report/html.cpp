#include "app/report/html.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/report/page_data.h"
#include "app/report/page_files.h"
#include "app/report/page_text.h"
#include "app/report/sprite.h"
#include "app/report/trust_plot.h"

namespace knn {

Gallery misclassified(const Evaluation& evaluation) {
    Gallery gallery{{}, "Misclassified digits"};
    for (std::int64_t i = 0; i < evaluation.n_test; ++i)
        if (evaluation.found.votes[static_cast<std::size_t>(i)].label !=
            evaluation.data->test.labels.data()[i])
            gallery.images.push_back(i);
    return gallery;
}

std::string html_page(const Evaluation& evaluation, const Gallery& gallery) {
    for (const std::int64_t image : gallery.images)
        if (image < 0 || image >= evaluation.n_test)
            throw std::out_of_range("html_page: image " + std::to_string(image) + " was not classified");
    Sprite sprite(evaluation.data->test.rows, evaluation.data->test.cols);
    const nlohmann::json data = page_data(evaluation, gallery, sprite);
    return page_text(page_html, page_js, data, sprite, svg_of(trust_plot(evaluation)));
}

std::string html_page(const Evaluation& evaluation) {
    return html_page(evaluation, misclassified(evaluation));
}

}  // namespace knn
