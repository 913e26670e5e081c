#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "app/cli/command_line.h"
#include "app/cli/option_table.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/serve/decoder.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/picture/digit_image.h"
#include "data/set/cache.h"

namespace {

enum ExitCode { done = 0, failed = 1, wrong_usage = 2, interrupted = 130 };

int run(knn::CommandLine& line, const std::vector<std::string>& words, knn::Clock::time_point start) {
    knn::start_ranks(words);
    line.parse(words);
    if (!line.answer.empty()) {
        knn::print(line.answer);
        return knn::end_ranks(done);
    }
    knn::announce_files(!line.options.output.quiet);
    if (!knn::prepare_rank(*line.command, line.options)) return knn::end_ranks(done);
    knn::check_distinct(knn::output_places(line.options));
    const int code = line.command->run(line.options, start);
    knn::note(knn::cache_notice(), line.options.output);
    return knn::end_ranks(code);
}

/// Where addresses are limited (ulimit -v), all threads allocate from one heap: one of each would reserve 64 MiB, and the
/// answers would depend on their number.
void share_heap() {
    struct rlimit limit = {};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
}

constexpr const char* no_memory =
    "out of memory; expected enough free memory for the images and their neighbors";

/// Memory may run out where no exception can pass: destructors of nlohmann::json allocate, and a directory_iterator of
/// libstdc++ ends the process itself, without an exception.
[[noreturn]] void end_process() {
    knn::remove_unfinished_files();
    try {
        if (std::current_exception()) throw;
        throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
        for (const std::string_view text : {"mnist-knn: error: ", no_memory, "\n"})
            knn::write_all(STDERR_FILENO, text);
        ::_exit(failed);
    } catch (...) {
        std::abort();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto start = knn::Clock::now();
    knn::occupy_standard_descriptors();
    if (argc == 2 && argv[1] == knn::web::decode_worker_mode) {
        knn::set_up_opencv();
        return knn::web::decode_worker();
    }
    knn::watch_for_interrupts();
    std::set_terminate(end_process);
    share_heap();
    knn::set_up_opencv();
    knn::CommandLine line;
    try {
        return run(line, {argv + (argc > 0 ? 1 : 0), argv + argc}, start);
    } catch (const knn::RanksEnd& end) {
        knn::print_line_to_stderr(std::string("error: ") + end.what());
        return knn::end_ranks(end.exit_code);
    } catch (const knn::UsageError& error) {
        const int code = knn::fail_ranks(error.what(), wrong_usage);
        if (code == wrong_usage) knn::print_to_stderr(line.usage());
        return code;
    } catch (const knn::Interrupted&) {
        return knn::fail_ranks("", interrupted);
    } catch (const std::bad_alloc&) {
        return knn::fail_ranks(no_memory, failed);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::resource_unavailable_try_again)
            return knn::fail_ranks(error.what(), failed);
        return knn::fail_ranks(
            "cannot start a thread; expected enough memory and a sufficient process limit (ulimit -u, -v)",
            failed);
    } catch (const std::exception& error) {
        return knn::fail_ranks(error.what(), failed);
    }
}
