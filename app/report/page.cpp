#include "app/report/page.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/png.h"
#include "data/core/round_up.h"

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

std::int64_t Sprite::tile(const LabeledImages& images, std::int64_t index) {
    const std::uint8_t* first = images.images().row(index);
    const auto [place, fresh] = numbers_.try_emplace(first, std::ssize(tiles_));
    if (fresh) tiles_.push_back(first);
    return place->second;
}

int Sprite::columns() const {
    return std::clamp(2048 / std::max(cols_, 1), 1, 64);
}

std::vector<std::uint8_t> Sprite::png() const {
    const auto across = static_cast<std::size_t>(columns());
    const auto rows = static_cast<std::size_t>(rows_), cols = static_cast<std::size_t>(cols_);
    const std::size_t down =
        static_cast<std::size_t>(std::max<std::int64_t>(1, divide_up(std::ssize(tiles_), columns())));
    const std::size_t width = across * cols;
    std::vector<std::uint8_t> pixels(width * down * rows);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        std::uint8_t* corner = pixels.data() + i / across * rows * width + i % across * cols;
        for (std::size_t row = 0; row < rows; ++row)
            std::copy_n(tiles_[i] + row * cols, cols, corner + row * width);
    }
    return gray_png(pixels.data(), static_cast<int>(down * rows), static_cast<int>(width));
}

std::int64_t page_capacity(std::int64_t dim, std::int64_t neighbors) {
    constexpr std::int64_t max_pixels = 12 << 20;  // mobile browsers refuse images above 16 megapixels
    return std::max<std::int64_t>(1, max_pixels / ((1 + neighbors) * std::max<std::int64_t>(1, dim)));
}

nlohmann::json digit_json(const PageDigit& digit, const PageImages& images, Sprite& sprite) {
    nlohmann::json votes = nlohmann::json::array();
    for (const auto& [label, share] : digit.votes)
        votes.push_back({{"label", label}, {"share", share}});
    const auto nearest =
        digit.neighbors.first(std::min(digit.neighbors.size(), static_cast<std::size_t>(max_page_neighbors)));
    nlohmann::json neighbors = neighbors_json(nearest, images.train_labels, images.measure);
    for (std::size_t i = 0; i < nearest.size(); ++i)
        neighbors[i]["tile"] = sprite.tile(images.train, nearest[i].index);
    return {{"index", digit.index},
            {"label", digit.label},
            {"predicted", digit.predicted},
            {"confidence", digit.confidence},
            {"tile", sprite.tile(images.shown, digit.index)},
            {"votes", std::move(votes)},
            {"neighbors", std::move(neighbors)}};
}

std::string page_text(std::string_view html, std::string_view js, nlohmann::json& data, const Sprite& sprite,
                      std::string_view svg) {
    data["sprite"] = {{"columns", sprite.columns()}};
    const std::string embedded = script_safe(data), picture = base64(sprite.png()),
                      plot = base64({reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()});
    return filled(
        html,
        {{"page.css", page_css}, {"page.js", js}, {"data", embedded}, {"sprite", picture}, {"trust", plot}});
}

std::string base64(std::span<const std::uint8_t> bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL adds a final zero
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                         bytes.data(), static_cast<int>(bytes.size()))));
    return text;
}

}  // namespace knn
