#include "app/view/viewer.h"

#include <algorithm>
#include <utility>

namespace knn {

namespace {

/// Keysyms of X11 (keysymdef.h); all windows on Linux report them.
enum Key {
    escape = 27,
    home = 0xff50,
    left = 0xff51,
    up = 0xff52,
    right = 0xff53,
    down = 0xff54,
    page_up = 0xff55,
    page_down = 0xff56,
    end = 0xff57,
    keypad_0 = 0xffb0,
    keypad_9 = 0xffb9,
    f1 = 0xffbe
};

/// By how many digits a key moves.
constexpr std::int64_t far = std::int64_t{1} << 40;
constexpr std::pair<int, std::int64_t> key_moves[] = {
    {'n', 1},   {' ', 1}, {right, 1},   {down, 1},  {'p', -1},       {'\b', -1},
    {left, -1}, {up, -1}, {home, -far}, {end, far}, {page_down, 10}, {page_up, -10}};

}  // namespace

Viewer::Viewer(const Evaluation& evaluation, std::vector<std::int64_t> images)
    : evaluation_(evaluation), images_(std::move(images)), shown_(images_) {}

Reply Viewer::press(int key) {
    if (key < 0) return Reply::nothing;
    key &= 0xffff;
    if (key >= keypad_0 && key <= keypad_9) key += '0' - keypad_0;
    if (key >= 'A' && key <= 'Z') key += 'a' - 'A';
    if (key >= 0xff00 && (key < home || key > end) && key != f1) return Reply::nothing;  // Shift and the like
    const bool had_message = !message_.empty(), had_help = help_;
    message_.clear();
    help_ = false;
    if (key == escape && had_help) return Reply::redraw;
    if (key == 'q' || key == escape) return Reply::quit;
    if (key == 's') return Reply::save;
    if (key == 'h' || key == '?' || key == f1) {
        help_ = !had_help;
        return Reply::redraw;
    }
    for (const auto& [pressed, by] : key_moves)
        if (key == pressed) return move(by);
    if (key >= '0' && key <= '9') return toggle_filter(key - '0');
    return had_message || had_help ? Reply::redraw : Reply::nothing;
}

Reply Viewer::move(std::int64_t by) {
    const std::int64_t before = place_;
    place_ = std::clamp<std::int64_t>(place_ + by, 0, count() - 1);
    if (place_ == before) message_ = by > 0 ? "this is the last one" : "this is the first one";
    return Reply::redraw;
}

Reply Viewer::toggle_filter(int label) {
    const std::int64_t before = image();
    const auto wanted = filter_ == label ? std::nullopt : std::optional(label);
    std::vector<std::int64_t> chosen;
    for (const std::int64_t one : images_)
        if (!wanted || evaluation_.data->test.labels.data()[one] == *wanted) chosen.push_back(one);
    if (chosen.empty()) {
        message_ = "none of these has the true label " + std::to_string(label);
        return Reply::redraw;
    }
    filter_ = wanted;
    shown_ = std::move(chosen);
    // Keeps the current digit if it is still in the list.
    const auto same = std::ranges::find(shown_, before);
    place_ = same != shown_.end() ? same - shown_.begin() : 0;
    return Reply::redraw;
}

void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images) {
    ShownWindow window("mnist-knn view", view_without_window);
    Viewer viewer(evaluation, images);
    window.show(draw_scene(evaluation, viewer));
    while (true) {
        const int key = window.wait_key();
        if (!window.is_visible()) return;
        const Reply reply = viewer.press(key);
        if (reply == Reply::quit) return;
        if (reply == Reply::save)
            viewer.tell(
                save_picture("digit-" + std::to_string(viewer.image()), scene_png(evaluation, viewer)));
        if (reply != Reply::nothing) window.show(draw_scene(evaluation, viewer));
    }
}

}  // namespace knn
