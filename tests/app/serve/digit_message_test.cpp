#include "app/serve/digit_message.h"

#include "data/core/errors.h"
#include "tests/support/test.h"

using namespace knn;
using namespace knn::web;

namespace {

DigitImage numbered(int number) {
    DigitImage digit;
    digit.pixels.fill(static_cast<std::uint8_t>(number));
    digit.box = {number, number + 1, number + 2, number + 3};
    digit.row = number;
    return digit;
}

FoundDigits sample_found() {
    FoundDigits found{30, 40, {numbered(1), numbered(2)}};
    found.digits[0].smaller = numbered(7).pixels;
    found.digits[1].refused = "the picture is blank";
    found.digits[1].hypotheses = {{numbered(3), numbered(4)}, {numbered(5)}};
    return found;
}

}  // namespace

TEST_CASE("the message of a picture's digits is read as it was written") {
    const std::string message = message_of(sample_found());
    const FoundDigits read = read_message(message);
    CHECK(read.rows == 30);
    CHECK(read.cols == 40);
    REQUIRE(read.digits.size() == 2);
    CHECK(read.digits[0].smaller == sample_found().digits[0].smaller);
    CHECK(read.digits[1].refused == "the picture is blank");
    REQUIRE(read.digits[1].hypotheses.size() == 2);
    CHECK(read.digits[1].hypotheses[0][1].pixels == numbered(4).pixels);
    CHECK(message_of(read) == message);
}

TEST_CASE("a message that is cut or longer is refused, and one with other bytes does no harm") {
    std::string message = message_of(sample_found());
    const auto refused = [](const std::string& bytes) {
        return !test::error_of<DataError>([&] { read_message(bytes); }).empty();
    };
    for (std::size_t cut = 0; cut < message.size(); ++cut)
        if (!refused(message.substr(0, cut))) FAIL("accepted when cut at " << cut);
    CHECK(refused(message + '\0'));
    for (std::size_t at = 0; at < message.size(); ++at) {
        const char kept = std::exchange(message[at], '\xff');
        (void)refused(message);  // the sanitizers watch
        message[at] = kept;
    }
}
