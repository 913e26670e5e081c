#include "data/set/idx.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <new>

#include "tests/support/idx_bytes.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace knn::test;
using knn::Bytes;
using knn::DataError;
using knn::IdxData;
using knn::IdxKind;
using knn::read_idx;

namespace {

std::uint32_t crc_of(const std::string& content) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
}

/// The message without "FILE: " in front, with which each must begin.
template <class Read>
std::string error_of(const fs::path& file, const Read& read) {
    const std::string what = knn::test::error_of<DataError>([&] { read(file); }),
                      front = file.string() + ": ";
    if (what.empty()) return "no error";
    CHECK(contains(what, "; expected "));
    REQUIRE(what.starts_with(front));
    return what.substr(front.size());
}
std::string images_error(const fs::path& file) {
    return error_of(file, [](const fs::path& f) { read_idx(f, IdxKind::images); });
}
std::string labels_error(const fs::path& file) {
    return error_of(file, [](const fs::path& f) { read_idx(f, IdxKind::labels); });
}

const std::string want_images = "; expected an IDX file of 8-bit images (magic 00 00 08 03), plain or gzip";
const std::string want_labels = "; expected an IDX file of 8-bit labels (magic 00 00 08 01), plain or gzip";

fs::path pipe_end(int descriptor) {
    return "/dev/fd/" + std::to_string(descriptor);
}

/// Fails every allocation.
struct NoMemory : std::pmr::memory_resource {
    void* do_allocate(std::size_t, std::size_t) override { throw std::bad_alloc(); }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// Counts what is taken from it.
struct CountingMemory : std::pmr::memory_resource {
    std::size_t taken = 0;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        taken += bytes;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

TEST_CASE_FIXTURE(InFolder, "idx: images and labels of all values, plain and gzip, of any name") {
    std::string values;
    for (int i = 0; i < 256; ++i)
        values += static_cast<char>(i);
    const std::string content = idx_images(7, 5, 9), labels_content = idx_header(8, {256}) + values;
    for (const bool zipped : {false, true})
        for (const char* name : {"plain", "named.gz"}) {
            CAPTURE(zipped);
            CAPTURE(name);
            CountingMemory memory;
            const IdxData images =
                read_idx(folder.write(name, zipped ? gzip(content) : content), IdxKind::images, &memory);
            CHECK(images.count == 7);
            CHECK(images.rows == 5);
            CHECK(images.cols == 9);
            CHECK(text_of(images.bytes) == pattern(7 * 5 * 9));
            CHECK(images.crc32 == crc_of(content));
            CHECK(memory.taken == 7 * 5 * 9);
            const IdxData labels =
                read_idx(folder.write(name, zipped ? gzip(labels_content) : labels_content), IdxKind::labels);
            CHECK(text_of(labels.bytes) == values);
            CHECK(labels.crc32 == crc_of(labels_content));
        }
}

TEST_CASE_FIXTURE(
    InFolder, "idx: images of every size, in one member of gzip or in several, also where a buffer ends") {
    const auto check = [&](const std::string& content, const std::string& bytes) {
        const IdxData images = read_idx(folder.write("images", bytes), IdxKind::images);
        CHECK(text_of(images.bytes) == content.substr(16));
        CHECK(images.crc32 == crc_of(content));
    };
    // One pixel, one row, one column; more than the buffers hold; squeezed as much as deflate can.
    const std::string blank = idx_header(8, {3000, 50, 40}) + std::string(3000 * 50 * 40, '\0');
    for (const std::string& content :
         {idx_images(1, 1, 1), idx_images(2, 1, 65), idx_images(2, 65, 1), idx_images(900, 40, 40), blank})
        for (const std::string& bytes : {content, gzip(content, 9), gzip(content, 1), gzip(content, 0)})
            check(content, bytes);
    const std::string content = idx_images(400, 28, 28);
    for (const std::size_t cut : {std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{20'000}})
        check(content, gzip(content.substr(0, cut)) + gzip("") + gzip(content.substr(cut)));
    constexpr std::size_t buffer = 256 * 1024;
    for (const std::size_t size :
         {buffer - 1, buffer}) {  // of the first member: one byte of the next, or none
        std::size_t cut = buffer - 200;
        while (gzip(content.substr(0, cut), 0).size() < size)
            ++cut;
        const std::string first = gzip(content.substr(0, cut), 0);
        REQUIRE(first.size() == size);
        check(content, first + gzip(content.substr(cut)));
    }
}

TEST_CASE_FIXTURE(InFolder, "idx: the first images take memory, the others are checked all the same") {
    const std::string content = idx_images(900, 40, 40), zipped = gzip(content);
    for (const std::string& bytes : {content, zipped})
        for (const std::int64_t first : {1, 899, 900, 5000}) {
            CountingMemory memory;
            const IdxData images = read_idx(folder.write("f", bytes), IdxKind::images, &memory, first);
            CHECK(images.count == std::min<std::int64_t>(first, 900));
            CHECK(memory.taken == images.bytes.size());
            CHECK(text_of(images.bytes) == content.substr(16, images.bytes.size()));
            CHECK(images.bytes.size() == static_cast<std::size_t>(images.count) * 1600);
            CHECK(images.crc32 == crc_of(content));
        }
    const auto first_error = [&](const std::string& bytes) {
        return error_of(folder.write("f", bytes), [](const fs::path& f) {
            read_idx(f, IdxKind::images, std::pmr::get_default_resource(), 1);
        });
    };
    CHECK(first_error(gzip(content.substr(0, 5000))) ==
          "is cut short: it declares 900 images of 40x40 = 1,440,000 bytes, but has 4,984" + want_images);
    CHECK(first_error(gzip(content + 'x')) == "has trailing bytes after 900 images of 40x40" + want_images);
    CHECK(first_error(zipped.substr(0, zipped.size() - 1)) ==
          "is cut short: the gzip data does not end" + want_images);
}

TEST_CASE_FIXTURE(InFolder, "idx: what cannot be opened or read") {
    folder.write("file", "x");
    CHECK(images_error(folder / "none") == "no such file" + want_images);
    CHECK(labels_error(folder / "none") == "no such file" + want_labels);
    CHECK(images_error(folder.path()) == "is a folder" + want_images);
    CHECK(images_error(folder / "file/below") == "cannot be read: Not a directory" + want_images);
    if (fs::exists("/proc/self/mem"))
        CHECK(images_error("/proc/self/mem") == "cannot be read: Input/output error" + want_images);
    fs::permissions(folder.path(), fs::perms(0755));
    const fs::path file = folder.write("secret", idx_labels(3));
    fs::permissions(file, fs::perms::none);
    const Unprivileged user;
    if (!user.is_ordinary()) return skip("root cannot become another user here");
    CHECK(labels_error(file) == "cannot be read: Permission denied" + want_labels);
}

TEST_CASE_FIXTURE(InFolder, "idx: what is wrong with the content, plain and gzip") {
    const auto magic = [](std::string_view four) {
        return std::string(four) + idx_images(2, 3, 3).substr(4);
    };
    const std::string cut = ": it declares 3 images of 2x2 = 12 bytes, but has 11";
    const std::string zipped = gzip(idx_images(3, 28, 28)),
                      no_end = "is cut short: the gzip data does not end";
    const auto with_flip = [&](std::size_t from_end) {
        std::string bad = zipped;
        bad[bad.size() - from_end] = static_cast<char>(bad[bad.size() - from_end] ^ 1);
        return bad;
    };
    struct Case {
        std::string content, error;
        bool gzip_too = true;  ///< the error is the same for the content as gzip
    };
    const auto check = [&](const Case& one, auto error_of, const std::string& want) {
        CAPTURE(one.error);
        CHECK(error_of(folder.write("f", one.content)) == one.error + want);
        if (one.gzip_too) CHECK(error_of(folder.write("f.gz", gzip(one.content))) == one.error + want);
    };
    for (const Case& one : std::vector<Case>{
             {"", "is empty", false},
             {magic("abcd"), "has the wrong magic 61 62 63 64"},
             {magic({"\0\0\7\3", 4}), "has the wrong magic 00 00 07 03"},
             {idx_header(0x09, {2, 2, 2}) + pattern(64), "holds elements of type int8"},
             {idx_header(0x0b, {2, 2, 2}) + pattern(64), "holds elements of type int16"},
             {idx_header(0x0c, {2, 2, 2}) + pattern(64), "holds elements of type int32"},
             {idx_header(0x0d, {2, 2, 2}) + pattern(64), "holds elements of type float32"},
             {idx_header(0x0e, {2, 2, 2}) + pattern(64), "holds elements of type float64"},
             {idx_header(8, {2, 2}) + pattern(4), "has rank 2"},
             {idx_labels(9), "holds labels where images were expected (swapped files?)"},
             {idx_images(0, 28, 28), "holds zero images"},
             {idx_images(3, 0, 28), "declares 3 images of 0x28, without pixels"},
             {idx_images(3, 28, 0), "declares 3 images of 28x0, without pixels"},
             {idx_images(3, 2, 2).substr(0, 27), "is cut short" + cut},
             {"<?xml version=\"1.0\"?><Error>AccessDenied</Error>", "is an XML page, not data"},
             {"version https://git-lfs.github.com/spec/v1\noid", "is a Git LFS pointer, not data"},
             {"PK\3\4 and so on", "is a zip archive"},
             {zipped.substr(0, 2), no_end, false},
             {zipped.substr(0, 12), no_end, false},
             {zipped.substr(0, zipped.size() / 2), no_end, false},
             {zipped.substr(0, zipped.size() - 1), no_end, false},
             {with_flip(8), "is damaged: the gzip checksum does not match", false},
             {with_flip(4), "is damaged: bad gzip data (incorrect length check)", false}})
        check(one, images_error, want_images);
    for (const Case& one : std::vector<Case>{
             {magic({"\1\x08\0\0", 4}), "has the wrong magic 01 08 00 00"},
             {idx_header(8, {2, 2, 2, 2}) + pattern(16), "has rank 4"},
             {idx_header(8, {}) + pattern(16), "has rank 0"},
             {idx_images(2, 2, 2), "holds images where labels were expected (swapped files?)"},
             {idx_labels(0), "holds zero labels"},
             {gzip(""), "is empty after decompression", false},
             {idx_labels(3) + "x", "has trailing bytes: it declares 3 labels = 3 bytes, but has 4", false},
             {idx_labels(1) + "x", "has trailing bytes: it declares 1 label = 1 byte, but has 2", false},
             {gzip(idx_labels(3) + "x"), "has trailing bytes after 3 labels", false}})
        check(one, labels_error, want_labels);
    for (const std::string page : {"<!DOCTYPE html>\n<html><body>404</body></html>", "<html>",
                                   "<HTML lang=en>", "\n\t  <!doctype HTML>", "\xef\xbb\xbf<!DOCTYPE html>"})
        check({page, "is a web page, not data"}, images_error, want_images);
    for (std::size_t size = 1; size < 16; ++size)
        check({idx_images(2, 3, 3).substr(0, size), "is cut short within its header"}, images_error,
              want_images);
    for (const std::string garbage : {"x", "xy", "more garbage", "\x1f"})
        check({gzip(idx_labels(3)) + garbage, "has trailing bytes after the gzip data", false}, labels_error,
              want_labels);
    std::string longer = gzip(idx_labels(300'000) + "x");
    longer[longer.size() - 8] ^= 1;  // of its checksum
    check({longer, "is damaged: the gzip checksum does not match", false}, labels_error, want_labels);
    std::string method = zipped;
    method[2] = 7;
    CHECK(images_error(folder.write("m.gz", method)).find("is damaged: bad gzip data (") == 0);
    CHECK(images_error("/dev/null") == "is empty" + want_images);
    CHECK_THROWS_AS(read_idx(folder.write("l", idx_labels(9)), IdxKind::images), knn::SwappedFiles);
}

TEST_CASE_FIXTURE(InFolder, "idx: sizes that no file or memory has are refused before allocations") {
    NoMemory none;
    const std::string huge = idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff}) + pattern(100);
    const std::string product = idx_header(8, {0xffffffff, 0x7fffffff, 0x7fffffff}) + pattern(100);
    const std::string tall = idx_header(8, {1, 0x80000000, 1}), wide = idx_header(8, {1, 1, 0x80000000});
    const std::string beyond = "more than fits in 64-bit sizes";
    const std::string mnist = idx_header(8, {60'000, 28, 28}) + pattern(100), zipped = gzip(mnist);
    const std::string cut = "is cut short: it declares 60,000 images of 28x28 = 47,040,000 bytes, but ";
    for (const auto& [bytes, error] : std::vector<std::pair<std::string, std::string>>{
             {huge, beyond},
             {product, beyond},
             {gzip(huge), beyond},
             {gzip(product), beyond},
             {tall, beyond},
             {wide, beyond},
             {idx_images(1, 300, 300),
              "has images of 300x300 = 90,000 pixels; expected at most 66,051 pixels"},
             {mnist, cut + "has 100" + want_images},
             {zipped, cut + std::to_string(zipped.size()) + " bytes of gzip cannot hold them" + want_images},
             {idx_images(2, 3, 4),
              "needs 24 bytes of memory, which are not free; expected that much free memory"}}) {
        const std::string found = error_of(folder.write("f", bytes),
                                           [&](const fs::path& f) { read_idx(f, IdxKind::images, &none); });
        CHECK(contains(found, error));
    }
}

TEST_CASE("idx: a pipe is read as it arrives or waited for, and its declared size is not trusted") {
    // As a shell's <(command) does: the path is a descriptor's.
    const auto through_pipe = [&](const std::string& bytes) {
        int ends[2] = {};
        REQUIRE(::pipe(ends) == 0);
        std::thread writer([&] {
            std::ofstream(pipe_end(ends[1]), std::ios::binary) << bytes;
            ::close(ends[1]);
        });
        std::string pixels;
        const std::string error = knn::test::error_of<DataError>(
            [&] { pixels = text_of(read_idx(pipe_end(ends[0]), IdxKind::images).bytes); });
        ::close(ends[0]);
        writer.join();
        return pixels + error;
    };
    const std::string content = idx_images(50, 300, 200);
    CHECK(through_pipe(content) == content.substr(16));
    CHECK(through_pipe(gzip(content)) == content.substr(16));
    CHECK(contains(through_pipe(content + 'x'), "has trailing bytes after 50 images"));
    const std::string liar = idx_header(8, {0x7fffffff, 250, 250}) + pattern(100);
    CHECK(contains(through_pipe(liar), "is cut short: it declares 2,147,483,647 images of 250x250"));

    const TempFolder folder;
    const fs::path pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        std::ofstream(pipe, std::ios::binary) << content;
    });
    CHECK(text_of(read_idx(pipe, IdxKind::images).bytes) == content.substr(16));
    writer.join();
}

TEST_CASE_FIXTURE(InFolder, "idx: cut after every byte, a file is whole or an error") {
    const std::string plain = idx_images(3, 4, 5), zipped = gzip(plain);
    for (const std::string& bytes : {plain, zipped})
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            CAPTURE(size);
            CHECK(images_error(folder.write("cut", bytes.substr(0, size))) != "no error");
        }
}

TEST_CASE_FIXTURE(InFolder, "idx: random damage never gets through gzip's checksum, and never crashes") {
    std::mt19937_64 random(7);
    const std::string plain = idx_images(5, 6, 7), zipped = gzip(plain), stored = gzip(plain, 0);
    int errors = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::string& whole = round % 3 == 0 ? plain : round % 3 == 1 ? zipped : stored;
        std::string bytes = whole;
        for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
            char& victim = bytes[random() % bytes.size()];
            victim = static_cast<char>(victim ^ (1 << random() % 8));
        }
        const fs::path file = folder.write("flip", bytes);
        try {
            const IdxData images = read_idx(file, IdxKind::images);
            CHECK(images.bytes.size() == static_cast<std::size_t>(images.count * images.rows * images.cols));
            if (round % 3 != 0) CHECK(text_of(images.bytes) == plain.substr(16));
        } catch (const DataError&) {
            ++errors;
        }
    }
    CHECK(errors > 1000);
    CHECK(errors < 3000);  // damaged pixels of a plain file cannot be detected
}

TEST_CASE_FIXTURE(InFolder, "idx: what is written can be read again") {
    const std::string pixels = pattern(4800), labels = "\xfa\xfb\xfc\xfd";
    knn::LabeledImages set;
    set.count = 4;
    set.rows = 3;
    set.cols = 400;
    set.pixels = Bytes(4800);
    set.labels = Bytes(4);
    std::copy(pixels.begin(), pixels.end(), set.pixels.data());
    std::copy(labels.begin(), labels.end(), set.labels.data());
    std::ostringstream images_file, labels_file;
    knn::write_idx_images(images_file, set);
    knn::write_idx_labels(labels_file, set);
    CHECK(images_file.str() == idx_header(8, {4, 3, 400}) + pixels);
    CHECK(labels_file.str() == idx_header(8, {4}) + labels);
    const IdxData again = read_idx(folder.write("i", images_file.str()), IdxKind::images);
    CHECK(again.rows == 3);
    CHECK(again.cols == 400);
    CHECK(text_of(again.bytes) == pixels);
    CHECK(text_of(read_idx(folder.write("l", labels_file.str()), IdxKind::labels).bytes) == labels);
}
