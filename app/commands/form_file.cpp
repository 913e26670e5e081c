#include "app/commands/pictures.h"

#include <algorithm>
#include <set>
#include <span>

#include "app/report/json_part.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

constexpr std::int64_t most_digits = 100;
constexpr std::size_t most_boxes = 2'500;
constexpr std::size_t longest_name = 100;  ///< bytes; the names of all fields are padded to the longest

/// [x, y, width, height] within `width` × `height`, as parts of these.
FormBox read_box(const JsonPart& part, double width, double height) {
    const std::vector<JsonPart> numbers = part.items();
    if (numbers.size() != 4) part.wrong("not four numbers: x, y, width, height");
    const FormBox box{numbers[0].number() / width, numbers[1].number() / height, numbers[2].number() / width,
                      numbers[3].number() / height};
    constexpr double slack = 1e-9;
    if (!(box.x >= 0 && box.y >= 0 && box.w > 0 && box.h > 0 && box.x + box.w <= 1 + slack &&
          box.y + box.h <= 1 + slack))
        part.wrong("not within the form's size");
    return box;
}

/// A digit is read in one box alone. Boxes side by side may overlap by a tenth.
void check_apart(const JsonPart& part, const Form& form, std::size_t first) {
    constexpr double most = 0.1;
    const auto shared = [](double begin, double length, double other, double other_length) {
        return std::max(0.0, std::min(begin + length, other + other_length) - std::max(begin, other));
    };
    for (const FormBox& one : std::span(form.boxes).subspan(first))
        for (const FormBox& other : std::span(form.boxes).first(first))
            if (shared(one.x, one.w, other.x, other.w) * shared(one.y, one.h, other.y, other.h) >
                most * std::min(one.w * one.h, other.w * other.h))
                part.wrong("over the box of another field, so that a digit would be in both");
}

double positive(const JsonPart& part) {
    const double number = part.number();
    if (!(number > 0)) part.wrong("not above 0");
    return number;
}

void read_field(const JsonPart& part, double width, double height, Form& form) {
    part.check_keys({"name", "box", "digits", "boxes", "allowed", "checksum"});
    FormField field;
    field.name = part.at("name").text();
    if (field.name.empty() || field.name.size() > longest_name)
        part.at("name").wrong("not 1 to 100 bytes long");
    field.first_box = form.boxes.size();
    const FormBox box = read_box(part.at("box"), width, height);
    if (part.has("digits")) field.digits = static_cast<int>(part.at("digits").whole(1, most_digits));
    if (part.has("boxes")) field.n_boxes = static_cast<std::size_t>(part.at("boxes").whole(1, most_digits));
    if (part.has("boxes") && field.digits > static_cast<int>(field.n_boxes))
        part.at("digits").wrong("more than its boxes, with one digit in each");
    if (part.has("allowed")) field.allowed = part.at("allowed").text();
    const std::set<char> allowed(field.allowed.begin(), field.allowed.end());
    if (allowed.empty() || allowed.size() != field.allowed.size() ||
        field.allowed.find_first_not_of("0123456789") != std::string::npos)
        part.at("allowed").wrong("not some of the digits 0 to 9, each once");
    if (part.has("checksum")) field.checksum = part.at("checksum").named_value<Checksum>();
    const double step = box.w / double(field.n_boxes);
    for (std::size_t i = 0; i < field.n_boxes; ++i)
        form.boxes.push_back({box.x + double(i) * step, box.y, step, box.h, part.has("boxes")});
    form.fields.push_back(std::move(field));
}

}  // namespace

Form read_form(const std::string& file) {
    const JsonSource source{file, "a template as docs/classify.md has it"};
    const nlohmann::json root = source.parse(read_text(file, 1 << 20, source.expected));
    const JsonPart part(source, root);
    part.check_keys({"schema", "frame", "size", "fields"});
    part.check_schema("mnist-knn/template/1");
    Form form;
    if (part.has("frame")) form.frame = part.at("frame").named_value<FormFrame>();
    double width = 1, height = 1;
    if (part.has("size")) {
        const std::vector<JsonPart> size = part.at("size").items();
        if (size.size() != 2) part.at("size").wrong("not two numbers: width, height");
        width = positive(size[0]), height = positive(size[1]);
    }
    std::set<std::string> names;
    for (const JsonPart& field : part.at("fields").items()) {
        read_field(field, width, height, form);
        if (form.boxes.size() > most_boxes) source.fail("has more than 2,500 boxes");
        check_apart(field.at("box"), form, form.fields.back().first_box);
        if (!names.insert(form.fields.back().name).second) field.wrong("one of two with the same name");
    }
    if (form.fields.empty()) source.fail("has no fields");
    return form;
}

}  // namespace knn
