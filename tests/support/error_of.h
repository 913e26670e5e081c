#pragma once
/// The text of an error, to compare with what is expected.

#include <doctest/doctest.h>

#include <string>

namespace knn::test {

/// What `work` throws as an `Error`, which must be one line; empty if it throws nothing.
template <class Error, class Work>
std::string error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find('\n') == std::string::npos);
        return text;
    }
    return "";
}

}  // namespace knn::test
