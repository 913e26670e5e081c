#pragma once
/// Reads one request from bytes as they arrive, by Boost.Beast's parser.

#include <memory>
#include <string_view>

#include "app/serve/http.h"

namespace knn::web {

class RequestReader {
  public:
    RequestReader();
    RequestReader(RequestReader&&) noexcept;
    RequestReader& operator=(RequestReader&&) noexcept;
    ~RequestReader();

    enum class Stage { head, body, whole };

    /// Takes what it can of the bytes, up to the end of the head or of the request, and returns how many; the rest is to be
    /// given again with what follows. Throws Problem: 400, 413 (more than max_body_bytes, also if only announced) or
    /// 431 (more than max_head_bytes of header fields, or of anything else beside the body).
    std::size_t take(std::string_view bytes);

    Stage stage() const { return stage_; }
    /// Once the stage is `body` or `whole`.
    const Head& head() const { return head_; }
    /// Bytes of the body that are there.
    std::size_t body_size() const;
    /// The whole request; the reader is then empty.
    Request release();

  private:
    struct Parser;

    void read_head();

    std::unique_ptr<Parser> parser_;
    Head head_;
    Stage stage_ = Stage::head;
};

}  // namespace knn::web
