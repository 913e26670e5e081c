#include "app/serve/bodies.h"

#include <algorithm>
#include <charconv>

#include "app/serve/http.h"
#include "data/core/format.h"
#include "data/picture/digit_image.h"

namespace knn::web {

namespace {

constexpr std::size_t image_size = DigitImage::Pixels{}.size();
constexpr std::size_t max_parts = 16;

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

/// The dictionary of an .npy file, as NumPy writes it, without blanks.
void check_npy(const std::string& head, std::size_t bytes) {
    constexpr std::string_view begin = "{'descr':'|u1','fortran_order':False,'shape':(";
    const auto refuse = [](const std::string& what) {
        throw Problem(
            400, "The .npy file " + what + "; expected uint8 of shape (n, 28, 28) or (n, 784), C order.");
    };
    if (!head.starts_with(begin)) refuse("has no such array");
    std::string_view rest = std::string_view(head).substr(begin.size());
    std::string_view shape = take_until(rest, ")");
    if (rest != ",}" && rest != "}") refuse("has a damaged head");
    const std::string_view count = take_until(shape, ",");
    if (shape != "28,28" && shape != "784") refuse("has another shape");
    if (bytes % image_size != 0 || number_of<std::size_t>(count) != bytes / image_size)
        refuse("has not as many bytes as its shape says");
}

/// The pixels behind the head of an .npy file (NumPy Enhancement Proposal 1).
std::string npy_pixels(const std::string& body) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(body.at(at)); };
    if (body.size() < 12) throw Problem(400, "The .npy file is cut short.");
    const bool is_first = byte(6) == 1;
    std::size_t length = byte(8) + 256u * byte(9);
    if (!is_first) length += 65'536u * byte(10) + 16'777'216u * byte(11);
    const std::size_t begin = is_first ? 10 : 12;
    if (length > body.size() - begin) throw Problem(400, "The .npy file is cut short.");
    std::string head = body.substr(begin, length);
    std::erase_if(head, [](char letter) { return letter == ' ' || letter == '\n'; });
    check_npy(head, body.size() - begin - length);
    return body.substr(begin + length);
}

/// The value of `name` in the fields of a part or of Content-Type: name="value" or name=value.
std::string quoted_value(std::string_view fields, const std::string& name) {
    std::size_t at = 0;
    while ((at = fields.find(name + '=', at)) != fields.npos && at > 0 && fields[at - 1] != ' ' &&
           fields[at - 1] != ';')
        at += name.size();
    if (at == fields.npos) return "";
    fields.remove_prefix(at + name.size() + 1);
    if (fields.starts_with('"')) {
        fields.remove_prefix(1);
        return std::string(fields.substr(0, fields.find('"')));
    }
    return std::string(fields.substr(0, fields.find_first_of("; \r\n")));
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

std::map<std::string, std::string> form_fields(std::string_view content_type, std::string_view body) {
    const std::string boundary = quoted_value(content_type, "boundary");
    if (boundary.empty() || boundary.size() > 70) throw Problem(400, "The form has no usable boundary.");
    const std::string separator = "\r\n--" + boundary;
    std::map<std::string, std::string> fields;
    if (!body.starts_with(std::string_view(separator).substr(2)))
        throw Problem(400, "The form does not begin with its boundary.");
    body.remove_prefix(separator.size() - 2);
    while (!body.starts_with("--")) {
        if (!body.starts_with("\r\n") || body.find(separator) == body.npos)
            throw Problem(400, "The form is cut short.");
        std::string_view part = take_until(body, separator);
        const std::size_t end = part.find("\r\n\r\n");
        if (end == part.npos) throw Problem(400, "A part of the form has no head.");
        const std::string name = quoted_value(part.substr(0, end), "name");
        fields[name] = std::string(part.substr(end + 4));
        if (fields.size() > max_parts) throw Problem(400, "The form has more than 16 fields.");
    }
    return fields;
}

}  // namespace knn::web
