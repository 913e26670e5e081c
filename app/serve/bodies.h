#pragma once
/// Readers of what a request carries: parameters, images, forms. All throw Problem (400), for any bytes.

#include <map>
#include <string>
#include <string_view>

namespace knn::web {

/// "a=1&b=2" by name, decoded. Names other than these, given twice or without a value are refused.
class Parameters {
  public:
    Parameters(std::string_view query, std::initializer_list<std::string_view> names);

    /// A whole number from `low` to `high`; `otherwise` where it was not given.
    int number(const std::string& name, int low, int high, int otherwise) const;
    bool flag(const std::string& name) const { return number(name, 0, 1, 0) == 1; }
    bool has(const std::string& name) const { return values_.contains(name); }

  private:
    std::map<std::string, std::string> values_;
};

/// The pixels of `predict`, n × 784 bytes with n at least 1: the body itself, or that of an .npy file of uint8,
/// n × 28 × 28 or n × 784.
std::string pixels_of(std::string body);

/// The fields of a form, multipart/form-data (RFC 7578), by name.
std::map<std::string, std::string> form_fields(std::string_view content_type, std::string_view body);

}  // namespace knn::web
