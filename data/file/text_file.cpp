#include "data/file/text_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/file_descriptor.h"
#include "data/file/transfer.h"

namespace knn {

std::string read_text(const std::string& file, std::size_t max_bytes, const std::string& expected) {
    const auto fail = [&](const std::string& what) {
        throw DataError(file + ": " + what + "; expected " + expected);
    };
    const FileDescriptor opened(file == "-"
                                    ? ::dup(STDIN_FILENO)
                                    : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!opened.is_open()) fail(errno == ENOENT ? "no such file" : "cannot be read");
    std::string text;
    std::vector<std::uint8_t> piece(1 << 16);
    for (;;) {
        const ssize_t got = read_some(opened.number(), piece);
        if (got == 0) return text;
        if (got < 0 && errno == ECANCELED) throw Interrupted();
        if (got < 0) fail(errno == EISDIR ? "is a folder" : "cannot be read");
        text.append(piece.begin(), piece.begin() + got);
        if (text.size() > max_bytes)
            fail("is larger than " + with_commas(static_cast<std::int64_t>(max_bytes)) + " bytes");
    }
}

}  // namespace knn
