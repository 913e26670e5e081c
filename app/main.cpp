#include <exception>
#include <new>
#include <system_error>

#include "app/cli/command_line.h"
#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/console/terminal.h"

namespace {

enum ExitCode { done = 0, failed = 1, wrong_usage = 2, interrupted = 130 };

ExitCode report(const char* what, ExitCode code) {
    knn::print_line_to_stderr(std::string("error: ") + what);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    const auto start = knn::Clock::now();
    knn::occupy_standard_descriptors();
    knn::watch_for_interrupts();
    knn::CommandLine line;
    try {
        line.parse({argv + (argc > 0 ? 1 : 0), argv + argc});
        if (!line.answer.empty()) {
            knn::print(line.answer);
            return done;
        }
        return line.command->run(line.options, start);
    } catch (const knn::UsageError& error) {
        report(error.what(), wrong_usage);
        knn::print_to_stderr(line.usage());
        return wrong_usage;
    } catch (const knn::Interrupted&) {
        return interrupted;
    } catch (const std::bad_alloc&) {
        return report("out of memory; expected enough free memory for the images and their neighbors",
                      failed);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::resource_unavailable_try_again) return report(error.what(), failed);
        return report(
            "cannot start a thread; expected enough memory and a sufficient process limit (ulimit -u, -v)",
            failed);
    } catch (const std::exception& error) {
        return report(error.what(), failed);
    }
}
