#pragma once
/// The window of `draw`.

#include <functional>

#include "classifier/picture_answers.h"
#include "data/picture/picture.h"

namespace knn {

/// Shows a pad until the user quits or closes the window; `classify` answers the drawing after each stroke. `answers`: the
/// training set and the method. Throws DeviceError, Interrupted, and what `classify` throws.
void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify);

}  // namespace knn
