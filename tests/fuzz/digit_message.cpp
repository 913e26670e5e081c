/// What the process that decodes pictures sends: any bytes are digits or are refused; written again they are the same digits.

#include "app/serve/digit_message.h"
#include "data/core/errors.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const knn::web::FoundDigits found =
            knn::web::read_message({reinterpret_cast<const char*>(data), size});
        const std::string message = knn::web::message_of(found);
        knn::test::require(message.size() == size, "it has as many bytes");
        knn::test::require(knn::web::message_of(knn::web::read_message(message)) == message,
                           "it stays the same");
    } catch (const knn::DataError&) {
    }
    return 0;
}
