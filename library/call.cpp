#include "library/call.h"

#include <filesystem>
#include <iterator>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>

#include "data/core/errors.h"
#include "data/core/exact_distance.h"
#include "data/core/format.h"
#include "data/core/problem.h"

namespace knn::library {

namespace {

thread_local char last_error[1024] = "";

/// A message of the library in one line, without the mark of settings (data/core/errors.h), cut where it is too long.
knn_status failed(knn_status status, std::string_view text) {
    std::string visible;
    try {
        text = visible = harmless(text);
    } catch (const std::bad_alloc&) {  // as it is
    }
    std::size_t size = 0;
    for (std::size_t at = 0; at < text.size() && size + 1 < sizeof last_error; ++at) {
        if (!setting_at(text, at).empty()) at += setting_mark.size();
        last_error[size++] = text[at];
    }
    last_error[size] = '\0';
    return status;
}

}  // namespace

knn_status status_of_exception() noexcept {
    try {
        throw;
    } catch (const Unsupported& error) {
        return failed(KNN_UNSUPPORTED, error.what());
    } catch (const UsageError& error) {
        return failed(KNN_INVALID, error.what());
    } catch (const std::invalid_argument& error) {
        return failed(KNN_INVALID, error.what());
    } catch (const MemoryError& error) {
        return failed(KNN_NO_MEMORY, error.what());
    } catch (const DataError& error) {
        return failed(KNN_DATA, error.what());
    } catch (const DeviceError& error) {
        return failed(KNN_DEVICE, error.what());
    } catch (const Interrupted&) {
        return failed(KNN_STOPPED, "stopped by the callback; expected 0 from it to go on");
    } catch (const std::bad_alloc&) {
        return failed(KNN_NO_MEMORY, "out of memory; expected enough for vectors, neighbors and answers");
    } catch (const std::length_error&) {
        return failed(KNN_NO_MEMORY, "out of memory; expected smaller counts");
    } catch (const std::filesystem::filesystem_error& error) {
        return failed(KNN_DATA, error.what());
    } catch (const std::system_error&) {
        return failed(KNN_NO_MEMORY,
                      "cannot start a thread; expected enough memory and a higher limit of threads");
    } catch (const std::exception& error) {
        return failed(KNN_INTERNAL, error.what());
    } catch (...) {
        return failed(KNN_INTERNAL, "unknown exception; expected none");
    }
}

void require(bool holds, const std::string& text) {
    if (!holds) throw std::invalid_argument(text);
}

void require_there(const void* given, const char* name, const char* what) {
    if (given == nullptr) throw std::invalid_argument(std::string(name) + ": is NULL; expected " + what);
}

void require_flag(int value, const char* name, const char* field, int reserved) {
    const auto has = [&](const char* of, int what) {
        return std::string(name) + ": has " + of + ' ' + std::to_string(what);
    };
    require(value == 0 || value == 1, has(field, value) + "; expected 0 or 1");
    require(reserved == 0, has("reserved", reserved) + "; expected 0");
}

std::size_t checked_struct_size(const void* given, const char* name) {
    require_there(given, name, "a struct");
    std::size_t size = 0;
    std::memcpy(&size, given, sizeof size);
    require(
        size >= sizeof size && size <= max_struct_size,
        std::string(name) + ": has struct_size " + std::to_string(size) + "; expected sizeof of its type");
    return size;
}

void require_zeros(const void* given, std::size_t begin, std::size_t end, const char* name) {
    const auto* const bytes = static_cast<const unsigned char*>(given);
    if (begin < end && std::any_of(bytes + begin, bytes + end, [](unsigned char byte) { return byte != 0; }))
        throw Unsupported(std::string(name) + ": sets fields of a later version; expected those of " +
                          knn_version());
}

const DeviceCopies& copies_of(const char* name) {
    const DeviceCopies* const copies = device_copies();
    if (copies == nullptr)
        throw Unsupported(std::string(name) +
                          ": is in device memory, and this build has no CUDA; expected KNN_HOST");
    return *copies;
}

Rows dense_rows(const knn_vectors& vectors, std::vector<std::uint8_t>& copy, const char* name) {
    const std::string what = std::string(name) + ": ";
    const auto [struct_size, data, count, dim, pitch, type, space, stream, image_rows, image_cols, borrowed,
                reserved] = vectors;
    require(type >= KNN_UINT8 && type <= KNN_FLOAT64,
            what + "has type " + std::to_string(type) + "; expected KNN_UINT8 to KNN_FLOAT64");
    require(space == KNN_HOST || space == KNN_CUDA,
            what + "has space " + std::to_string(space) + "; expected KNN_HOST or KNN_CUDA");
    const DeviceCopies* const copies = space == KNN_HOST ? nullptr : &copies_of(name);
    const auto element = static_cast<ElementType>(type);
    const std::int64_t most = element == ElementType::uint8 ? max_dim : max_columns;
    require(count >= 0, what + "has count " + std::to_string(count) + "; expected at least 0");
    require(dim >= 1 && dim <= most,
            what + "has dim " + std::to_string(dim) + "; expected 1 to " + std::to_string(most));
    const std::int64_t row_bytes = dim * size_of(element);
    require(pitch == 0 || pitch >= row_bytes, what + "has pitch " + std::to_string(pitch) +
                                                  "; expected 0, or at least " + std::to_string(row_bytes) +
                                                  ", the bytes of a vector");
    const std::int64_t step = pitch == 0 ? row_bytes : pitch;
    require(count <= std::numeric_limits<std::ptrdiff_t>::max() / step,
            what + "has count " + std::to_string(count) + "; expected one that fits memory");
    if (count > 0) require_there(data, name, "its data");
    require(image_rows >= 0 && image_cols >= 0 &&
                ((image_rows == 0 && image_cols == 0) || std::int64_t{image_rows} * image_cols == dim),
            what + "has images of " + std::to_string(image_rows) + "x" + std::to_string(image_cols) +
                "; expected dim pixels, or 0x0");
    require_flag(borrowed, name, "borrowed", reserved);
    require(borrowed == 0 || (step == row_bytes && space == KNN_HOST),
            what + "has borrowed 1; expected 0, or vectors in KNN_HOST memory without gaps");
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    Rows rows{bytes, count, dim, element};
    if (copies != nullptr && count > 0) {
        copy.resize(static_cast<std::size_t>(rows.bytes()));
        copies->to_host(data, step, copy.data(), row_bytes, count, stream);
        rows.pixels = copy.data();
    } else if (step != row_bytes) {
        copy.resize(static_cast<std::size_t>(rows.bytes()));
        for (std::int64_t i = 0; i < count; ++i)
            std::copy_n(bytes + i * step, row_bytes, copy.data() + i * row_bytes);
        rows.pixels = copy.data();
    }
    if (const Magnitude found = magnitude_of(rows); !found.is_finite())
        throw std::invalid_argument(what + *refuse_elements({}, found, dim));
    return rows;
}

void require_same_form(const Rows& rows, const Rows& set, const char* name) {
    const auto form = [](const Rows& of) {
        return "dim " + std::to_string(of.dim) + " and type " + std::string(knn::name(of.type));
    };
    require(rows.dim == set.dim && rows.type == set.type,
            std::string(name) + ": has " + form(rows) + "; expected " + form(set) + ", as the set");
}

void require_same_images(const knn_vectors& vectors, const ImageShape& set, const char* name) {
    const ImageShape own{vectors.image_rows, vectors.image_cols};
    require(
        own.rows <= 1 || set.rows <= 1 || own == set,
        std::string(name) + ": has images of " + own.text() + "; expected " + set.text() + ", as the set");
}

knn_options read_options(const knn_options* given) {
    const knn_options options = given == nullptr ? knn_options{} : read_struct(given, "options");
    require(options.reject >= 0 && options.reject < 1,
            "options: has reject " + std::to_string(options.reject) + "; expected 0 to less than 1");
    return options;
}

Progress::Progress(knn_progress callback, void* data) : ask_([this] { token_.step(done_, total_); }) {
    token_.stop = &stop_;
    if (callback != nullptr)
        token_.progress = [this, callback, data](std::int64_t done, std::int64_t total) {
            done_ = done;
            total_ = total;
            if (callback(data, done, total) != 0) stop_ = true;
        };
}

}  // namespace knn::library

using namespace knn::library;

extern "C" {

const char* knn_status_name(knn_status status) {
    constexpr const char* names[] = {"KNN_OK",     "KNN_INVALID",   "KNN_UNSUPPORTED", "KNN_DATA",
                                     "KNN_DEVICE", "KNN_NO_MEMORY", "KNN_STOPPED",     "KNN_INTERNAL"};
    const auto at = static_cast<unsigned>(status);
    return at < std::size(names) ? names[at] : "unknown";
}

const char* knn_last_error(void) {
    return last_error;
}

const char* knn_version(void) {
    return MNIST_KNN_VERSION;
}

int knn_has(const char* feature) {
    constexpr std::string_view features[] = {MNIST_KNN_FEATURES};
    return feature != nullptr && std::ranges::count(features, std::string_view(feature)) > 0;
}
}
