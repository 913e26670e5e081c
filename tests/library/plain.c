/* A C17 program that uses the library as its header says, and the sizes of the structs, which no version may change. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mnist_knn/knn.h"

#define FIELD(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type " " #field)
#define SIZE(type, size) _Static_assert(sizeof(type) >= (size), #type)
SIZE(knn_vectors, 64);
FIELD(knn_vectors, data, 8);
FIELD(knn_vectors, count, 16);
FIELD(knn_vectors, dim, 24);
FIELD(knn_vectors, pitch, 32);
FIELD(knn_vectors, type, 40);
FIELD(knn_vectors, space, 44);
FIELD(knn_vectors, stream, 48);
FIELD(knn_vectors, image_rows, 56);
FIELD(knn_vectors, image_cols, 60);
FIELD(knn_files, first, 32);
FIELD(knn_files, no_cache, 40);
FIELD(knn_set_info, dim, 16);
FIELD(knn_set_info, has_labels, 32);
FIELD(knn_settings, p, 24);
FIELD(knn_settings, engine, 56);
FIELD(knn_settings, memory, 64);
FIELD(knn_settings, k, 72);
FIELD(knn_settings, threads, 76);
FIELD(knn_settings, progress, 80);
FIELD(knn_settings, data, 88);
FIELD(knn_index_info, device, 32);
FIELD(knn_index_info, k, 64);
FIELD(knn_index_info, metric, 72);
FIELD(knn_index_info, candidates, 80);
FIELD(knn_options, progress, 8);
FIELD(knn_options, reject, 24);
FIELD(knn_neighbors, distances, 24);
FIELD(knn_neighbors, k, 32);
FIELD(knn_neighbors, stream, 40);
FIELD(knn_neighbors, wide_indices, 48);
FIELD(knn_neighbors, roots, 56);
FIELD(knn_answers, rejected, 48);
FIELD(knn_answers, neighbors, 56);
FIELD(knn_picture, many, 40);
FIELD(knn_digit, label, 48);
FIELD(knn_digit, h, 68);

#define TRY(call)                                                            \
    do {                                                                     \
        if ((call) != KNN_OK) {                                              \
            fprintf(stderr, "line %d: %s\n", __LINE__, knn_last_error());    \
            return 1;                                                        \
        }                                                                    \
    } while (0)

int main(void) {
    static const uint8_t points[] = {0, 0, 10, 0, 0, 10, 200, 200, 210, 200, 200, 210}, labels[] = {1, 1, 1, 7, 7, 7};
    static const uint8_t asked[] = {1, 1, 205, 205};
    knn_vectors train = KNN_VECTORS(points, 6, 2), queries = KNN_VECTORS(asked, 2, 2);
    knn_set *set = NULL;
    knn_index *index = NULL;
    knn_settings settings = {.struct_size = sizeof settings, .k = 3, .device = "cpu"};
    TRY(knn_set_create(&train, labels, &set));
    TRY(knn_index_create(set, &settings, &index));
    uint8_t classes[2] = {0};
    uint32_t indices[6];
    double distances[6];
    knn_answers answers = KNN_ANSWERS(2);
    knn_neighbors neighbors = KNN_NEIGHBORS(2, 3);
    neighbors.indices = indices;
    neighbors.distances = distances;
    answers.labels = classes;
    answers.neighbors = &neighbors;
    TRY(knn_classify(index, &queries, NULL, &answers));
    knn_set_free(set);
    knn_index_free(index);
    const uint32_t wanted[] = {0, 1, 2, 3, 4, 5};
    const int right = classes[0] == 1 && classes[1] == 7 && memcmp(indices, wanted, sizeof wanted) == 0 &&
                      distances[0] == 2 && distances[1] == 82 && distances[3] == 50;
    if (!right) fprintf(stderr, "wrong answers: %d %d\n", classes[0], classes[1]);
    return right ? 0 : 1;
}
