#pragma once
/// The files of app/report/page/, embedded by CMake.

#include <string_view>

namespace knn {

extern const std::string_view page_html, page_css, page_js;  // page_js: the scripts, one after the other

}  // namespace knn
