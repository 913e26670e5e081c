#include "data/file/atomic_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data/core/errors.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using knn::DataError;
using knn::write_file_atomically;
using knn::test::InFolder;
using knn::test::read_file;

namespace {

/// The modes of the files that this thread synchronized, in order.
thread_local std::vector<mode_t> synchronized;

auto text(std::string content) {
    return [content](std::ostream& out) { out << content; };
}

std::string error_of(const fs::path& file, const std::function<void(std::ostream&)>& write) {
    return knn::test::error_of<DataError>([&] { write_file_atomically(file, write); });
}

std::ptrdiff_t files_in(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

mode_t mode_of(const fs::path& file) {
    struct stat status = {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

}  // namespace

/// Replaces the C library's function.
extern "C" int fsync(int descriptor) {
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0) synchronized.push_back(status.st_mode);
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

TEST_CASE_FIXTURE(InFolder, "atomic file: a new file holds what was written, with the umask's mode") {
    std::string large(100'003, 'x');
    for (std::size_t i = 0; i < large.size(); i += 97)
        large[i] = static_cast<char>('a' + i % 26);
    const mode_t before = ::umask(027);
    write_file_atomically(folder / "new", [&](std::ostream& out) {
        out << 12 << ' ' << large;
        for (const char c : large)
            out.put(c);
    });
    ::umask(before);
    CHECK(read_file(folder / "new") == "12 " + large + large);
    CHECK(mode_of(folder / "new") == 0640);
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE_FIXTURE(InFolder, "atomic file: an old file is replaced and keeps its mode, without setuid") {
    for (const auto& [before, after] : {std::pair<mode_t, mode_t>{0604, 0604}, {06755, 0755}}) {
        const fs::path file = folder.write("old", "a longer text than the new one");
        REQUIRE(::chmod(file.c_str(), before) == 0);
        write_file_atomically(file, text("new"));
        CHECK(read_file(file) == "new");
        CHECK(mode_of(file) == after);
        CHECK(files_in(folder.path()) == 1);
    }
}

TEST_CASE_FIXTURE(InFolder, "atomic file: an old file keeps its owner and group, as root") {
    if (::geteuid() != 0) return knn::test::skip("needs root");
    const fs::path file = folder.write("old", "of another user");
    REQUIRE(::chown(file.c_str(), 12345, 23456) == 0);
    write_file_atomically(file, text("new"));
    struct stat status = {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK(status.st_uid == 12345);
    CHECK(status.st_gid == 23456);
}

TEST_CASE_FIXTURE(InFolder, "atomic file: the file is on the disk when the call returns") {
    synchronized.clear();
    write_file_atomically(folder / "new", text("new"));
    REQUIRE(synchronized.size() == 1);
    CHECK(S_ISREG(synchronized[0]));
    write_file_atomically(folder / "cached", text("new"), false);
    CHECK(synchronized.size() == 1);
}

TEST_CASE_FIXTURE(InFolder, "replaced file: neither a link nor a pipe is written through") {
    const fs::path target = folder.write("target", "target");
    fs::create_symlink(target, folder / "link");
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    for (const char* name : {"link", "pipe", "new"}) {
        write_file_atomically(folder / name, text("content"), false);
        CHECK(fs::is_regular_file(fs::symlink_status(folder / name)));
        CHECK(read_file(folder / name) == "content");
    }
    CHECK(read_file(target) == "target");
}

TEST_CASE_FIXTURE(InFolder, "atomic file: an exception, or a place that is taken, leaves the old file") {
    const fs::path file = folder.write("old", "old"), taken = folder / "x";
    const auto interrupted = [](std::ostream& out) {
        out << std::string(200'000, 'n') << std::flush;
        throw knn::Interrupted();
    };
    CHECK_THROWS_AS(write_file_atomically(file, interrupted), knn::Interrupted);
    CHECK_THROWS_AS(write_file_atomically(folder / "new", interrupted), knn::Interrupted);
    CHECK(read_file(file) == "old");
    CHECK(files_in(folder.path()) == 1);
    const std::string error = error_of(taken, [&](std::ostream& out) {
        out << "new";
        fs::create_directory(taken);
    });
    CHECK(knn::test::contains(error, "x: cannot be written: Is a directory; expected a file"));
    CHECK(files_in(folder.path()) == 2);
}

TEST_CASE_FIXTURE(InFolder, "atomic file: a symbolic link is followed, also where it leads to nothing yet") {
    fs::create_directory(folder / "far");
    folder.write("far/old", "old");
    fs::create_symlink("far/old", folder / "link");
    fs::create_symlink(folder / "far/new", folder / "dangling");
    write_file_atomically(folder / "link", text("one"));
    write_file_atomically(folder / "dangling", text("two"));
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(fs::is_symlink(folder / "dangling"));
    CHECK(read_file(folder / "far/old") == "one");
    CHECK(read_file(folder / "far/new") == "two");
    CHECK(files_in(folder / "far") == 2);

    fs::create_symlink("loop", folder / "loop");
    CHECK(knn::test::contains(error_of(folder / "loop", text("x")), "loop: cannot be written: "));
    CHECK(fs::is_symlink(folder / "loop"));
}

TEST_CASE_FIXTURE(
    InFolder,
    "atomic file: a full device is an error that says so, /dev/null swallows, a pipe is written straight") {
    const fs::path pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::string seen;
    std::thread reader([&] { seen = read_file(pipe); });
    write_file_atomically(pipe, text("through the pipe"));
    reader.join();
    CHECK(seen == "through the pipe");
    CHECK(fs::is_fifo(pipe));
    CHECK(error_of("/dev/null", text("x")) == "");
    CHECK(fs::is_character_file("/dev/null"));
    if (!fs::exists("/dev/full")) return knn::test::skip("there is no /dev/full");
    for (const std::size_t size : {1, 1'000'000})
        CHECK(error_of("/dev/full", text(std::string(size, 'x'))) ==
              "/dev/full: cannot be written: No space left on device; expected enough free space");
    CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE_FIXTURE(InFolder, "atomic file: what cannot be written says why in one line") {
    folder.write("file", "");
    const std::string here = folder.path().string(), cannot = ": cannot be written: ";
    for (const auto& [file, error] : std::vector<std::pair<std::string, std::string>>{
             {here, here + cannot + "Is a directory; expected a file, not a folder"},
             {here + "/none/file", here + "/none/file" + cannot +
                                       "No such file or directory; expected a name in an existing folder"},
             {here + "/file/below", "Not a directory"},
             {"", "No such file"},
             {here + "/none/", cannot}})
        CHECK(knn::test::contains(error_of(file, text("x")), error));
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE_FIXTURE(InFolder, "atomic file: a write-protected file or folder stays as it is") {
    const fs::path file = folder.write("protected", "old");
    fs::permissions(file, fs::perms(0444));
    fs::permissions(folder.path(), fs::perms(0777));
    {
        const knn::test::Unprivileged user;
        if (!user.is_ordinary()) return knn::test::skip("root cannot become another user here");
        CHECK(error_of(file, text("new")) ==
              file.string() + ": cannot be written: Permission denied; expected permission to write there");
    }
    fs::permissions(folder.path(), fs::perms(0555));
    {
        const knn::test::Unprivileged user;
        CHECK(knn::test::contains(error_of(folder / "new", text("new")), "Permission denied"));
    }
    fs::permissions(folder.path(), fs::perms(0700));
    CHECK(read_file(file) == "old");
    CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("names of descriptors, which are written to and not replaced") {
    const knn::test::TempFolder folder;
    fs::create_symlink("/dev/fd/7", folder / "link");
    for (const char* file : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
        CHECK(knn::is_standard_output(file));
    CHECK(knn::descriptor_of("/dev/stderr") == 2);
    for (const char* file : {"", "stdout", "/dev/null", "1", "/dev/fd", "/dev/fd/1000000", "/proc/self/fd/x"})
        CHECK(knn::descriptor_of(file) == -1);

    const fs::path file = folder / "log";
    std::ofstream(file) << "kept\n";
    const knn::FileDescriptor log(::open(file.c_str(), O_WRONLY | O_APPEND));
    const std::string name = "/dev/fd/" + std::to_string(log.number());
    fs::remove(folder / "link");
    fs::create_symlink(name, folder / "link");
    write_file_atomically(name, text("one\n"));
    write_file_atomically(folder / "link", text("two\n"));
    CHECK(::write(log.number(), "three\n", 6) == 6);
    CHECK(read_file(file) == "kept\none\ntwo\nthree\n");
    CHECK(files_in(folder.path()) == 2);
}
