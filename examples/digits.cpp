// The digits of a picture:  ./digits PICTURE
// The training set is MNIST where the program finds it, else digits that the library draws.
#include <fstream>
#include <iostream>
#include <mnist_knn/knn.hpp>
#include <sstream>

int main(int argc, char** argv) try {
    if (argc != 2) {
        std::cerr << "usage: digits PICTURE\n";
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (!file.is_open() || !bytes) {
        std::cerr << "digits: " << argv[1] << ": cannot be read\n";
        return 1;
    }
    const std::string text = bytes.str();
    const std::vector<std::uint8_t> picture(text.begin(), text.end());
    const mnist_knn::set set(mnist_knn::files{});
    const mnist_knn::index index(set, {.method = "gradients"});
    const mnist_knn::digits digits = index.read_digits(picture, true, 0.008);
    for (std::int64_t i = 0; i < digits.size(); ++i) {
        const knn_digit digit = digits[i];
        std::cout << "at " << digit.x << ',' << digit.y << ": ";
        if (digit.label >= 0)
            std::cout << digit.label << ", right with probability " << digit.probability << '\n';
        else
            std::cout << "no digit: " << digit.reason << '\n';
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "digits: " << error.what() << '\n';
    return 1;
}
