#include "app/view/window.h"

#include "app/console/output.h"
#include "app/view/scene.h"
#include "app/view/shown_window.h"
#include "data/core/errors.h"

namespace knn {

namespace {

void save(const Evaluation& evaluation, Viewer& viewer) {
    try {
        const std::string name = free_png_name("digit-" + std::to_string(viewer.image()));
        write_output(name, scene_png(evaluation, viewer));
        viewer.tell("saved " + name);
    } catch (const DataError& error) {
        viewer.tell(error.what());
    }
}

}  // namespace

void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images) {
    ShownWindow window("mnist-knn view", view_without_window);
    Viewer viewer(evaluation, images);
    window.show(draw_scene(evaluation, viewer));
    while (true) {
        const int key = window.wait_key();
        if (!window.is_visible()) return;
        const Reply reply = viewer.press(key);
        if (reply == Reply::quit) return;
        if (reply == Reply::save) save(evaluation, viewer);
        if (reply != Reply::nothing) window.show(draw_scene(evaluation, viewer));
    }
}

}  // namespace knn
