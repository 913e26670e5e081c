#include "app/serve/routes.h"

#include "app/serve/http.h"
#include "tests/support/npy_bytes.h"
#include "tests/support/test.h"

using namespace knn;
using namespace knn::web;

namespace {

std::string npy(const std::string& shape, const std::string& pixels, const std::string& kind = "|u1") {
    return test::npy_of(kind, '(' + shape + ')', pixels);
}

template <class Work>
bool refuses(const Work& work) {
    return !test::error_of<knn::web::Problem>(work).empty();
}

bool refuses_pixels(const std::string& body) {
    return refuses([&] { pixels_of(body); });
}

}  // namespace

TEST_CASE("bodies: pixels as they are, and in .npy") {
    std::string pixels(2 * 784, '\0');
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<char>(i % 251);
    CHECK(pixels_of(pixels) == pixels);
    CHECK(pixels_of(npy("2, 28, 28", pixels)) == pixels);
    CHECK(pixels_of(npy("2, 784", pixels)) == pixels);
    const std::string one = npy("2, 784", pixels);
    for (std::size_t cut = 0; cut < one.size(); ++cut) {
        CAPTURE(cut);
        CHECK((refuses_pixels(one.substr(0, cut)) || cut == 784));
    }
    CHECK(refuses_pixels(""));
    CHECK(refuses_pixels(std::string(785, 'a')));
    CHECK(refuses_pixels(npy("3, 784", pixels)));
    for (const char* shape : {"28, 28, 2", "2, 56, 14", "2, 1, 784", "2, 784, 1"})
        CHECK(refuses_pixels(npy(shape, pixels)));
    CHECK(test::error_of<knn::web::Problem>([&] { pixels_of(npy("2, 784", pixels, "|b1")); }) ==
          "The .npy file: holds bool; expected uint8 of shape (n, 28, 28) or (n, 784).");
    CHECK(refuses_pixels(npy("1568,", pixels)));
    CHECK(refuses_pixels(npy("0, 784", "")));
    CHECK(refuses_pixels(npy("2, 784", pixels, "<f4")));
    CHECK(refuses_pixels(npy("18446744073709551617, 784", pixels)));
}

TEST_CASE("bodies: parameters") {
    const Parameters given("many=1&limit=%31%30", {"many", "limit", "first"});
    CHECK(given.flag("many"));
    CHECK(given.number("limit", 1, 100, 5) == 10);
    CHECK(given.number("first", 0, 9, 3) == 3);
    for (const char* query : {"other=1", "many=1&many=1", "many=%4", "many=%zz", "%", "=1"})
        CHECK(refuses([&] { Parameters(query, {"many"}); }));
    for (const char* query : {"many", "many=", "many=2", "many=-1", "many=1x", "many=99999999999"})
        CHECK(refuses([&] { Parameters(query, {"many"}).flag("many"); }));
}
