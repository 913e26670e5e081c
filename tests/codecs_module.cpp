// The module of tests/support/codecs.h.
#include "tests/support/codecs.h"

extern "C" {
[[gnu::visibility("default")]] extern const knn::test::Codecs knn_test_codecs;
const knn::test::Codecs knn_test_codecs = {
    .imencode = cv::imencode, .imdecode = cv::imdecode, .imwrite = cv::imwrite};
}
