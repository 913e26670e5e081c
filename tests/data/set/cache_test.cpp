#include "data/set/cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/core/errors.h"
#include "data/file/transfer.h"
#include "data/set/locate.h"
#include "data/set/training.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/mnist.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

using namespace knn;
using namespace knn::test;
namespace fs = std::filesystem;

namespace {

void keep(const std::string& name, const std::string& key, const std::string& text) {
    const std::array<std::span<const std::uint8_t>, 2> pieces = {
        std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size() / 3),
        std::span(reinterpret_cast<const std::uint8_t*>(text.data()) + text.size() / 3,
                  text.size() - text.size() / 3)};
    write_cached(name, key, pieces);
}

/// What is kept, or "nothing".
std::string kept(const std::string& name, const std::string& key, int threads = 2) {
    const auto cached = read_cached(name, key, threads);
    return cached ? std::string(cached->span().begin(), cached->span().end()) : "nothing";
}

void overwrite(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

/// A data set of gzip files.
struct Zipped : OwnCache {
    DataLocation location;

    Zipped() {
        write(12);
        location = located((folder / "d").string());
    }
    void write(std::uint32_t train) const {
        folder.write("d/train-images-idx3-ubyte.gz", gzip(idx_images(train, 4, 3)));
        folder.write("d/train-labels-idx1-ubyte.gz", gzip(idx_labels(train)));
        folder.write("d/t10k-images-idx3-ubyte.gz", gzip(idx_images(5, 4, 3)));
        folder.write("d/t10k-labels-idx1-ubyte.gz", gzip(idx_labels(5)));
    }
};

/// Each load gives what the whole data set has, from the cache or not.
void check_loads(const DataLocation& location, std::initializer_list<bool> from_cache) {
    const Dataset whole = load(location);
    const LabeledImages& expected = whole.train;
    for (const bool cached : from_cache) {
        const TrainingImages set = load_training(location, true, 2);
        CHECK(set.cached == cached);
        if (!location.synthetic) CHECK(set.source == location.files[0].string());
        REQUIRE(set.images.count == expected.count);
        REQUIRE(set.shape == expected.shape());
        REQUIRE(set.images.dim == expected.dim());
        CHECK(std::equal(expected.pixels.span().begin(), expected.pixels.span().end(), set.images.pixels));
        CHECK(std::ranges::equal(expected.labels.span(), set.labels));
    }
}

}  // namespace

TEST_CASE_FIXTURE(OwnCache, "what is kept comes back for the same name and key alone") {
    CHECK(kept("a", "key") == "nothing");
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20, (std::size_t{3} << 20) - 3,
          std::size_t{3} << 20, (std::size_t{3} << 20) + 17}) {
        const std::string text = pattern(size);
        keep("a", "key", text);
        for (const int threads : {1, 2, 7})
            CHECK(kept("a", "key", threads) == text);
        CHECK(kept("a", "Key") == "nothing");
        CHECK(kept("a", "") == "nothing");
        CHECK(kept("b", "key") == "nothing");
    }
    const auto status = fs::status(folder / "cache" / "mnist-knn");
    CHECK((status.permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
    CHECK(cache_bytes() > (3u << 20));
}

TEST_CASE_FIXTURE(OwnCache, "a damaged or truncated cache file is ignored") {
    const std::string text = pattern(3000);
    keep("a", "some key", text);
    const std::string whole = read_file(file("a"));
    REQUIRE(kept("a", "some key") == text);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        overwrite(file("a"), damaged);
        const std::string now = kept("a", "some key");
        const bool gap = now == text;  // padding bytes before the payload are ignored
        if (gap) CHECK(whole[at] == '\0');
        if (!gap) CHECK(now == "nothing");
    }
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        overwrite(file("a"), whole.substr(0, size));
        CHECK(kept("a", "some key") == "nothing");
    }
    overwrite(file("a"), whole + "x");
    CHECK(kept("a", "some key") == "nothing");
    overwrite(file("a"), std::string(5000, '\xff'));
    CHECK(kept("a", "some key") == "nothing");
    fs::remove(file("a"));
    fs::create_directory(file("a"));
    CHECK(kept("a", "some key") == "nothing");
}

// Reading 20 GB of a file that was never ours took a minute, at every start.
TEST_CASE_FIXTURE(OwnCache, "of a cache file with another size than it says only the beginning is read") {
    constexpr std::size_t grown = 256 << 20, page = 4096;
    keep("a", "key", "text");
    fs::resize_file(file("a"), grown);  // with a hole, which takes no space on the disk
    CHECK(kept("a", "key") == "nothing");

    const FileDescriptor descriptor(::open(file("a").c_str(), O_RDONLY | O_CLOEXEC));
    void* const place = ::mmap(nullptr, grown, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
    REQUIRE(place != MAP_FAILED);
    std::vector<unsigned char> in_memory(grown / page);
    CHECK(::mincore(place, grown, in_memory.data()) == 0);
    CHECK(std::ranges::count_if(in_memory, [](unsigned char one) { return (one & 1) != 0; }) < 1024);
    ::munmap(place, grown);
    keep("a", "key", "text");
    CHECK(kept("a", "key") == "text");
}

TEST_CASE_FIXTURE(OwnCache, "several writers and readers at once") {
    const std::string one = pattern(2'500'000), two(2'500'000, 'z');
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (const std::string* text : {&one, &two})
            threads.emplace_back([=] {
                for (int i = 0; i < 20; ++i)
                    keep("a", "key", *text);
            });
        for (int reader = 0; reader < 2; ++reader)
            threads.emplace_back([&] {
                for (int i = 0; i < 40; ++i)
                    if (const std::string now = kept("a", "key");
                        now != one && now != two && now != "nothing")
                        ++wrong;
            });
    }
    CHECK(wrong == 0);
    CHECK(kept("a", "key") != "nothing");
    CHECK(std::distance(fs::directory_iterator(file("")), {}) == 1);  // nothing unfinished is left
}

TEST_CASE_FIXTURE(OwnCache, "no folder to keep anything in is no error") {
    for (const char* base : {"/dev/null", "/nonexistent/deeper/still", "relative", ""}) {
        surroundings.set("XDG_CACHE_HOME", base);
        surroundings.set("HOME", "/nonexistent");
        keep("a", "key", "text");
        CHECK(kept("a", "key") == "nothing");
        CHECK(cache_bytes() == 0);
        CHECK(cache_folder().empty() == (base == std::string("/dev/null")));
    }
    CHECK(!fs::exists("/nonexistent"));
    CHECK(cache_notice().starts_with("/nonexistent/.cache/mnist-knn: the cache cannot be written"));
    surroundings.set("XDG_CACHE_HOME", std::nullopt);
    surroundings.set("HOME", folder.path().string());
    keep("a", "key", "text");
    CHECK(kept("a", "key") == "text");
    CHECK(fs::exists(folder / ".cache" / "mnist-knn" / "a"));
}

TEST_CASE_FIXTURE(OwnCache, "an entry that is no plain file is nothing, and is replaced") {
    keep("a", "key", "text");
    const fs::path entry = file("a"), target = folder.write("target", "of somebody else");
    fs::remove(entry);
    fs::create_symlink(target, entry);
    CHECK(kept("a", "key") == "nothing");
    keep("a", "key", "text");
    CHECK(kept("a", "key") == "text");
    CHECK(!fs::is_symlink(entry));
    CHECK(read_file(target) == "of somebody else");

    fs::remove(entry);
    REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
    CHECK(kept("a", "key") == "nothing");
    CHECK(cache_bytes() == 0);
    keep("a", "key", "text");  // waited for a reader once
    CHECK(kept("a", "key") == "text");
    CHECK(fs::is_regular_file(entry));
}

TEST_CASE_FIXTURE(OwnCache, "what was not used for the longest time makes room for what is new") {
    surroundings.set("MNIST_KNN_CACHE_MB", std::nullopt);
    CHECK(cache_limit() == 1'000'000'000);
    surroundings.set("MNIST_KNN_CACHE_MB", "1");
    const std::string text = pattern(300'000);
    int hours = 9;
    for (const char* name : {"a", "b", "c"}) {
        keep(name, "key", text);
        fs::last_write_time(file(name), fs::file_time_type::clock::now() - std::chrono::hours(hours--));
    }
    CHECK(kept("a", "key") == text);  // which is a use
    keep("d", "key", text);
    CHECK(kept("b", "key") == "nothing");
    keep("c", "key", pattern(350'000));  // what it replaces does not count
    for (const char* name : {"a", "d"})
        CHECK(kept(name, "key") == text);
    CHECK(kept("c", "key") == pattern(350'000));
    CHECK(cache_bytes() > 950'000);
    CHECK(cache_bytes() <= 1'000'000);
    keep("e", "key", pattern(1'000'000));  // does not fit with its header
    CHECK(kept("e", "key") == "nothing");
    CHECK(kept("a", "key") == text);

    overwrite(file("notes"), "the user's own");
    CHECK(clear_cache() > 950'000);
    CHECK(cache_bytes() == 0);
    CHECK(clear_cache() == 0);
    CHECK(read_file(file("notes")) == "the user's own");
    surroundings.set("MNIST_KNN_CACHE_MB", "0");
    keep("a", "key", "");
    CHECK(kept("a", "key") == "nothing");
    for (const char* wrong : {"x", "-1", "1.5", "1G", "99999999999"}) {
        surroundings.set("MNIST_KNN_CACHE_MB", wrong);
        CHECK_THROWS_AS(cache_limit(), UsageError);
    }
}

TEST_CASE_FIXTURE(OwnCache, "what belongs to another user is nothing") {
    if (::geteuid() != 0) return skip("only root can give files to another user");
    keep("a", "key", "text");
    const auto give = [](const fs::path& path, uid_t owner) { return ::chown(path.c_str(), owner, 0) == 0; };
    if (!give(file("a"), Unprivileged::user)) return skip("files cannot be given to another user here");
    CHECK(kept("a", "key") == "nothing");
    keep("a", "key", "text");  // replaces it
    CHECK(kept("a", "key") == "text");
    CHECK(is_own_cache());
    REQUIRE(give(file(""), Unprivileged::user));
    CHECK(!is_own_cache());
    CHECK(kept("a", "key") == "nothing");
    keep("b", "key", "text");
    CHECK(!fs::exists(file("b")));
    CHECK_THROWS_WITH_AS(clear_cache(),
                         doctest::Contains("mnist-knn: belongs to another user; expected a folder of yours"),
                         DataError);
    CHECK(fs::exists(file("a")));
}

TEST_CASE_FIXTURE(OwnCache, "what of the cache cannot be removed is said, not passed over") {
    const auto refuses = [](const char* what) {
        CHECK_THROWS_WITH_AS(clear_cache(), doctest::Contains(what), DataError);
    };
    folder.write("cache/mnist-knn", "a file");
    refuses("mnist-knn: is no folder; expected");
    fs::remove(folder / "cache/mnist-knn");
    CHECK(clear_cache() == 0);
    fs::permissions(folder.path(), fs::perms::all);
    fs::permissions(folder / "cache", fs::perms::all);
    {
        const Unprivileged user;
        if (!user.is_ordinary()) return skip("cannot act as an ordinary user");
        for (const char* name : {"a", "b", "c"})
            keep(name, "key", "text");
        const auto may = [&](const char* name, fs::perms all) { fs::permissions(file(name), all); };
        may("", fs::perms::owner_read | fs::perms::owner_exec);
        refuses(": cannot be removed: Permission denied, and 2 more; expected a folder of yours");
        may("", fs::perms::none);
        refuses("mnist-knn: cannot be read: Permission denied; expected");
        may("", fs::perms::owner_all);
        may("b", fs::perms::none);
        refuses("mnist-knn/b: cannot be read; expected");
        CHECK(!fs::exists(file("a")));  // the others are gone
        may("b", fs::perms::owner_all);
        CHECK(clear_cache() > 0);
    }
}

TEST_CASE_FIXTURE(OwnCache, "a cache folder that may only be read") {
    fs::permissions(folder.path(), fs::perms::all);
    keep("a", "key", "text");
    if (::geteuid() == 0)
        for (const char* name : {"a", ""})
            REQUIRE(::chown(file(name).c_str(), Unprivileged::user, gid_t(-1)) == 0);
    fs::permissions(file(""), fs::perms::owner_read | fs::perms::owner_exec);
    fs::permissions(folder / "cache", fs::perms::all);
    {
        const Unprivileged user;
        if (!user.is_ordinary()) return skip("cannot act as an ordinary user");
        keep("b", "key", "text");
        CHECK(kept("b", "key") == "nothing");
        CHECK(kept("a", "key") == "text");
    }
    fs::permissions(file(""), fs::perms::owner_all);
}

TEST_CASE_FIXTURE(Zipped, "a training set from gzip files is cached, and read anew when they change") {
    const TrainingImages first = load_training(location, true, 2, 4);
    CHECK(!first.cached);
    CHECK(first.images.count == 4);
    check_loads(location, {false, true, true});
    CHECK(load_training(location, true, 2, 4).images.count == 12);  // from the cache
    CHECK(!load_training(location, false, 2).cached);

    for (const auto& entry : fs::directory_iterator(file("")))  // one bit of the last pixel
        if (entry.path().filename().string().starts_with("training-")) {
            std::string damaged = read_file(entry.path());
            damaged[damaged.size() - 14] = static_cast<char>(damaged[damaged.size() - 14] ^ 1);
            overwrite(entry.path(), damaged);
        }
    check_loads(location, {false, true});
    write(9);
    check_loads(location, {false, true});

    const auto time = fs::last_write_time(location.files[1]);  // the very same bytes, size and time
    overwrite(location.files[1], read_file(location.files[1]));
    fs::last_write_time(location.files[1], time);
    check_loads(location, {false, true});

    folder.write("d/train-labels-idx1-ubyte.gz", gzip(idx_labels(11)));
    CHECK_THROWS_AS(load_training(location, true, 1), DataError);
    fs::remove(location.files[1]);
    CHECK_THROWS_AS(load_training(location, true, 1), DataError);
}

TEST_CASE_FIXTURE(OwnCache, "plain files are not copied, built-in digits are") {
    write_small_dataset(folder);
    const DataLocation location = located(folder.path().string());
    check_loads(location, {false, false});
    CHECK(cache_bytes() == 0);
    folder.write("empty/file", "");
    Surroundings elsewhere(folder / "empty");
    elsewhere.set("MNIST_KNN_DATA", std::nullopt);
    elsewhere.set("XDG_DATA_HOME", "/nonexistent");
    elsewhere.set("XDG_DATA_DIRS", "/nonexistent");
    const DataLocation built_in = locate({});
    REQUIRE(built_in.synthetic);
    check_loads(built_in, {false, true});
}
