#include "data/picture/picture_file.h"
#include "tests/support/test.h"

#include <sys/stat.h>

#include <new>

using namespace knn::test;
using namespace std::literals;
using knn::PictureMemory;

namespace {

/// The beginning of a PNG of side × side pixels.
std::string png_header(std::uint32_t side) {
    std::string size;
    for (int shift = 24; shift >= 0; shift -= 8)
        size += static_cast<char>(side >> shift & 255);
    return "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"s + size + size + "\x08\0\0\0\0"s;
}

/// The beginning of a TIFF of 28 × 28 pixels, whose tiles have side × side.
std::string tiff_header(std::uint32_t side) {
    std::string tiff = "II*\0\x08\0\0\0\4\0"s;
    for (const auto& [tag, value] : {std::pair("\0\1", 28u), std::pair("\1\1", 28u),
                                     std::pair("\x42\1", side), std::pair("\x43\1", side)}) {
        tiff += std::string(tag, 2) + "\4\0\1\0\0\0"s;
        for (int shift = 0; shift < 32; shift += 8)
            tiff += static_cast<char>(value >> shift & 255);
    }
    return tiff;
}

/// How many of four threads that decode this picture do so at one time.
int most_at_once(const std::string& file, std::int64_t more_bytes = 0) {
    PictureMemory memory;
    std::atomic<int> inside = 0, most = 0;
    std::vector<std::jthread> team;
    for (int i = 0; i < 4; ++i)
        team.emplace_back([&] {
            memory.decode(file, more_bytes, [&] {
                const int now = ++inside;
                int before = most;
                while (before < now && !most.compare_exchange_weak(before, now)) {
                }
                std::this_thread::sleep_for(200ms);
                --inside;
            });
        });
    team.clear();
    return most;
}

}  // namespace

TEST_CASE_FIXTURE(InFolder, "picture memory: the larger the pictures, the fewer are decoded at once") {
    const std::string small = folder.write("small.png", png_header(28));
    CHECK(most_at_once(small) > 1);
    CHECK(most_at_once(folder.write("6000.png", png_header(6000))) <= 2);
    CHECK(most_at_once(folder.write("10000.png", png_header(10'000))) == 1);
    CHECK(most_at_once(folder.write("small tiles.tif", tiff_header(256))) > 1);
    CHECK(most_at_once(folder.write("large tiles.tif", tiff_header(9000))) == 1);
    CHECK(most_at_once(folder.write("too large tiles.tif", tiff_header(0xffffffff))) == 1);
    CHECK(most_at_once(small, 1'000'000'000) == 1);
    const auto large_file = folder.write("large.png", png_header(28));
    std::filesystem::resize_file(large_file, 700'000'000);  // which is copied without its texts
    CHECK(most_at_once(large_file) == 1);
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& unknown : {pipe, "-"s, folder.write("cut.jpg", "\xff\xd8\xff\xe0").string()})
        CHECK(most_at_once(unknown) == 1);
}

TEST_CASE_FIXTURE(InFolder, "picture memory: a picture for which memory ran out is decoded again, alone") {
    const std::string small = folder.write("small.png", png_header(28));
    PictureMemory memory;
    std::atomic<bool> other_inside = false;
    std::jthread other([&] {
        memory.decode(small, 0, [&] {
            other_inside = true;
            std::this_thread::sleep_for(300ms);
            other_inside = false;
        });
    });
    while (!other_inside)
        std::this_thread::yield();
    int calls = 0;
    bool alone = false;
    memory.decode(small, 0, [&] {
        if (++calls == 1) throw std::bad_alloc();
        alone = !other_inside;
    });
    CHECK(calls == 2);
    CHECK(alone);

    const auto fail = [&] {
        ++calls;
        throw std::bad_alloc();
    };
    CHECK_THROWS_AS(memory.decode(small, 0, fail), std::bad_alloc);
    CHECK(calls == 4);
    CHECK_THROWS_AS(memory.decode("-", 0, fail), std::bad_alloc);  // it was alone, and cannot be read again
    CHECK(calls == 5);
}
