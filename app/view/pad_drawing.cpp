#include "app/view/pad_drawing.h"

#include <algorithm>

namespace knn {

namespace {

bool is_inside(Point at) {
    return at.x >= 0 && at.x < PadDrawing::side && at.y >= 0 && at.y < PadDrawing::side;
}

Point on_pad(Point at) {
    return {std::clamp(at.x, 0, PadDrawing::side - 1), std::clamp(at.y, 0, PadDrawing::side - 1)};
}

}  // namespace

void PadDrawing::press(Point at) {
    if (!is_inside(at)) return;
    strokes_.push_back({at});
    pen_is_down_ = true;
}

void PadDrawing::move(Point at) {
    if (pen_is_down_ && strokes_.back().back() != on_pad(at)) strokes_.back().push_back(on_pad(at));
}

bool PadDrawing::undo() {
    pen_is_down_ = false;
    if (strokes_.empty()) return false;
    strokes_.pop_back();
    return true;
}

void PadDrawing::clear() {
    pen_is_down_ = false;
    strokes_.clear();
}

}  // namespace knn
