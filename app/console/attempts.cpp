#include "app/console/attempts.h"

#include "app/console/interrupt.h"
#include "data/core/errors.h"

namespace knn {

void Attempts::operator()(const std::function<void()>& work) {
    stop_if_asked();
    try {
        work();
    } catch (const Interrupted&) {
        throw;
    } catch (...) {
        if (!first_) first_ = std::current_exception();
    }
}

void Attempts::finish() const {
    if (first_) std::rethrow_exception(first_);
}

}  // namespace knn
