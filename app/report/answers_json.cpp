#include <nlohmann/json.hpp>

#include "app/report/answers.h"
#include "app/report/distance.h"
#include "app/report/json.h"
#include "app/report/report_path.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

/// Adds the members of one digit to `json`.
void add_answer(Json& json, const Answer& answer, const PictureAnswers& answers) {
    json["digit"] = answer.label ? Json(*answer.label) : Json();
    if (!answer.label) json["reason"] = answer.reason;
    json["confidence"] = answer.confidence;
    json["vote_share"] = answer.vote_share;
    json["usual"] = answer.usual;
    json["votes"] = Json::object();
    for (const auto& [label, count] : answer.votes)
        json["votes"][std::to_string(label)] = count;
    json["neighbors"] = Json::array();
    for (const Neighbor& neighbor : answer.neighbors)
        json["neighbors"].push_back(
            {{"index", neighbor.index},
             {"label", answers.labels[neighbor.index]},
             {"distance", distance_json(answers.method.neighbor_measure(), neighbor.distance)}});
    const Box& box = answer.image.box;
    json["box"] = {box.x, box.y, box.w, box.h};
    if (answers.pages) json["row"] = answer.image.row;
    if (answers.pixels) json["pixels"] = answer.image.pixels;
}

}  // namespace

std::string answers_json(const PictureAnswers& answers) {
    Json list = Json::array();
    for (const PictureAnswer& picture : answers.pictures) {
        Json one = {{"file", name_in_answers(picture.file)}};
        if (answers.expected) one["expected"] = picture.expected ? Json(*picture.expected) : Json();
        if (!picture.error.empty()) {
            one["error"] = picture.error;
        } else if (answers.pages) {
            one["digits"] = Json::array();
            for (const Answer& digit : picture.digits) {
                one["digits"].push_back(Json::object());
                add_answer(one["digits"].back(), digit, answers);
            }
        } else {
            add_answer(one, picture.digits.at(0), answers);
        }
        list.push_back(one);
    }
    return json_text(list);
}

}  // namespace knn
