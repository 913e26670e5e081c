#pragma once
/// The files of app/report/page/, embedded by CMake.

#include <string_view>

namespace knn {

extern const std::string_view page_css;
extern const std::string_view page_html, page_js;  // the report's page; js: its scripts, one after the other
extern const std::string_view audit_html, audit_js;  // the page of `audit`

}  // namespace knn
