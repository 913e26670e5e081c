#include "data/core/sha256.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using knn::Sha256;

namespace {

std::string sum_of(const std::string& text, std::size_t piece) {
    Sha256 sum;
    for (std::size_t i = 0; i < text.size(); i += piece)
        sum.add(text.data() + i, std::min(piece, text.size() - i));
    return sum.hex();
}

}  // namespace

TEST_CASE("SHA-256 of the examples of FIPS 180-2, in pieces of any size") {
    for (const std::size_t piece : {1, 63, 64, 1000}) {
        CAPTURE(piece);
        CHECK(sum_of("", piece) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        CHECK(sum_of("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        CHECK(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece) ==
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        CHECK(sum_of(std::string(1'000'000, 'a'), piece) ==
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
