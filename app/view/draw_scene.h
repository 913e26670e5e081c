#pragma once
/// The picture in the window of `draw`, by OpenCV. A build without it links draw_scene_none.cpp, which throws.

#include "app/view/pad_drawing.h"
#include "app/view/scene.h"
#include "classifier/picture_answers.h"
#include "data/picture/picture.h"

namespace knn {

/// Where the pad lies in the window, in pixels.
inline constexpr int pad_left = 36, pad_top = 84;

/// The pad as a picture, dark ink on white paper, half as wide and high.
Picture picture_of(const PadDrawing& drawing);
/// The same as a PNG.
std::vector<std::uint8_t> drawing_png(const PadDrawing& drawing);

/// The pad, the answer (none: nothing was asked yet), its neighbors, keys and a message. `answers`: the training set and
/// the method.
Frame draw_pad(const PadDrawing& drawing, const Answer* answer, const PictureAnswers& answers,
               const std::string& message);

}  // namespace knn
