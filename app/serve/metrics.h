#pragma once
/// What the server counts, in the text format of Prometheus.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace knn::web {

class Metrics {
  public:
    /// One more response; `path`: of the route, "other" where there is none.
    void count(const std::string& path, int status, double seconds);
    void count_digits(std::int64_t digits);
    /// The open connections.
    void set_connections(std::int64_t connections);

    std::string text(std::int64_t batches, bool ready) const;

  private:
    /// Upper bounds of the classes of response times, in seconds; the last class has none.
    static constexpr std::array bounds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0};
    struct Times {
        std::array<std::int64_t, bounds.size() + 1> classes{};
        double sum = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::pair<std::string, int>, std::int64_t> responses_;
    std::map<std::string, Times> times_;
    std::int64_t digits_ = 0, connections_ = 0;
};

}  // namespace knn::web
