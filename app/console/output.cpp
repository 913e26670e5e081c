#include "app/console/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <streambuf>

#include "app/console/interrupt.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// Standard output as a stream without a buffer: writers hand over large pieces.
class StandardOutput : public std::streambuf {
  public:
    int error = 0;

  protected:
    std::streamsize xsputn(const char* data, std::streamsize size) override {
        if (error == 0) error = write_all(STDOUT_FILENO, {data, static_cast<std::size_t>(size)});
        return error == 0 ? size : 0;
    }
    int_type overflow(int_type c) override {
        const char letter = traits_type::to_char_type(c);
        return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
    }
};

void judge(int error) {
    if (error == ECANCELED) throw Interrupted();
    if (error != 0 && error != EPIPE)
        throw DataError(std::string("standard output: cannot be written: ") + std::strerror(error) +
                        "; expected a terminal, pipe or file with free space");
}

[[noreturn]] void refuse(const std::string& file, int error) {
    throw DataError(file + ": cannot be written: " + std::strerror(error) + "; expected " +
                    (error == ENAMETOOLONG ? "a shorter name"
                     : error == ENOENT     ? "a name in an existing folder"
                                           : "permission to write there"));
}

/// Whether nothing is printed: another rank does.
bool silent = false;

/// Ends the work on all outputs; the output whose stream failed knows why.
struct StreamFailed {
    const std::ostream* stream;
};

/// Throws DataError unless files can be made in `folder`.
void check_writable(const fs::path& folder, const std::string& file) {
    std::error_code none;
    const fs::path place = folder.empty() ? "." : folder;
    if (!fs::exists(place, none))
        throw DataError(file + ": its folder is missing; expected a name in an existing folder");
    if (!fs::is_directory(place, none))
        throw DataError(file + ": " + place.string() +
                        " is no folder; expected a name in an existing folder");
    if (::access(place.c_str(), W_OK | X_OK) != 0) refuse(file, errno);
}

}  // namespace

void silence_output() {
    silent = true;
}

void unsilence_output() {
    silent = false;
}

void print(std::string_view text) {
    if (silent) return;
    judge(write_all(STDOUT_FILENO, text));
}

void print_to_stderr(std::string_view text) {
    if (silent) return;
    write_all(STDERR_FILENO, text);  // a failure cannot be reported
}

void print_line_to_stderr(std::string_view text) {
    print_to_stderr("mnist-knn: " + harmless(text) + '\n');
}

void write_output(const std::string& file, const std::function<void(std::ostream&)>& write,
                  const std::function<void()>& before_in_place) {
    stop_if_asked();
    const auto write_it = [&](std::ostream& out) {
        write(out);
        if (!out.flush()) return;
        stop_if_asked();
        if (before_in_place) before_in_place();
    };
    if (!is_standard_output(file)) return write_file_atomically(file, write_it);
    StandardOutput buffer;
    std::ostream stream(&buffer);
    write_it(stream);
    judge(buffer.error);
}

void write_output(const std::string& file, std::string_view text) {
    write_output(file, [&](std::ostream& out) { out << text; });
}

void write_output(const std::string& file, std::span<const std::uint8_t> bytes) {
    write_output(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::vector<OutputFile> asked_for(std::vector<OutputFile> files) {
    std::erase_if(files, [](const OutputFile& one) { return one.file.empty(); });
    return files;
}

bool take_standard_output(std::span<const OutputFile> files) {
    return std::any_of(files.begin(), files.end(),
                       [](const OutputFile& one) { return is_standard_output(one.file); });
}

void write_outputs_together(std::span<const OutputFile> files) {
    if (files.empty()) return;
    const auto& [file, write] = files.front();
    write_output(file, write, [&] { write_outputs_together(files.subspan(1)); });
}

void OutputStreams::check() const {
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (!streams_[i]->good() && !may_end_early_[i]) throw StreamFailed{streams_[i]};
}

void OutputStreams::open_next(std::span<const std::string> files,
                              const std::function<void(const OutputStreams&)>& work) {
    if (streams_.size() == files.size()) {
        work(*this);
        for (std::ostream* stream : streams_)
            stream->flush();
        return check();
    }
    const std::string& file = files[streams_.size()];
    write_output(file, [&](std::ostream& out) {
        streams_.push_back(&out);
        may_end_early_.push_back(is_standard_output(file));
        try {
            open_next(files, work);
        } catch (const StreamFailed& failed) {
            if (failed.stream != &out) throw;
        }
    });
}

void write_outputs_at_once(std::span<const std::string> files,
                           const std::function<void(const OutputStreams&)>& work) {
    OutputStreams streams;
    streams.open_next(files, work);
}

bool is_standard_output(const std::string& file) {
    return file == "-" || named_descriptor(file) == STDOUT_FILENO;
}

void check_output_file(const std::string& file) {
    if (is_standard_output(file)) return;
    struct stat status = {};
    const bool exists = ::stat(file.c_str(), &status) == 0;
    if (!exists && errno != ENOENT && errno != ENOTDIR) refuse(file, errno);
    if (exists && S_ISDIR(status.st_mode)) throw DataError(file + ": is a folder; expected a file");
    if (exists && ::access(file.c_str(), W_OK) != 0) refuse(file, errno);
    if (exists && !S_ISREG(status.st_mode)) return;  // a device or a pipe is written in place
    check_writable(follow_links(file).parent_path(), file);
}

void check_output_folder(const std::string& folder) {
    std::error_code none;
    fs::path existing = fs::absolute(folder, none).lexically_normal();
    if (none == std::errc::not_enough_memory) throw std::bad_alloc();
    if (none) refuse(folder, none.value());  // the working folder is gone
    std::size_t longest = 0;                 // of the names that will be made
    while (!fs::exists(existing, none) && existing.has_relative_path()) {
        longest = std::max(longest, existing.filename().string().size());
        existing = existing.parent_path();
    }
    if (!fs::is_directory(existing, none))
        throw DataError(folder + ": " + (fs::exists(folder, none) ? "is" : existing.string() + " is") +
                        " a file; expected a folder");
    const long available = ::pathconf(existing.c_str(), _PC_NAME_MAX);
    if (available > 0 && longest > static_cast<std::size_t>(available)) refuse(folder, ENAMETOOLONG);
    check_writable(existing, folder);
}

}  // namespace knn
