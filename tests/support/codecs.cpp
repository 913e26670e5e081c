#include "tests/support/codecs.h"

#include "data/file/module.h"

namespace knn::test {

const Codecs& codecs() {
    static const auto& module = *static_cast<const Codecs*>(load_module({.file = "test_codecs",
                                                                         .table = "knn_test_codecs",
                                                                         .purpose = "tests of pictures",
                                                                         .libraries = "OpenCV's libraries"}));
    return module;
}

}  // namespace knn::test
