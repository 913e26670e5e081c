#include "app/report/html.h"

#include <openssl/evp.h>

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "app/report/page_data.h"
#include "app/report/page_files.h"
#include "app/report/sprite.h"
#include "app/report/trust_plot.h"

namespace knn {

namespace {

std::string base64(const std::vector<std::uint8_t>& bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL adds a final zero
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                         bytes.data(), static_cast<int>(bytes.size()))));
    return text;
}

/// JSON that is safe inside a <script> element: file names can contain "</script>" or "<!--", and bytes that
/// are not UTF-8.
std::string script_safe(const nlohmann::json& value) {
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        if (c == '<')
            safe += "\\u003c";
        else
            safe += c;
    }
    return safe;
}

/// The template with each {{name}} replaced by its value; inserted text is not searched again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
    std::string result;
    for (std::size_t open; (open = text.find("{{")) != text.npos;) {
        const std::size_t close = text.find("}}", open);
        result += text.substr(0, open);
        result += values.at(text.substr(open + 2, close - open - 2));
        text.remove_prefix(close + 2);
    }
    return result += text;
}

}  // namespace

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
    const std::string data = script_safe(page_data(evaluation, gallery, sprite));
    const std::string picture = base64(sprite.png()), plot = svg_of(trust_plot(evaluation));
    const std::string trust = base64({plot.begin(), plot.end()});
    return filled(page_html, {{"page.css", page_css},
                              {"page.js", page_js},
                              {"data", data},
                              {"sprite", picture},
                              {"trust", trust}});
}

std::string html_page(const Evaluation& evaluation) {
    return html_page(evaluation, misclassified(evaluation));
}

}  // namespace knn
