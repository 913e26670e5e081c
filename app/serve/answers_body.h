#pragma once
/// The bodies of responses.

#include <string>
#include <vector>

#include "app/serve/batcher.h"
#include "app/serve/model.h"

namespace knn::web {

/// Of POST /v1/classify: the JSON of `classify`, with the size of the picture, the lines of a page and base64 of pixels.
/// `limit`: neighbors of each digit; 0: all. `neighbor_pixels`: those of each neighbor too.
std::string classify_body(const PictureAnswers& answers, int limit, bool neighbor_pixels);

/// The same as a page, for browsers without scripts; `error`: instead of answers.
std::string classify_page(const PictureAnswers& answers, const std::string& error);

/// Of POST /v1/predict.
std::string predict_body(const std::vector<Predicted>& answers);

/// Of GET /v1/confusion.
std::string confusion_body(const Evaluation& evaluation);

/// The misclassified test images, the most confident first; `truth`, `predicted`: labels, or -1 for any.
std::vector<std::int64_t> mistakes_of(const Evaluation& evaluation, int truth, int predicted);

/// Of GET /v1/mistakes: these images, whose neighbors are known, of `total`.
std::string mistakes_body(const Evaluation& evaluation, const std::vector<std::int64_t>& images,
                          std::int64_t total);

}  // namespace knn::web
