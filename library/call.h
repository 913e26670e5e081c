#pragma once
/// What the functions of knn.h share: exceptions become statuses, and structs of other versions are read.

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "classifier/index.h"
#include "data/file/transfer.h"
#include "mnist_knn/knn.h"

namespace knn::library {

/// What this build or version cannot do.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The status of the exception that is being handled, whose text becomes the thread's last error.
knn_status status_of_exception() noexcept;

/// Runs the body of a function of knn.h.
template <class Body>
knn_status call(const Body& body) noexcept {
    try {
        body();
        return KNN_OK;
    } catch (...) {
        return status_of_exception();
    }
}

/// Throws std::invalid_argument with this text unless `holds`.
void require(bool holds, const std::string& text);

/// "NAME: is NULL; expected WHAT".
void require_there(const void* given, const char* name, const char* what);
/// A field that is 0 or 1; `reserved` is 0.
void require_flag(int value, const char* name, const char* field, int reserved);

/// No version of a struct is larger: more is a struct_size that was never set.
inline constexpr std::size_t max_struct_size = 1024;

std::size_t checked_struct_size(const void* given, const char* name);
/// Throws Unsupported if bytes begin .. end of a struct, fields of a later version, are not all 0.
void require_zeros(const void* given, std::size_t begin, std::size_t end, const char* name);

/// The caller's struct: fields that its version lacks are 0, and so must be those that this version lacks.
template <class Struct>
Struct read_struct(const Struct* given, const char* name) {
    const std::size_t size = checked_struct_size(given, name);
    require_zeros(given, sizeof(Struct), size, name);
    Struct known{};
    std::memcpy(&known, given, std::min(size, sizeof known));
    return known;
}

/// Fills in the fields that the caller's version has.
template <class Struct>
void write_struct(Struct value, Struct* given, const char* name) {
    const std::size_t size = checked_struct_size(given, name);
    value.struct_size = size;
    std::memcpy(given, &value, std::min(size, sizeof value));
}

/// Whose text a name of a field is, NULL is "".
inline std::string text_of(const char* text) {
    return text == nullptr ? "" : text;
}

/// Copies to and from memory that a caller has on a device. Throws Unsupported in a build without CUDA.
const DeviceCopies& copies_of(const char* name);

/// The vectors of a caller without gaps, on the host: in its memory, or copied to `copy`.
Rows dense_rows(const knn_vectors& vectors, std::vector<std::uint8_t>& copy, const char* name);

/// Throws std::invalid_argument unless rows have the dim and the type of the set's.
void require_same_form(const Rows& rows, const Rows& set, const char* name);

/// Throws std::invalid_argument if both are images, of different sizes.
void require_same_images(const knn_vectors& vectors, const ImageShape& set, const char* name);

/// Throws std::invalid_argument. NULL: all are defaults.
knn_options read_options(const knn_options* given);

/// A callback of the caller as a token. Must stay where it is.
class Progress {
  public:
    Progress(knn_progress callback, void* data);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    const ProgressToken& token() const { return token_; }

  private:
    std::atomic<bool> stop_ = false;
    std::int64_t done_ = 0, total_ = 1;  ///< that the callback was told last
    ProgressToken token_;
    StopCallback ask_;  ///< also where work has no token
};

}  // namespace knn::library
