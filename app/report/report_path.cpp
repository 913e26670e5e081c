#include "app/report/report_path.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "data/core/format.h"

namespace knn {

std::string report_path(const std::filesystem::path& file) {
    std::string text;
    std::string_view rest = file.native();
    while (!rest.empty()) {
        const std::size_t length = rest[0] == '%' ? 0 : utf8_length(rest);
        if (length > 0) {
            text += rest.substr(0, length);
        } else {
            const auto byte = static_cast<unsigned char>(rest[0]);
            text += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
        }
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return text;
}

std::string name_in_answers(const std::string& file) {
    for (std::string_view rest = file; !rest.empty();) {
        const std::size_t length = utf8_length(rest);
        if (length == 0) return report_path(file);
        rest.remove_prefix(length);
    }
    return file;
}

std::filesystem::path path_in_report(const std::string& text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned byte = 0;
        const char* const digits = text.data() + i + 1;
        const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                             std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
        name += escaped ? static_cast<char>(byte) : text[i];
        if (escaped) i += 2;
    }
    return name;
}

}  // namespace knn
