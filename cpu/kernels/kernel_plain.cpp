/// Plain C++ for every processor. Uses 16-byte vector extensions (GCC, Clang), which compile to SSE2, NEON or
/// scalar instructions.

#include <cstring>

#include "cpu/kernels/kernel_scan.h"

namespace knn::cpu {

namespace {

using Words = std::uint32_t __attribute__((vector_size(16)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Halves = std::uint16_t __attribute__((vector_size(16)));

template <class Vector>
Vector load_vector(const void* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

struct Plain {
    static constexpr int lanes = 4, vectors = 2, queries = 4, query_bytes = 8;
    static constexpr bool has_floors = false;
    using Sum = Words;
    /// Pixels 0, 2 and 1, 3 of each image, 16 bits each; queries use the same layout.
    struct Images {
        Halves even, odd;
    };
    using Query = Images;

    static Sum zero() { return Sum{}; }
    static Sum load_sums(const std::uint32_t* from) { return load_vector<Sum>(from); }
    static void store_sums(std::uint32_t* to, Sum sums) { std::memcpy(to, &sums, sizeof sums); }
    static Images load_images(const std::uint8_t* from) {
        const Halves bytes = load_vector<Halves>(from);
        return {bytes & 0xff, bytes >> 8};
    }
    static Query load_query(const std::uint8_t* from) {
        std::uint32_t pairs[2];
        std::memcpy(pairs, from, sizeof pairs);
        return {reinterpret_cast<Halves>(Words{} + pairs[0]), reinterpret_cast<Halves>(Words{} + pairs[1])};
    }
    /// A product of two bytes fits in 16 bits, the sum of two does not, so the halves are widened separately.
    static Sum multiply_add(Sum sum, Images images, Query query) {
        const Words even = reinterpret_cast<Words>(images.even * query.even);
        const Words odd = reinterpret_cast<Words>(images.odd * query.odd);
        return sum + ((even & 0xffff) + (odd & 0xffff)) + ((even >> 16) + (odd >> 16));
    }
    static Sum distance(Sum sum, Sum image_terms, std::uint32_t query_term) {
        return image_terms + query_term - (sum + sum);
    }
    static Sum every(std::uint32_t limit) { return Words{} + limit; }
    static std::uint32_t below(Sum distance, Sum limits) {
        std::uint32_t bits = 0;
        for (unsigned i = 0; i < lanes; ++i)
            bits |= static_cast<std::uint32_t>(distance[i] < limits[i]) << i;
        return bits;
    }
};

/// Minima of bytes, widened in two steps.
struct Differences : Plain {
    static constexpr int query_bytes = 4;
    using Images = Bytes;
    using Query = Bytes;

    static Images load_images(const std::uint8_t* from) { return load_vector<Bytes>(from); }
    static Query load_query(const std::uint8_t* from) {
        std::uint32_t four;
        std::memcpy(&four, from, sizeof four);
        return reinterpret_cast<Bytes>(Words{} + four);
    }
    static Sum multiply_add(Sum sum, Images images, Query query) {
        const Halves least = reinterpret_cast<Halves>(images < query ? images : query);
        const Words pairs = reinterpret_cast<Words>((least & 0xff) + (least >> 8));
        return sum + ((pairs & 0xffff) + (pairs >> 16));
    }
};

struct Products : Plain {
    static constexpr bool has_floors = true;

    static Sum distance(Sum sum, Sum image_terms, std::uint32_t) { return sum + image_terms; }
    template <bool both>
    static std::uint32_t reaches(Sum products, const Floors& floors, int image, std::uint32_t query) {
        std::uint32_t bits = 0;
        for (int i = 0; i < lanes; ++i) {
            const double difference =
                floors.scale * products[i] - floors.query_sums[query] * floors.image_sums[image + i];
            bool hit = difference * floors.weights[image + i] >= floors.floors[query];
            if constexpr (both)
                hit |= difference * floors.query_weights[query] >= floors.image_floors[image + i];
            bits |= static_cast<std::uint32_t>(hit) << i;
        }
        return bits;
    }
};

bool available() {
    return true;
}

}  // namespace

constinit const Kernel kernel_plain = kernel_of<Plain>("plain", available, QueryForm::pairs, 15);
constinit const Kernel differences_plain =
    kernel_of<Differences, Arithmetic::differences>("plain", available, QueryForm::bytes);
constinit const Kernel products_plain =
    kernel_of<Products, Arithmetic::products>("plain", available, QueryForm::pairs, 15);

}  // namespace knn::cpu
