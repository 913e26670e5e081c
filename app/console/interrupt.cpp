#include "app/console/interrupt.h"

#include <csignal>

#include "data/core/errors.h"

namespace knn {

namespace {
std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");
}  // namespace

void watch_for_interrupts() {
    struct sigaction on_stop = {};
    on_stop.sa_handler = [](int) { stop.store(true, std::memory_order_relaxed); };
    on_stop.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second one finds the default
    sigemptyset(&on_stop.sa_mask);
    sigaction(SIGINT, &on_stop, nullptr);
    sigaction(SIGTERM, &on_stop, nullptr);
    struct sigaction on_hangup = {};
    sigaction(SIGHUP, nullptr, &on_hangup);
    if (on_hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &on_stop, nullptr);
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, nullptr);
    sigaction(SIGXFSZ, &ignore, nullptr);
}

const std::atomic<bool>& stop_flag() {
    return stop;
}

void stop_if_asked() {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace knn
