#include "data/file/byte_source.h"

#include "data/core/errors.h"
#include "data/set/idx.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("byte source: pieces of any size give the same images, with a known size and without") {
    const std::string plain = test::idx_images(30, 20, 17);
    const std::string twice = test::gzip(plain.substr(0, 700)) + test::gzip(plain.substr(700));
    for (const std::string& content : {plain, test::gzip(plain), twice})
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}, content.size()})
            for (const bool known : {true, false}) {
                CAPTURE(piece);
                CAPTURE(known);
                std::optional<std::uint64_t> bytes;
                if (known) bytes = content.size();
                ByteSource source(test::in_pieces(content, piece), bytes, "a pipe", "IDX");
                CHECK(source.is_gzip() == (content != plain));
                const IdxData images = read_idx(source, IdxKind::images);
                CHECK(images.count == 30);
                CHECK(std::ranges::equal(
                    images.bytes.span(), std::span(plain).subspan(16), {}, [](std::uint8_t p) { return p; },
                    [](char p) { return static_cast<std::uint8_t>(p); }));
            }
}

TEST_CASE("byte source: messages have the name and what was expected") {
    CHECK_THROWS_WITH_AS(ByteSource(test::in_pieces("", 1), std::nullopt, "a pipe", "IDX"),
                         "a pipe: is empty; expected IDX", DataError);
    ByteSource source(test::in_pieces(test::idx_labels(4).substr(0, 10), 4), std::nullopt, "a pipe", "IDX");
    CHECK_THROWS_WITH_AS(read_idx(source, IdxKind::labels),
                         "a pipe: is cut short: it declares 4 labels = 4 bytes, but has 2; expected IDX",
                         DataError);
}
