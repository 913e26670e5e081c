#include "app/serve/routes.h"

#include <algorithm>
#include <charconv>

#include "app/report/answers.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "data/core/format.h"
#include "data/file/byte_source.h"
#include "data/picture/digit_image.h"
#include "data/vectors/vectors.h"

namespace knn::web {

namespace {

constexpr std::size_t image_size = DigitImage::Pixels{}.size();

/// As HTML forms encode it: "+" is a blank, %41 is A.
std::string decoded_text(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        if (text[i] == '%') {
            const char* const digits = text.data() + i + 1;
            if (text.size() - i < 3 || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
                throw Problem(400, "The query has a percent sign without two hexadecimal digits behind it.");
            i += 2;
        } else {
            value = static_cast<unsigned char>(text[i] == '+' ? ' ' : text[i]);
        }
        result += static_cast<char>(value);
    }
    return result;
}

/// The part of `text` before `end`, which is removed with it; all of it if there is no end.
std::string_view take_until(std::string_view& text, std::string_view end) {
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), part.size() + end.size()));
    return part;
}

std::string npy_pixels(std::string_view body) {
    const std::string expected = "; expected uint8 of shape (n, 28, 28) or (n, 784)";
    const auto next = [&](std::span<std::uint8_t> out) {
        const std::size_t n = body.copy(reinterpret_cast<char*>(out.data()), out.size());
        body.remove_prefix(n);
        return n;
    };
    ByteSource source(next, body.size(), "The .npy file", "");
    try {
        const VectorSet set = read_vectors(source);
        const bool has_shape = !set.are_images() || (set.shape.rows == 28 && set.shape.cols == 28);
        if (set.type != ElementType::uint8 || set.dim != std::int64_t{image_size} || !has_shape)
            source.fail("has elements of another type, or rows of another size");
        return {reinterpret_cast<const char*>(set.elements.data()), set.elements.size()};
    } catch (const DataError& error) {
        const std::string reason = error.what();
        throw Problem(400, reason.substr(0, reason.find("; expected ")) + expected + '.');
    }
}

using Json = nlohmann::ordered_json;

std::string base64_of(const Rows& images, std::int64_t image) {
    return base64({images.row(image), static_cast<std::size_t>(images.dim)});
}

void add_neighbor_pixels(Json& neighbors, const Rows& train) {
    for (Json& neighbor : neighbors)
        neighbor["pixels"] = base64_of(train, neighbor["index"].get<std::int64_t>());
}

}  // namespace

Parameters::Parameters(std::string_view query, std::initializer_list<std::string_view> names) {
    while (!query.empty()) {
        std::string_view value = take_until(query, "&");
        const std::string name = decoded_text(take_until(value, "="));
        if (std::ranges::count(names, name) == 0)
            throw Problem(400, "The query has the unknown parameter '" + harmless(name) + "'.");
        if (!values_.emplace(name, decoded_text(value)).second)
            throw Problem(400, "The query has the parameter '" + name + "' twice.");
    }
}

int Parameters::number(const std::string& name, int low, int high, int otherwise) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    const auto value = number_of<int>(found->second);
    if (!value || *value < low || *value > high)
        throw Problem(400, "The parameter '" + name + "' has no whole number from " + std::to_string(low) +
                               " to " + std::to_string(high) + ".");
    return *value;
}

std::string pixels_of(std::string body) {
    std::string pixels = body.starts_with("\x93NUMPY") ? npy_pixels(body) : std::move(body);
    if (pixels.empty() || pixels.size() % image_size != 0)
        throw Problem(400, "The body has " + with_commas(std::ssize(pixels)) +
                               " bytes of pixels; expected 784 for each image, at least one.");
    return pixels;
}

std::string classify_body(const PictureAnswers& answers, int limit, bool neighbor_pixels) {
    Json json = answers_object(answers);
    const PictureAnswer& picture = answers.pictures.at(0);
    Json& one = json["pictures"][0];
    one["width"] = picture.cols;
    one["height"] = picture.rows;
    if (answers.pages) one["lines"] = page_lines(picture);
    for (std::size_t i = 0; i < picture.digits.size(); ++i) {
        Json& digit = answers.pages ? one["digits"][i] : one;
        Json& neighbors = digit["neighbors"];
        const auto most = static_cast<std::size_t>(limit);
        if (limit > 0 && neighbors.size() > most)
            neighbors.erase(neighbors.begin() + static_cast<std::ptrdiff_t>(most), neighbors.end());
        if (neighbor_pixels) add_neighbor_pixels(neighbors, answers.train);
        digit["pixels"] = base64(picture.digits[i].image.pixels);
    }
    return json.dump() + '\n';
}

std::string predict_body(const std::vector<Predicted>& answers) {
    const auto list = [&](const auto& text_of) { return '[' + joined(answers, text_of, ",") + ']'; };
    return "{\"digits\":" + list([](const Predicted& one) { return std::to_string(one.digit); }) +
           ",\"confidence\":" + list([](const Predicted& one) { return shortest(one.confidence); }) +
           ",\"rejected\":" + list([](const Predicted& one) { return one.rejected ? "true" : "false"; }) +
           "}\n";
}

std::string confusion_body(const Evaluation& evaluation) {
    const Score& score = evaluation.score;
    Json json = json_head("mnist-knn/confusion/1");
    json["method"] = name_of(evaluation.method);
    json["labels"] = score.labels;
    json["matrix"] = score.confusion;
    json["correct"] = score.correct;
    json["total"] = score.total;
    json["accuracy"] = score.accuracy;
    return json.dump() + '\n';
}

std::vector<std::int64_t> mistakes_of(const Evaluation& evaluation, int truth, int predicted) {
    std::vector<std::int64_t> images = misclassified(evaluation).images;
    std::erase_if(images, [&](std::int64_t image) {
        return (truth >= 0 && truth != evaluation.truth(image)) ||
               (predicted >= 0 && predicted != evaluation.predicted(image));
    });
    std::ranges::stable_sort(images, std::greater(), [&](std::int64_t image) {
        return evaluation.confidence[static_cast<std::size_t>(image)];
    });
    return images;
}

std::string mistakes_body(const Evaluation& evaluation, const std::vector<std::int64_t>& images,
                          std::int64_t total) {
    Json json = json_head("mnist-knn/mistakes/1");
    json["total"] = total;
    json["digits"] = Json::array();
    const Rows train = evaluation.data->train.images();
    for (const std::int64_t image : images) {
        Json digit = {{"index", image},
                      {"label", evaluation.truth(image)},
                      {"predicted", evaluation.predicted(image)},
                      {"confidence", evaluation.confidence[static_cast<std::size_t>(image)]},
                      {"pixels", base64_of(evaluation.data->test.images(), image)}};
        digit["neighbors"] =
            neighbors_json(evaluation.found.neighbors.row(image), evaluation.data->train.labels.data(),
                           evaluation.method.neighbor_measure());
        add_neighbor_pixels(digit["neighbors"], train);
        json["digits"].push_back(std::move(digit));
    }
    return json.dump() + '\n';
}

}  // namespace knn::web
