#include "app/serve/bodies.h"

#include <algorithm>

#include "app/report/answers.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn::web {

namespace {

using Json = nlohmann::ordered_json;

std::string base64_of(const Rows& images, std::int64_t image) {
    return base64({images.row(image), static_cast<std::size_t>(images.dim)});
}

void add_neighbor_pixels(Json& neighbors, const Rows& train) {
    for (Json& neighbor : neighbors)
        neighbor["pixels"] = base64_of(train, neighbor["index"].get<std::int64_t>());
}

template <class Write>
std::string list_of(const std::vector<Predicted>& answers, const Write& write) {
    std::string list = "[";
    for (const Predicted& answer : answers) {
        if (list.size() > 1) list += ',';
        write(list, answer);
    }
    return list + ']';
}

}  // namespace

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

std::string classify_page(const PictureAnswers& answers, const std::string& error) {
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>mnist-knn</title>\n<link rel=\"icon\" href=\"data:,\">\n"
        "<link rel=\"stylesheet\" href=\"/app.css\">\n<body>\n<main>\n<section class=\"panel\">\n"
        "<p class=\"program\">mnist-knn</p>\n";
    if (!error.empty()) {
        text += "<h1>No answer</h1>\n<p class=\"notice\">" + escaped(error) + "</p>\n";
    } else {
        const PictureAnswer& picture = answers.pictures.at(0);
        text += "<h1>" + escaped(digits_text(picture)) + "</h1>\n<pre class=\"rows\">";
        for (const std::string& line : page_lines(picture))
            text += escaped(line) + '\n';
        text += "</pre>\n";
        for (const Answer& digit : picture.digits)
            text += "<p>" +
                    escaped(symbol(digit) + ": " +
                            (digit.label ? "confidence " + percent(digit.confidence, 0) : digit.reason)) +
                    "</p>\n";
    }
    return text + "<p><a href=\"/\">Another picture</a></p>\n</section>\n</main>\n</body>\n</html>\n";
}

std::string predict_body(const std::vector<Predicted>& answers) {
    std::string text = "{\"digits\":";
    text +=
        list_of(answers, [](std::string& out, const Predicted& one) { out += std::to_string(one.digit); });
    text += ",\"confidence\":";
    text += list_of(answers, [](std::string& out, const Predicted& one) { out += shortest(one.confidence); });
    text += ",\"rejected\":";
    text += list_of(answers,
                    [](std::string& out, const Predicted& one) { out += one.rejected ? "true" : "false"; });
    return text + "}\n";
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
    std::vector<std::int64_t> images;
    for (std::int64_t image = 0; image < evaluation.n_test; ++image) {
        const int label = evaluation.truth(image), given = evaluation.predicted(image);
        if (label != given && (truth < 0 || truth == label) && (predicted < 0 || predicted == given))
            images.push_back(image);
    }
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
