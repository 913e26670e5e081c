#include "app/console/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace knn {

namespace {

bool dumb_terminal() {
    const char* kind = std::getenv("TERM");
    return kind == nullptr || *kind == '\0' || std::string_view(kind) == "dumb";
}

}  // namespace

void occupy_standard_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(number, F_GETFD) != -1) continue;
        // open() returns the lowest free descriptor, the closed one. The opposite mode keeps its use an
        // error.
        const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (::open("/dev/null", mode) != number) std::abort();
    }
}

bool use_color(When wanted) {
    if (wanted != When::automatic) return wanted == When::always;
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) != 0 && !dumb_terminal();
}

bool use_progress(When wanted) {
    if (wanted != When::automatic) return wanted == When::always;
    return ::isatty(STDERR_FILENO) != 0 && !dumb_terminal();
}

int terminal_width() {
    winsize size = {};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

}  // namespace knn
