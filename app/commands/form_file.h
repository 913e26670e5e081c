#pragma once
/// --template: the description of a form.

#include <string>

#include "classifier/form.h"

namespace knn {

/// Reads the schema mnist-knn/template/1 (docs/classify.md). Throws DataError.
Form read_form(const std::string& file);

}  // namespace knn
