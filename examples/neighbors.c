/* The nearest neighbors of an array:  ./neighbors
   Ten thousand points on a circle of 256 x 256; the five nearest of three of them. */
#include <math.h>
#include <mnist_knn/knn.h>
#include <stdio.h>

enum { n = 10000, dim = 2, n_query = 3, k = 5 };

static int failed(void) {
    fprintf(stderr, "neighbors: %s\n", knn_last_error());
    return 1;
}

int main(void) {
    static uint8_t points[n * dim];
    for (int i = 0; i < n; ++i) {
        points[2 * i] = (uint8_t)(127.5 + 127.4 * cos(i * 0.001));
        points[2 * i + 1] = (uint8_t)(127.5 + 127.4 * sin(i * 0.001));
    }
    knn_vectors train = KNN_VECTORS(points, n, dim);
    knn_set* set = NULL;
    knn_index* index = NULL;
    if (knn_set_create(&train, NULL, &set) != KNN_OK) return failed();
    if (knn_index_create(set, NULL, &index) != KNN_OK) return failed();
    knn_set_free(set); /* the index keeps what it needs */

    const uint8_t asked[n_query * dim] = {255, 127, 0, 0, 128, 128};
    uint32_t indices[n_query * k];
    double distances[n_query * k];
    knn_vectors queries = KNN_VECTORS(asked, n_query, dim);
    knn_neighbors found = KNN_NEIGHBORS(n_query, k);
    found.indices = indices;
    found.distances = distances;
    if (knn_search(index, &queries, NULL, &found) != KNN_OK) return failed();
    for (int q = 0; q < n_query; ++q) {
        printf("(%d, %d):", asked[2 * q], asked[2 * q + 1]);
        for (int r = 0; r < k; ++r)
            printf("  %u at %g", indices[q * k + r], sqrt(distances[q * k + r]));
        printf("\n");
    }
    knn_index_free(index);
    return 0;
}
