#include <exception>
#include <opencv2/highgui.hpp>

#include "data/picture/opencv/functions.h"

namespace knn::opencv {

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

}  // namespace knn::opencv
