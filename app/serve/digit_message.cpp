#include "app/serve/digit_message.h"

#include <cstring>
#include <type_traits>

#include "data/core/errors.h"

namespace knn::web {

namespace {

constexpr std::uint32_t max_digits = 100'000, max_hypotheses = 8, max_text = 1000;

template <class Value>
void put_value(std::string& out, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class List>
void put_size(std::string& out, const List& list) {
    put_value(out, static_cast<std::uint32_t>(list.size()));
}

void put_digits(std::string& out, const std::vector<DigitImage>& digits) {
    put_size(out, digits);
    for (const DigitImage& digit : digits) {
        put_value(out, digit.pixels);
        put_value(out, static_cast<std::uint8_t>(digit.smaller.has_value()));
        if (digit.smaller) put_value(out, *digit.smaller);
        for (const int value : {digit.box.x, digit.box.y, digit.box.w, digit.box.h, digit.row})
            put_value(out, value);
        put_size(out, digit.refused);
        out += digit.refused;
        put_size(out, digit.hypotheses);
        for (const std::vector<DigitImage>& hypothesis : digit.hypotheses)
            put_digits(out, hypothesis);
    }
}

class MessageReader {
  public:
    explicit MessageReader(std::string_view rest) : rest_(rest) {}

    std::string_view bytes(std::size_t size) {
        if (size > rest_.size()) refuse();
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    template <class Value>
    Value value() {
        Value result;
        std::memcpy(&result, bytes(sizeof result).data(), sizeof result);
        return result;
    }
    std::uint32_t size(std::uint32_t most) {
        const auto size = value<std::uint32_t>();
        if (size > most) refuse();
        return size;
    }
    /// `is_part`: of a hypothesis, which has none itself.
    std::vector<DigitImage> digits(bool is_part) {
        std::vector<DigitImage> read;
        for (std::uint32_t n = size(max_digits); n > 0; --n) {
            DigitImage& digit = read.emplace_back();
            digit.pixels = value<DigitImage::Pixels>();
            if (value<std::uint8_t>() != 0) digit.smaller = value<DigitImage::Pixels>();
            for (int* const number : {&digit.box.x, &digit.box.y, &digit.box.w, &digit.box.h, &digit.row})
                *number = value<int>();
            digit.refused = bytes(size(max_text));
            for (std::uint32_t k = size(is_part ? 0 : max_hypotheses); k > 0; --k) {
                digit.hypotheses.push_back(digits(true));
                if (digit.hypotheses.back().empty()) refuse();
            }
        }
        return read;
    }
    void end() const {
        if (!rest_.empty()) refuse();
    }

  private:
    [[noreturn]] static void refuse() {
        throw DataError("made the picture decoder send no digits; expected an undamaged picture");
    }

    std::string_view rest_;
};

}  // namespace

std::string message_of(const FoundDigits& found) {
    std::string message;
    put_value(message, found.rows);
    put_value(message, found.cols);
    put_digits(message, found.digits);
    return message;
}

FoundDigits read_message(std::string_view message) {
    MessageReader reader(message);
    FoundDigits found;
    found.rows = reader.value<int>();
    found.cols = reader.value<int>();
    found.digits = reader.digits(false);
    reader.end();
    return found;
}

}  // namespace knn::web
