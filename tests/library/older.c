/* A program that was compiled with an earlier knn.h, whose structs lacked their last fields (CMakeLists.txt): what is behind
   its structs is not read, and not written. */
#include <stdio.h>
#include <string.h>

#include "mnist_knn/knn.h"

/* A struct of the caller with bytes behind it that the library must leave alone. */
#define GUARDED(type)               \
    struct {                        \
        type value;                 \
        unsigned char behind[64];   \
    }

static int is_intact(const unsigned char *behind) {
    for (int i = 0; i < 64; ++i)
        if (behind[i] != 0xff) return 0;
    return 1;
}

int main(void) {
    static const uint8_t points[] = {0, 10, 20, 200}, labels[] = {1, 1, 1, 7};
    GUARDED(knn_vectors) vectors = {KNN_VECTORS_OLD(points, 4, 1), {0}};
    GUARDED(knn_settings) settings = {{.struct_size = sizeof(knn_settings), .k = 1, .device = "cpu"}, {0}};
    GUARDED(knn_options) options = {{.struct_size = sizeof(knn_options)}, {0}};
    GUARDED(knn_answers) answers = {{.struct_size = sizeof(knn_answers), .count = 4}, {0}};
    GUARDED(knn_neighbors) neighbors = {{.struct_size = sizeof(knn_neighbors), .count = 4, .k = 1}, {0}};
    GUARDED(knn_set_info) info = {{.struct_size = sizeof(knn_set_info)}, {0}};
    uint8_t classes[4];
    answers.value.labels = classes;
    memset(vectors.behind, 0xff, 64);
    memset(settings.behind, 0xff, 64);
    memset(options.behind, 0xff, 64);
    memset(answers.behind, 0xff, 64);
    memset(info.behind, 0xff, 64);
    memset(neighbors.behind, 0xff, 64);
    double distances[4];
    neighbors.value.distances = distances;
    knn_set *set = NULL;
    knn_index *index = NULL;
    if (knn_set_create(&vectors.value, labels, &set) || knn_index_create(set, &settings.value, &index) ||
        knn_search(index, &vectors.value, &options.value, &neighbors.value) ||
        knn_classify(index, &vectors.value, &options.value, &answers.value) || knn_set_get_info(set, &info.value)) {
        fprintf(stderr, "%s\n", knn_last_error());
        return 1;
    }
    knn_index_free(index);
    knn_set_free(set);
    const int right = memcmp(classes, labels, 4) == 0 && info.value.count == 4 && distances[3] == 0 && is_intact(info.behind) &&
                      is_intact(answers.behind);
    if (!right) fprintf(stderr, "wrong answers, or bytes behind a struct were written\n");
    return right ? 0 : 1;
}
