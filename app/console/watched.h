#pragma once
/// Work with a progress bar and interruption.

#include "app/cli/options.h"
#include "app/console/interrupt.h"
#include "app/console/progress.h"
#include "app/console/terminal.h"
#include "data/core/watch.h"

namespace knn {

/// When a bar is drawn: --quiet means never, unless --progress says otherwise.
inline When progress_when(const OutputOptions& output) {
    return output.quiet && output.progress == When::automatic ? When::never : output.progress;
}

/// For work that shows no progress: it ends early where the user asks to stop.
inline Watch stoppable() {
    return {.progress = nullptr, .stop = &stop_flag()};
}

/// Runs `work` with a watch that draws a bar on the terminal if it takes long enough, and handles Ctrl-C.
/// `what`: "searching".
template <class Work>
auto watched(const OutputOptions& output, const char* what, const Work& work) {
    constexpr int delay_ms = 300;
    const When wanted = progress_when(output);
    Progress progress(use_progress(wanted), wanted == When::always ? 0 : delay_ms, what);
    Watch watch = stoppable();
    watch.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
    return work(watch);
}

}  // namespace knn
