/// Files of --method: what is read comes back when it is written.

#include <string>

#include "classifier/method.h"
#include "data/core/errors.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using knn::test::require;
    const knn::test::Input input(data, size);
    knn::Method method;
    try {
        method = knn::parse_method_text(input.text(), "input");
    } catch (const knn::DataError&) {
        return 0;
    }
    const std::string text = knn::method_text(method);
    const knn::Method again = knn::parse_method_text(text, "text");  // throws: a failure
    require(knn::method_text(again) == text, "a method that is read again has the same text");
    require(again == method, "a method that is read again is the same");
    return 0;
}
