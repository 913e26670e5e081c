// Image formats and windows by OpenCV: picture_module.h has the table.
#include <dlfcn.h>
#include <unistd.h>
#include <ext/stdio_sync_filebuf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <limits>
#include <mutex>
#include <new>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/picture/picture_module.h"

namespace knn::opencv {

namespace {

constexpr std::size_t max_heard = 16384;  // a codec may warn for each of a million pixels

/// The text of the Quiet in this thread. It has `max_heard` bytes, so that nothing throws inside a codec.
thread_local std::string* heard = nullptr;

ssize_t hear_or_show(void*, const char* text, std::size_t size) {
    if (heard == nullptr) return std::max<ssize_t>(::write(STDERR_FILENO, text, size), 0);
    heard->append(text, std::min(size, max_heard - heard->size()));
    return static_cast<ssize_t>(size);
}

/// Whether libtiff had an error in this thread; it goes on without some of the data.
thread_local bool has_tiff_error = false;

/// `module`: the function. A tag that cannot be read is as if it were not there; one that matters ends the decoding.
void hear_tiff_error(const char* module, const char*, std::va_list) {
    const std::string_view name(module != nullptr ? module : "");
    const bool of_tag =
        name == "_TIFFVSetField" || name.starts_with("TIFFFetch") || name == "TIFFReadDirectory";
    has_tiff_error = has_tiff_error || !of_tag;
}

/// Of a fax that is damaged libtiff only warns.
void hear_tiff_warning(const char* module, const char*, std::va_list) {
    has_tiff_error = has_tiff_error || std::string_view(module != nullptr ? module : "").starts_with("Fax");
}

/// libtiff gets these handlers in place of OpenCV's, which drop what they are told and are set when the first TIFF is read: an empty
/// one.
void listen_to_libtiff() {
    static std::once_flag listens;
    std::call_once(listens, [] {
        char empty[] = "II*\0\0\0\0\0";
        cv::imdecode(cv::Mat(1, sizeof empty, CV_8U, empty), cv::IMREAD_UNCHANGED);
        using Set = decltype (&hear_tiff_error) (*)(decltype(&hear_tiff_error));
        if (void* const set = ::dlsym(RTLD_DEFAULT, "TIFFSetErrorHandler"))
            reinterpret_cast<Set>(set)(hear_tiff_error);
        if (void* const set = ::dlsym(RTLD_DEFAULT, "TIFFSetWarningHandler"))
            reinterpret_cast<Set>(set)(hear_tiff_warning);
    });
}

/// libjpeg and libpng write to C's stream `stderr`, OpenCV to std::cerr. Both are replaced, for the rest
/// of the process, by a stream that depends on the writing thread. C's is a variable that may be assigned (The
/// GNU C Library, 12.2 Standard Streams). Null if there is no memory.
std::FILE* divert_streams() {
    std::FILE* stream = ::fopencookie(nullptr, "w", {nullptr, hear_or_show, nullptr, nullptr});
    if (stream == nullptr) return nullptr;
    std::setvbuf(stream, nullptr, _IONBF, 0);
    std::cerr.rdbuf(new __gnu_cxx::stdio_sync_filebuf<char>(stream));  // never deleted: others may write late
    stderr = stream;
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return stream;
}

/// While it lives, what codecs write to standard error in this thread is kept here in place of being shown.
/// Other threads, and the descriptor of standard error, are left alone.
class Quiet {
  public:
    /// Throws std::bad_alloc.
    Quiet() {
        static const std::FILE* const stream = divert_streams();
        if (stream == nullptr) throw std::bad_alloc();
        heard_.reserve(max_heard);
        heard = &heard_;
        has_tiff_error = false;
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    ~Quiet() { heard = nullptr; }

    /// Whether libjpeg, libpng or libtiff said that it went on without some of the data.
    bool heard_of_damage() const {
        for (const char* words : {"Premature end", "Corrupt JPEG", "premature", "Read error",
                                  "Not enough data", "CRC error", "Decoding error"})
            if (heard_.find(words) != std::string::npos) return true;
        return has_tiff_error;
    }

  private:
    std::string heard_;
};

bool begins(const std::uint8_t* bytes, std::size_t size, const char* magic, std::size_t length) {
    return size >= length && std::equal(magic, magic + length, reinterpret_cast<const char*>(bytes));
}

/// 16 bits to 8; empty where samples are neither.
cv::Mat to_bytes(const cv::Mat& mat) {
    cv::Mat result;
    if (mat.depth() == CV_8U) return mat;
    if (mat.depth() == CV_16U) mat.convertTo(result, CV_8U, 1 / 257.0);
    return result;
}

/// What shows on paper of this gray. `premultiplied`: the colors are already weighted with the opacity.
cv::Mat on_paper(const cv::Mat& bgra, bool premultiplied, int paper) {
    cv::Mat gray;
    cv::cvtColor(bgra, gray, cv::COLOR_BGRA2GRAY);  // as of a picture without opacity
    for (int y = 0; y < bgra.rows; ++y) {
        const std::uint8_t* from = bgra.ptr(y);
        std::uint8_t* to = gray.ptr(y);
        for (int x = 0; x < bgra.cols; ++x, from += 4) {
            const int alpha = from[3], luma = to[x];
            const int seen =
                (premultiplied ? luma : (luma * alpha + 127) / 255) + (255 - alpha) * paper / 255;
            to[x] = static_cast<std::uint8_t>(std::min(seen, 255));
        }
    }
    return gray;
}

/// On white paper, or on black where so little shows on white and more on black: light ink.
cv::Mat on_paper(const cv::Mat& bgra, bool premultiplied) {
    constexpr double little = 32;
    const cv::Mat white = on_paper(bgra, premultiplied, 255);
    double darkest = 0, brightest = 0;
    cv::minMaxLoc(white, &darkest);
    if (255 - darkest >= little) return white;
    const cv::Mat black = on_paper(bgra, premultiplied, 0);
    cv::minMaxLoc(black, nullptr, &brightest);
    return brightest > 255 - darkest ? black : white;
}

cv::Mat to_gray(const cv::Mat& mat, const Opacity& opacity) {
    cv::Mat gray;
    if (mat.channels() == 1) return mat;
    if (mat.channels() == 4 && !opacity.none) return on_paper(mat, opacity.weighted);
    if (mat.channels() >= 3)
        cv::cvtColor(mat, gray, mat.channels() == 3 ? cv::COLOR_BGR2GRAY : cv::COLOR_BGRA2GRAY);
    return gray;
}

cv::Mat decoded(const std::uint8_t* bytes, std::size_t size, const Opacity& opacity) {
    if (size > std::size_t{std::numeric_limits<int>::max()}) return {};
    const cv::Mat buffer(1, int(size), CV_8U, const_cast<std::uint8_t*>(bytes));
    if (begins(bytes, size, "II", 2) || begins(bytes, size, "MM", 2)) listen_to_libtiff();
    // A JPEG's luminance is stored as it is: half the time of decoding its colors.
    const bool jpeg = begins(bytes, size, "\xff\xd8\xff", 3);
    const cv::Mat mat = cv::imdecode(
        buffer, jpeg ? cv::IMREAD_GRAYSCALE | cv::IMREAD_IGNORE_ORIENTATION : cv::IMREAD_UNCHANGED);
    cv::Mat reduced = to_bytes(mat);
    if (opacity.transparent >= 0 && !reduced.empty() && mat.channels() == 1)
        cv::merge(std::vector<cv::Mat>{reduced, reduced, reduced, mat != double(opacity.transparent)},
                  reduced);
    return reduced.empty() ? reduced : to_gray(reduced, opacity);
}

bool decode(const std::uint8_t* bytes, std::size_t size, const Opacity& opacity, Picture& picture,
            bool& damaged, std::string& error) {
    try {
        cv::Mat gray;
        {
            Quiet quiet;
            gray = decoded(bytes, size, opacity);
            damaged = quiet.heard_of_damage();
        }
        if (gray.empty()) {
            error = "cannot be decoded";
            return false;
        }
        picture.rows = gray.rows;
        picture.cols = gray.cols;
        picture.gray.resize(gray.total());
        gray.copyTo(cv::Mat(gray.rows, gray.cols, CV_8U, picture.gray.data()));
        return true;
    } catch (const std::bad_alloc&) {
        error.clear();
    } catch (const std::exception&) {
        error = "cannot be decoded";
    }
    return false;
}

/// OpenCV keeps one pointer for each window, so both are kept here; there is one window at a time.
struct Listener {
    void (*call)(void* data, MouseAction action, int x, int y) = nullptr;
    void* data = nullptr;
} listener;

void on_mouse(int event, int x, int y, int flags, void*) {
    if (event == cv::EVENT_LBUTTONDOWN || event == cv::EVENT_LBUTTONDBLCLK)
        listener.call(listener.data, MouseAction::press, x, y);
    else if (event == cv::EVENT_LBUTTONUP)
        listener.call(listener.data, MouseAction::release, x, y);
    else if (event == cv::EVENT_MOUSEMOVE && (flags & cv::EVENT_FLAG_LBUTTON) != 0)
        listener.call(listener.data, MouseAction::move, x, y);
}

/// What `call` returns, or `otherwise` where OpenCV throws: the user may have closed the window already.
template <class Result, class Call>
Result guarded(Result otherwise, const Call& call) {
    try {
        return call();
    } catch (const std::exception&) {
        return otherwise;
    }
}

bool show(const char* name, const std::uint8_t* bgr, int rows, int cols, std::string& error) {
    const bool shown = guarded(false, [&] {
        // Without Qt's tool bar and status line, which are of no use here.
        cv::namedWindow(name, cv::WINDOW_AUTOSIZE | cv::WINDOW_GUI_NORMAL);
        cv::imshow(name, cv::Mat(rows, cols, CV_8UC3, const_cast<std::uint8_t*>(bgr)));
        return true;
    });
    if (!shown) error = "the window cannot be opened";
    return shown;
}

int wait_key(int milliseconds) {
    return guarded(-1, [&] { return cv::waitKeyEx(milliseconds); });
}

bool is_visible(const char* name) {
    return guarded(false, [&] { return cv::getWindowProperty(name, cv::WND_PROP_VISIBLE) > 0; });
}

void close(const char* name) {
    guarded(false, [&] { return cv::destroyWindow(name), true; });
}

void watch_mouse(const char* name, void (*call)(void* data, MouseAction action, int x, int y), void* data) {
    listener = {call, data};
    guarded(false, [&] { return cv::setMouseCallback(name, on_mouse), true; });
}

}  // namespace
}  // namespace knn::opencv

extern "C" {
__attribute__((visibility("default"))) extern const knn::PictureModule mnist_knn_pictures;
const knn::PictureModule mnist_knn_pictures = {knn::opencv::decode,   knn::opencv::show,
                                               knn::opencv::wait_key, knn::opencv::is_visible,
                                               knn::opencv::close,    knn::opencv::watch_mouse};
}
