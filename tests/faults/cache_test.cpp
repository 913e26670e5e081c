/// A cache that was damaged, and one that several processes make at once.

#include "tests/faults/job.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// The content with one bit turned, a block of zeros as after a power failure, its end missing, or nothing left.
constexpr int damage_kinds = 4;

std::string damaged(std::string content, int kind, std::size_t at) {
    if (kind == 0)
        content[at] = static_cast<char>(content[at] ^ 4);
    else if (kind == 1)
        std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(4096, content.size() - at), '\0');
    else
        content.resize(kind == 2 ? at : 0);
    return content;
}

/// Each file is damaged in each way, each time at another place; the places are spread evenly over the file.
void damage_everywhere(const std::string& name) {
    const Workplace place(name);
    place.remember();
    const std::vector<fs::path> files = place.cache_files();
    REQUIRE(!files.empty());
    const std::size_t damages = damage_kinds * (try_all() ? 25 : 1);
    for (const fs::path& file : files) {
        place.remember();
        const std::string whole = read_file(file);
        for (std::size_t i = 0; i < damages; ++i) {
            CAPTURE(file.string());
            CAPTURE(i);
            write(file, damaged(whole, static_cast<int>(i % damage_kinds),
                                (2 * i + 1) * whole.size() / (2 * damages)));
            place.check_next_run();
        }
        place.check_next_run();  // what the last one left in place of the damaged file
    }
    MESSAGE(name << ": damages of " << files.size() << " cache files: " << files.size() * damages);
}

/// Each file of the cache with the content of each other.
void exchange(const std::string& name) {
    const Workplace place(name);
    place.remember();
    const std::vector<fs::path> files = place.cache_files();
    for (const fs::path& one : files)
        for (const fs::path& other : files) {
            if (one == other) continue;
            place.remember();
            fs::copy_file(other, one, fs::copy_options::overwrite_existing);
            CAPTURE(one.string());
            CAPTURE(other.string());
            place.check_next_run();
        }
}

}  // namespace

TEST_CASE("faults: a damaged cache is ignored by evaluate") {
    damage_everywhere("accurate");
}

TEST_CASE("faults: a damaged cache is ignored by classify") {
    if (!has_opencv) return skip(no_opencv);
    damage_everywhere("classify");
}

TEST_CASE("faults: cache files in each other's place are not believed") {
    exchange("accurate");
}

TEST_CASE("faults: processes that make the cache and the outputs at once leave good ones") {
    for (const std::string name : {"accurate", "classify"}) {
        if (name == "classify" && !has_opencv) return skip(no_opencv);
        const Workplace place(name);
        for (int i = 0; i < (try_all() ? 50 : 3); ++i) {
            place.forget();
            CHECK(place.run_at_once(4));
            CHECK(place.outputs() == place.expected());
            place.check_nothing_unfinished();
            place.check_next_run();
        }
    }
}
