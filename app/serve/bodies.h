#pragma once
/// Readers of what a request carries: parameters and images, which all throw Problem (400), for any bytes; and the bodies of
/// responses.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/serve/routes.h"

namespace knn::web {

/// "a=1&b=2" by name, decoded. Names other than these, given twice or without a value are refused.
class Parameters {
  public:
    Parameters(std::string_view query, std::initializer_list<std::string_view> names);

    /// A whole number from `low` to `high`; `otherwise` where it was not given.
    int number(const std::string& name, int low, int high, int otherwise) const;
    bool flag(const std::string& name) const { return number(name, 0, 1, 0) == 1; }

  private:
    std::map<std::string, std::string> values_;
};

/// The pixels of `predict`, n × 784 bytes with n at least 1: the body itself, or that of an .npy file of uint8,
/// n × 28 × 28 or n × 784.
std::string pixels_of(std::string body);

/// Of POST /v1/classify: the JSON of `classify`, with the size of the picture, the lines of a page and base64 of pixels.
/// `limit`: neighbors of each digit; 0: all. `neighbor_pixels`: those of each neighbor too.
std::string classify_body(const PictureAnswers& answers, int limit, bool neighbor_pixels);

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
