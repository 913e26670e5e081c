// The windows of the module, and its table.

#include <exception>
#include <opencv2/highgui.hpp>

#include "data/picture/opencv/decode.h"

namespace knn::opencv {

namespace {

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

bool show(const char* name, const std::uint8_t* bgr, int rows, int cols, std::string& error) {
    try {
        // Without Qt's tool bar and status line, which are of no use here.
        cv::namedWindow(name, cv::WINDOW_AUTOSIZE | cv::WINDOW_GUI_NORMAL);
        cv::imshow(name, cv::Mat(rows, cols, CV_8UC3, const_cast<std::uint8_t*>(bgr)));
        return true;
    } catch (const std::exception&) {
        error = "the window cannot be opened";
        return false;
    }
}

int wait_key(int milliseconds) {
    try {
        return cv::waitKeyEx(milliseconds);
    } catch (const std::exception&) {
        return -1;
    }
}

bool is_visible(const char* name) {
    try {
        return cv::getWindowProperty(name, cv::WND_PROP_VISIBLE) > 0;
    } catch (const std::exception&) {
        return false;
    }
}

void close(const char* name) {
    try {
        cv::destroyWindow(name);
    } catch (const std::exception&) {
        return;  // the user has closed it already
    }
}

void watch_mouse(const char* name, void (*call)(void* data, MouseAction action, int x, int y), void* data) {
    listener = {call, data};
    try {
        cv::setMouseCallback(name, on_mouse);
    } catch (const std::exception&) {
        return;  // the user has closed it already
    }
}

}  // namespace
}  // namespace knn::opencv

extern "C" {
__attribute__((visibility("default"))) extern const knn::PictureModule mnist_knn_pictures;
const knn::PictureModule mnist_knn_pictures = {knn::opencv::decode,   knn::opencv::show,
                                               knn::opencv::wait_key, knn::opencv::is_visible,
                                               knn::opencv::close,    knn::opencv::watch_mouse};
}
