#include "app/report/page_text.h"

#include <map>
#include <nlohmann/json.hpp>

#include "app/report/base64.h"
#include "app/report/page_files.h"

namespace knn {

namespace {

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

std::string page_text(std::string_view html, std::string_view js, const nlohmann::json& data,
                      const Sprite& sprite, std::string_view svg) {
    const std::string embedded = script_safe(data), picture = base64(sprite.png()),
                      plot = base64({svg.begin(), svg.end()});
    return filled(
        html,
        {{"page.css", page_css}, {"page.js", js}, {"data", embedded}, {"sprite", picture}, {"trust", plot}});
}

}  // namespace knn
