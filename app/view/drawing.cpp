#include "app/view/drawing.h"

#include <algorithm>

namespace knn {

namespace {

bool is_inside(Point at) {
    return at.x >= 0 && at.x < Drawing::side && at.y >= 0 && at.y < Drawing::side;
}

Point on_pad(Point at) {
    return {std::clamp(at.x, 0, Drawing::side - 1), std::clamp(at.y, 0, Drawing::side - 1)};
}

}  // namespace

void Drawing::press(Point at) {
    if (!is_inside(at)) return;
    strokes_.push_back({at});
    pen_is_down_ = true;
}

void Drawing::move(Point at) {
    if (pen_is_down_ && strokes_.back().back() != on_pad(at)) strokes_.back().push_back(on_pad(at));
}

bool Drawing::undo() {
    pen_is_down_ = false;
    if (strokes_.empty()) return false;
    strokes_.pop_back();
    return true;
}

void Drawing::clear() {
    pen_is_down_ = false;
    strokes_.clear();
}

}  // namespace knn
