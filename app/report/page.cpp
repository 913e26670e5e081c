#include "app/report/page.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/report/json.h"
#include "app/report/plot.h"
#include "app/report/text.h"
#include "classifier/confidence.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

using nlohmann::json;

constexpr std::int64_t max_page_digits = 1'000;

/// Each text in it: names of classes may hold anything.
void make_harmless(json& value) {
    if (value.is_string())
        value = harmless(value.get_ref<const std::string&>());
    else if (value.is_structured())
        std::ranges::for_each(value, make_harmless);
}

/// As many as fit in a page, the surest first where not all do.
std::vector<std::int64_t> fitting(const Evaluation& evaluation, std::vector<std::int64_t> images) {
    const std::int64_t neighbors = std::min<std::int64_t>(evaluation.found.neighbors.k, max_page_neighbors);
    const std::int64_t capacity =
        std::min(page_capacity(evaluation.data->test.dim(), neighbors), max_page_digits);
    if (std::ssize(images) <= capacity) return images;
    std::ranges::stable_sort(images, std::greater(),
                             [&](std::int64_t image) { return evaluation.confidence[at(image)]; });
    images.resize(at(capacity));
    return images;
}

/// What confidences are worth: how often answers are right that are so sure. Empty without test images.
std::string trust_plot(const Evaluation& evaluation) {
    const std::vector<std::uint8_t> right = right_answers(evaluation);
    if (right.empty()) return svg_of(0, 0, "");
    const Calibration found = calibration(evaluation.confidence, right);
    Panel reliability{
        .title = "How often answers are right that are so sure",
        .x_label = "mean confidence, %",
        .y_label = "right, %",
        .log_x = false,
        .log_y = false,
        .lines = {{"answers", {}}, {"if confidences were exact", {{0, 0, 0, 0}, {100, 100, 100, 100}}}},
        .notes = {"expected calibration error " + percent(found.expected_calibration_error, 2) +
                  " in 15 equal intervals"}};
    for (const CalibrationBin& bin : found.bins) {
        if (bin.count == 0) continue;
        const Interval between = wilson_interval(std::llround(bin.accuracy * double(bin.count)), bin.count);
        reliability.lines[0].points.push_back(
            {100 * bin.confidence, 100 * bin.accuracy, 100 * between.low, 100 * between.high});
    }

    return draw_panels("Confidence", {}, {reliability});
}

/// Collects images of rows × cols pixels, which must outlive it, as tiles of one picture.
class Sprite {
  public:
    Sprite(int rows, int cols)
        : rows_(rows), cols_(cols), columns_(std::clamp(2048 / std::max(cols, 1), 1, 64)) {}

    /// The tile of image `index` of `images`; the same image gets the same tile.
    std::int64_t tile(const LabeledImages& images, std::int64_t index) {
        const std::uint8_t* first = images.images().row(index);
        const auto [place, fresh] = numbers_.try_emplace(first, std::ssize(tiles_));
        if (fresh) tiles_.push_back(first);
        return place->second;
    }

    int columns() const { return columns_; }

    /// The picture: tiles in order, row by row. At least one row, because a PNG cannot be empty.
    std::vector<std::uint8_t> png() const {
        const auto across = static_cast<std::size_t>(columns_);
        const auto rows = static_cast<std::size_t>(rows_), cols = static_cast<std::size_t>(cols_);
        const std::size_t down =
            static_cast<std::size_t>(std::max<std::int64_t>(1, divide_up(std::ssize(tiles_), columns_)));
        const std::size_t width = across * cols;
        std::vector<std::uint8_t> pixels(width * down * rows);
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            std::uint8_t* corner = pixels.data() + i / across * rows * width + i % across * cols;
            for (std::size_t row = 0; row < rows; ++row)
                std::copy_n(tiles_[i] + row * cols, cols, corner + row * width);
        }
        return encode_png(pixels.data(), static_cast<int>(down * rows), static_cast<int>(width), 1);
    }

  private:
    int rows_, cols_, columns_;
    std::vector<const std::uint8_t*> tiles_;
    std::map<const std::uint8_t*, std::int64_t> numbers_;
};

json gallery_json(const PageDigits& page, Sprite& sprite) {
    json classes = json::array(), list = json::array();
    for (const std::string& name : page.data.classes)
        classes.push_back(class_text(name));
    for (const PageDigit& digit : page.digits) {
        json votes = json::array();
        for (const auto& [label, share] : digit.votes)
            votes.push_back({{"label", label}, {"share", share}});
        const auto nearest = digit.neighbors.first(
            std::min(digit.neighbors.size(), static_cast<std::size_t>(max_page_neighbors)));
        json neighbors = neighbors_json(nearest, page.train_labels, page.method.neighbor_measure());
        for (std::size_t i = 0; i < nearest.size(); ++i)
            neighbors[i]["tile"] = sprite.tile(page.data.train, nearest[i].index);
        list.push_back({{"index", digit.index},
                        {"label", digit.label},
                        {"predicted", digit.predicted},
                        {"confidence", digit.confidence},
                        {"tile", sprite.tile(page.shown, digit.index)},
                        {"votes", std::move(votes)},
                        {"neighbors", std::move(neighbors)}});
    }
    return {{"title", page.title},           {"order", page.order},
            {"total", page.total},           {"labels", page.data.labels},
            {"classes", std::move(classes)}, {"distance", distance_name(page.method)},
            {"digits", std::move(list)}};
}

void put_32(std::vector<std::uint8_t>& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// Length, type, data, and the checksum of type and data (PNG specification, section 5.3).
void put_chunk(std::vector<std::uint8_t>& out, std::string_view type, const std::vector<std::uint8_t>& data) {
    put_32(out, static_cast<std::uint32_t>(data.size()));
    const std::size_t begin = out.size();
    out.insert(out.end(), type.begin(), type.end());
    out.insert(out.end(), data.begin(), data.end());
    put_32(out, static_cast<std::uint32_t>(crc32_z(0, out.data() + begin, out.size() - begin)));
}

/// Rows with filter type 0 ("none"), deflated: digits are mostly flat background, where filters do not help.
std::vector<std::uint8_t> deflated_rows(const std::uint8_t* pixels, std::size_t rows, std::size_t row_bytes) {
    z_stream stream = {};
    const auto check = [](int status, int expected) {
        if (status != expected)
            throw DataError("PNG: zlib could not compress the pixels; more free memory was expected");
    };
    check(deflateInit(&stream, Z_BEST_COMPRESSION), Z_OK);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
    std::vector<std::uint8_t> packed(deflateBound(&stream, static_cast<uLong>(rows * (row_bytes + 1))));
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    std::vector<std::uint8_t> row(row_bytes + 1);
    for (std::size_t i = 0; i < rows; ++i) {
        throw_if_stopped();
        std::copy_n(pixels + i * row_bytes, row_bytes, row.begin() + 1);
        stream.next_in = row.data();
        stream.avail_in = static_cast<uInt>(row.size());
        check(deflate(&stream, Z_NO_FLUSH), Z_OK);
    }
    check(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    return packed;
}

}  // namespace

std::int64_t page_capacity(std::int64_t dim, std::int64_t neighbors) {
    constexpr std::int64_t max_pixels = 12 << 20;  // mobile browsers refuse images above 16 megapixels
    return std::max<std::int64_t>(1, max_pixels / ((1 + neighbors) * std::max<std::int64_t>(1, dim)));
}

PageDigit page_digit(const Evaluation& evaluation, std::int64_t image) {
    const std::span<const Neighbor> neighbors = evaluation.found.neighbors.row(image);
    const Method& method = evaluation.method;
    return {image,
            evaluation.truth(image),
            evaluation.predicted(image),
            evaluation.confidence[at(image)],
            vote_shares(neighbors, evaluation.data->train.labels.data(), method.vote.weights,
                        method.neighbor_measure()),
            neighbors};
}

std::string page_text(std::string_view html, json data, const PageDigits& digits,
                      const std::map<std::string, std::string>& parts) {
    Sprite sprite(digits.shown.rows, digits.shown.cols);
    data["gallery"] = gallery_json(digits, sprite);
    data["sprite"] = {{"columns", sprite.columns()}};
    make_harmless(data);
    std::string embedded = data.dump();  // labels can contain "</script>" or "<!--"
    for (std::size_t at = 0; (at = embedded.find('<', at)) != embedded.npos;)
        embedded.replace(at, 1, "\\u003c");
    const std::string picture = base64(sprite.png());
    std::map<std::string_view, std::string_view> values = {{"page.css", page_css}, {"page.js", page_js},
                                                           {"data", embedded},     {"sprite", picture},
                                                           {"headline", ""},       {"lead", ""}};
    for (const auto& [name, part] : parts)
        values[name] = part;
    std::string page;  // the template with each {{name}} replaced by its value, which is not searched again
    for (std::size_t open; (open = html.find("{{")) != html.npos;) {
        const std::size_t close = html.find("}}", open);
        page += html.substr(0, open);
        page += values.at(html.substr(open + 2, close - open - 2));
        html.remove_prefix(close + 2);
    }
    return page += html;
}

std::string base64(std::span<const std::uint8_t> bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL adds a final zero
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                         bytes.data(), static_cast<int>(bytes.size()))));
    return text;
}

Sheet sheet_of(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page) {
    const LabeledImages& test = evaluation.data->test;
    const std::int64_t all = std::ssize(gallery.images), begin = page * sheet_digits,
                       pages = sheet_pages(all);
    const std::string place =
        pages > 1 ? "page " + with_commas(page + 1) + " of " + with_commas(pages) + ", " : "";
    Sheet sheet{gallery.title,
                place + counted_of(all, std::max(gallery.found, all), "digit") + ", " +
                    short_method_text(evaluation.method) + ", accuracy " +
                    percent(evaluation.score.accuracy) + " on " + evaluation.data->name,
                "true label, predicted label, index, confidence",
                *evaluation.data,
                test,
                {},
                all};
    for (std::int64_t i = begin; i < std::min(begin + sheet_digits, all); ++i) {
        const std::int64_t image = gallery.images[static_cast<std::size_t>(i)];
        sheet.digits.push_back(
            {image, evaluation.truth(image), evaluation.predicted(image), evaluation.confidence[at(image)]});
    }
    return sheet;
}

Gallery misclassified(const Evaluation& evaluation) {
    Gallery gallery{{}, "Misclassified digits"};
    for (std::int64_t i = 0; i < evaluation.n_test; ++i)
        if (evaluation.predicted(i) != evaluation.truth(i)) gallery.images.push_back(i);
    return gallery;
}

std::string html_page(const Evaluation& evaluation, const Gallery& gallery) {
    for (const std::int64_t image : gallery.images)
        if (image < 0 || image >= evaluation.n_test)
            throw std::out_of_range("html_page: image " + std::to_string(image) + " was not classified");
    const Dataset& data = *evaluation.data;
    const std::string svg = trust_plot(evaluation);
    std::map<std::string, std::string> parts = page_tables(evaluation);
    parts["trust"] = base64({reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()});
    std::vector<PageDigit> digits;
    if (data.are_images())
        for (const std::int64_t image : fitting(evaluation, gallery.images))
            digits.push_back(page_digit(evaluation, image));
    json page = report_object(evaluation);
    page["dataset"].update({{"name", data.name}, {"source", data.source}});  // as they are, not for a path
    if (!evaluation.pictures.empty()) page["dataset"]["pictures"] = evaluation.pictures;
    const std::int64_t selected = std::ssize(gallery.images), found = std::max(gallery.found, selected);
    if (selected < found)
        page["words"]["held"] = std::ssize(digits) < selected
                                    ? "the most sure of the first " + with_commas(selected) + '.'
                                    : "the first ones; --limit takes more.";
    return page_text(page_html, std::move(page),
                     {gallery.title, gallery.order, found, std::move(digits), data, data.test,
                      data.train.labels.data(), evaluation.method},
                     parts);
}

std::vector<std::uint8_t> encode_png(const std::uint8_t* pixels, int rows, int cols, int channels) {
    const std::uint8_t color_type = channels == 1 ? 0 : 2;  // PNG specification, table 11.1
    std::vector<std::uint8_t> header;
    put_32(header, static_cast<std::uint32_t>(cols));
    put_32(header, static_cast<std::uint32_t>(rows));
    // 8 bits, color, deflate, standard filters, not interlaced
    header.insert(header.end(), {8, color_type, 0, 0, 0});

    std::vector<std::uint8_t> png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    put_chunk(png, "IHDR", header);
    put_chunk(png, "IDAT",
              deflated_rows(pixels, static_cast<std::size_t>(rows),
                            static_cast<std::size_t>(cols) * static_cast<std::size_t>(channels)));
    put_chunk(png, "IEND", {});
    return png;
}

}  // namespace knn
