#include "app/serve/routes.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "data/core/format.h"

namespace knn::web {

namespace {

std::string head_of(const std::string& name, const char* type, const char* help) {
    return "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

std::string value_of(const std::string& name, const char* type, const char* help, std::int64_t value) {
    return head_of(name, type, help) + name + ' ' + std::to_string(value) + '\n';
}

std::int64_t resident_bytes() {
    std::int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

void Metrics::count(const std::string& path, int status, double seconds) {
    const std::lock_guard lock(mutex_);
    ++responses_[{path, status}];
    Times& times = times_[path];
    ++times.classes[static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin())];
    times.sum += seconds;
}

void Metrics::count_digits(std::int64_t digits) {
    const std::lock_guard lock(mutex_);
    digits_ += digits;
}

void Metrics::set_connections(std::int64_t connections) {
    const std::lock_guard lock(mutex_);
    connections_ = connections;
}

std::string Metrics::text(std::int64_t batches, bool ready) const {
    const std::lock_guard lock(mutex_);
    std::string text = head_of("mnist_knn_responses_total", "counter", "Responses by route and status.");
    for (const auto& [key, count] : responses_)
        text += "mnist_knn_responses_total{route=\"" + key.first + "\",status=\"" +
                std::to_string(key.second) + "\"} " + std::to_string(count) + '\n';
    const std::string times = "mnist_knn_response_seconds";
    text += head_of(times, "histogram", "Time from the first byte of a request to its response.");
    for (const auto& [path, one] : times_) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < one.classes.size(); ++i) {
            sum += one.classes[i];
            text += times + "_bucket{route=\"" + path + "\",le=\"" +
                    (i < bounds.size() ? shortest(bounds[i]) : "+Inf") + "\"} " + std::to_string(sum) + '\n';
        }
        text += times + "_sum{route=\"" + path + "\"} " + shortest(one.sum) + '\n';
        text += times + "_count{route=\"" + path + "\"} " + std::to_string(sum) + '\n';
    }
    return text + value_of("mnist_knn_digits_total", "counter", "Digits that were answered.", digits_) +
           value_of("mnist_knn_batches_total", "counter", "Searches for the images of predict.", batches) +
           value_of("mnist_knn_connections", "gauge", "Open connections.", connections_) +
           value_of("mnist_knn_ready", "gauge", "1: the index is open.", ready ? 1 : 0) +
           value_of("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
}

}  // namespace knn::web
