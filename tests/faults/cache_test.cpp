/// A cache that was damaged, and one that several processes make at once.

#include <doctest/doctest.h>

#include "tests/faults/job.h"
#include "tests/support/skip.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// `content` with one bit turned, a block of zeros as after a power failure, its end missing, or nothing left.
std::vector<std::string> damaged(const std::string& content, std::size_t at) {
    std::string bit = content, zeros = content;
    bit[at] = static_cast<char>(bit[at] ^ 4);
    const std::size_t block = std::min<std::size_t>(4096, content.size() - at);
    zeros.replace(at, block, std::string(block, '\0'));
    return {bit, zeros, content.substr(0, at), ""};
}

void damage_everywhere(const std::string& name) {
    const Workplace place(name);
    place.remember();
    const std::vector<fs::path> files = place.cache_files();
    REQUIRE(!files.empty());
    const std::size_t places = try_all() ? 25 : 2;
    int runs = 0;
    for (const fs::path& file : files)
        for (std::size_t i = 0; i < places; ++i) {
            place.remember();
            const std::string whole = read_file(file);
            for (const std::string& content : damaged(whole, (2 * i + 1) * whole.size() / (2 * places))) {
                CAPTURE(file.string());
                CAPTURE(i);
                place.remember();
                write(file, content);
                place.check_next_run();
                place.check_next_run();  // what the first left in place of the damaged file
                ++runs;
            }
        }
    MESSAGE(name << ": damages of " << files.size() << " cache files: " << runs);
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
