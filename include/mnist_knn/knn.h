/// \file
/// Exact k-nearest-neighbor search and classification: the C interface of libmnistknn.
///
/// A training set (knn_set) is opened as an index (knn_index), which then answers any number of searches:
///
///     knn_vectors train = KNN_VECTORS(pixels, 60000, 784);
///     knn_set *set = NULL;
///     knn_index *index = NULL;
///     if (knn_set_create(&train, labels, &set) || knn_index_create(set, NULL, &index)) puts(knn_last_error());
///     knn_vectors queries = KNN_VECTORS(images, 100, 784);
///     knn_answers answers = KNN_ANSWERS(100);
///     answers.labels = digits;  /* 100 bytes of yours */
///     knn_classify(index, &queries, NULL, &answers);
///     knn_index_free(index);
///     knn_set_free(set);
///
/// Answers are exact and the same bytes on every device, for any number of threads, and as the program's with the same
/// settings. Neighbors are ordered by (distance, index), both ascending.
///
/// Errors. A function returns KNN_OK or what went wrong; knn_last_error() then says it in one line, "what is wrong; what was
/// expected". After an error the handles are as before, and the caller's arrays may have been written in part.
///
/// Ownership. Every knn_*_create and knn_*_open gives a handle that is the caller's until its knn_*_free, which takes NULL too.
/// An index keeps what it needs of its set, which may be freed before it. Arrays that are passed in are read during the call
/// alone, unless they are `borrowed`; what is returned through a pointer belongs to its handle and is valid until that is freed.
///
/// Threads. Any function may be called from any thread, several at once on one handle, except that a handle is freed once,
/// when no call uses it. Searches of several threads on one index overlap. A callback must neither throw nor longjmp out of the
/// library, nor search the same index.
///
/// Structs begin with struct_size, which the macros below set, and all else 0: a field that is 0 or NULL has the default in
/// brackets. New versions append fields, so that a program runs with the library of any later version of the same SONAME.
#ifndef MNIST_KNN_KNN_H
#define MNIST_KNN_KNN_H

#include <stddef.h>
#include <stdint.h>

/// The version of this header.
///@{
#define KNN_VERSION_MAJOR 0
#define KNN_VERSION_MINOR 1
#define KNN_VERSION_PATCH 0
///@}

/// What the library exports.
#define KNN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// What a function returns.
typedef enum knn_status {
    KNN_OK = 0,           ///< done
    KNN_INVALID = 1,      ///< an argument is wrong, or several contradict each other
    KNN_UNSUPPORTED = 2,  ///< what this build or version cannot do
    KNN_DATA = 3,         ///< a file or data set is missing, damaged or does not fit
    KNN_DEVICE = 4,       ///< a GPU is missing, too small, or failed
    KNN_NO_MEMORY = 5,    ///< of the host, or it starts no more threads
    KNN_STOPPED = 6,      ///< the callback asked for it
    KNN_INTERNAL = 7      ///< a defect of the library
} knn_status;

/// The name of a status: "KNN_OK".
KNN_API const char* knn_status_name(knn_status status);
/// Of the last call in this thread that failed, cut at 1,023 bytes; "" if none has. Valid until the next call in this thread fails.
KNN_API const char* knn_last_error(void);
/// Of the library that runs, which may be later than this header: "0.1.0".
KNN_API const char* knn_version(void);
/// 1 if this build has the feature, 0 if not or if the name is unknown. Features: "cuda" (GPU engines), "pictures"
/// (knn_digits_read); element types: "uint8", "int8", "float32", "float64"; "device-memory" (KNN_CUDA).
KNN_API int knn_has(const char* feature);

// Training sets

/// Types of elements.
enum {
    KNN_UINT8 = 0,    ///< uint8_t
    KNN_INT8 = 1,     ///< int8_t
    KNN_FLOAT32 = 2,  ///< float
    KNN_FLOAT64 = 3   ///< double
};
/// Where an array is.
enum {
    KNN_HOST = 0,  ///< memory of the process
    KNN_CUDA = 1   ///< memory of a CUDA device
};

/// `count` vectors of `dim` elements, one behind the other, of one type, and one size of images, for a set and its queries. `dim` is at
/// most 66,051 for KNN_UINT8, else 65,536. Elements of the other types are finite, and methods for them have the transform raw, minmax or zscore and no
/// re-ranking. KNN_CUDA needs a build with CUDA. Vectors of a set, and queries of a search that the host has a part in, are copied to
/// the host; knn_search says which searches stay on the device.
typedef struct knn_vectors {
    size_t struct_size;  ///< sizeof the struct
    const void* data;    ///< the first element
    int64_t count;       ///< vectors
    int64_t dim;         ///< elements of each
    int64_t pitch;       ///< bytes from one vector to the next [without gaps]
    int32_t type;        ///< KNN_UINT8 ...
    int32_t space;       ///< KNN_HOST ...
    void* stream;        ///< KNN_CUDA: a cudaStream_t on which the data is ready
    int32_t image_rows;  ///< if they are images, 0 = background: rows * columns are dim [no images]
    int32_t image_cols;  ///< as image_rows; images of one row are none
    int32_t borrowed;    ///< 1: knn_set_create copies no vectors, which have no gaps and stay as they are
                         ///< until the set and its indexes are freed [0: copied]
    int32_t reserved;    ///< 0
} knn_vectors;
/// Vectors of KNN_UINT8 in memory of the process, without gaps.
#define KNN_VECTORS(data_, count_, dim_) \
    { sizeof(knn_vectors), (data_), (count_), (dim_), 0, 0, 0, NULL, 0, 0, 0, 0 }

/// Where a training set is read from: IDX files, plain or gzip; `images` also a file of vectors of any format that the program
/// reads (docs/vectors.md), whose labels may be in it or beside it, no pipe; of classes with names they are 0, 1, ... in the names' order.
/// Beside such vectors `folder` is not read, only beside IDX files.
typedef struct knn_files {
    size_t struct_size;  ///< sizeof the struct
    const char* folder;  ///< with files named as MNIST's training set [where the program looks]
    const char* images;  ///< a file of images, instead of the folder's
    const char* labels;  ///< the file of their labels
    int64_t first;       ///< only so many images [all]
    int32_t no_cache;    ///< 1: neither read nor write the user's cache of files and of what methods fit [0]
    int32_t reserved;    ///< 0
} knn_files;

/// A training set, which grows by knn_set_add.
typedef struct knn_set knn_set;

/// What a set is.
typedef struct knn_set_info {
    size_t struct_size;  ///< sizeof the struct
    int64_t count;       ///< vectors
    int64_t dim;         ///< elements of each
    int32_t image_rows;  ///< 0: no images
    int32_t image_cols;  ///< 0: no images
    int32_t has_labels;  ///< 1: it has classes
    int32_t type;        ///< KNN_UINT8 ...
} knn_set_info;

/// A set of these vectors, at least one, copied unless they are `borrowed`. `labels`, which are copied: one for each, or NULL: then the set has no classes.
KNN_API knn_status knn_set_create(const knn_vectors* vectors, const uint8_t* labels, knn_set** set);
/// A set read from files; NULL: MNIST, where the program looks for it. Where no file is named and MNIST is not there, 6,000 digits that
/// the library draws.
KNN_API knn_status knn_set_open(const knn_files* files, knn_set** set);
/// Appends copies; all or, after an error, nothing. Searches that begin after it returns find them. An index of a method
/// that fits nothing to the set searches the new vectors beside the others; another is fitted again by its next search.
/// Vectors that the metric of an open index cannot compare, as their sums could overflow, are KNN_INVALID; that minmax or zscore
/// cannot be fitted to them is KNN_DATA of the searches that follow.
/// `labels`: as many, if the set has labels, else NULL.
KNN_API knn_status knn_set_add(knn_set* set, const knn_vectors* vectors, const uint8_t* labels);
/// Fills in the info, whose struct_size is the caller's.
KNN_API knn_status knn_set_get_info(const knn_set* set, knn_set_info* info);
/// Copies vectors first .. first + count - 1, without gaps, and their labels; either may be NULL.
KNN_API knn_status knn_set_read(const knn_set* set, int64_t first, int64_t count, void* vectors,
                                uint8_t* labels);
/// Its indexes stay open.
KNN_API void knn_set_free(knn_set* set);

// Indexes

/// Called now and then while something is computed, from one thread. Another result than 0 stops it: KNN_STOPPED.
typedef int (*knn_progress)(void* data, int64_t done, int64_t total);

/// What an index computes, and where. Texts are those of the program's options of these names.
typedef struct knn_settings {
    size_t struct_size;     ///< sizeof the struct
    const char* method;     ///< raw; gradients, accurate (images); a file of `mnist-knn tune --save` [raw]
    const char* metric;     ///< l2, l1, lp, cosine, pearson [the method's]
    double p;               ///< the exponent of lp
    const char* weights;    ///< uniform, distance (1/d squared) [the method's]
    const char* tie;        ///< smallest, nearest [the method's]
    const char* device;     ///< auto, cpu, gpu, gpu:N, gpu:all [auto: a GPU if there is one]
    const char* engine;     ///< classic, tensor, cpu, auto [auto: the fastest that can]
    int64_t memory;         ///< bytes that vectors may take on a device [what it has]
    int32_t k;              ///< neighbors that vote, 1 to 16384, tensor: 1024 [the method's]
    int32_t threads;        ///< of the CPU: so many even for a small search [all, fewer for a small one]
    knn_progress progress;  ///< while the index is opened [none]
    void* data;             ///< its first argument
} knn_settings;

/// A training set that is open for searches.
typedef struct knn_index knn_index;

/// What an index is.
typedef struct knn_index_info {
    size_t struct_size;  ///< sizeof the struct
    int64_t count;       ///< vectors that the last search found, or opening
    const char* method;  ///< of the table, or "custom"; valid for the whole process, as the next one
    const char* engine;  ///< that searches: "cpu", "tensor"
    char device[32];     ///< "cpu", "gpu:0"
    int32_t k;           ///< that classify
    int32_t reserved;    ///< 0
    const char* metric;  ///< of the method: "l2"; valid for the whole process
    int64_t candidates;  ///< that the method re-ranks for each query, k at least; 0: it does not
} knn_index_info;

/// Opens the set by these settings (NULL: all defaults). `accurate` fits its re-ranking first: 10 s for 60,000 images of 28 × 28
/// on two cores, unless knn_index_save or the user's cache has it.
KNN_API knn_status knn_index_create(const knn_set* set, const knn_settings* settings, knn_index** index);
/// Writes the method and all that it has fitted to the set, also what the probabilities need, but not the set. KNN_DATA if the file
/// cannot be written, is a pipe, or if the set or the settings' method was read from it.
KNN_API knn_status knn_index_save(knn_index* index, const char* file);
/// Opens the set by such a file; KNN_DATA if that is of another set. `settings`: its method, metric, p, weights, tie and k
/// must be 0; may be NULL.
KNN_API knn_status knn_index_open(const knn_set* set, const char* file, const knn_settings* settings,
                                  knn_index** index);
/// Fills in the info, whose struct_size is the caller's.
KNN_API knn_status knn_index_get_info(const knn_index* index, knn_index_info* info);
/// No call may use it then or later.
KNN_API void knn_index_free(knn_index* index);

// Search

/// Of one search.
typedef struct knn_options {
    size_t struct_size;     ///< sizeof the struct
    knn_progress progress;  ///< [none]
    void* data;             ///< its first argument
    double reject;  ///< share of right answers that may be rejected, below 1 [0: none is]; classify has 0.005
} knn_options;

/// The caller's arrays for the neighbors of `count` queries: count * k, row by row. An array that is NULL is not filled.
typedef struct knn_neighbors {
    size_t struct_size;  ///< sizeof the struct
    int64_t count;       ///< queries
    uint32_t* indices;   ///< of the neighbors in the set
    double* distances;   ///< l2: squared; l1, lp, cosine, pearson: as they are; re-ranked: of descriptors.
        ///< In double precision where elements are not KNN_UINT8, exactly as they are ordered
    int32_t k;              ///< 1 to 16384, tensor: 1024, and at most the vectors that there are to find
    int32_t space;          ///< KNN_HOST ...
    void* stream;           ///< KNN_CUDA: a cudaStream_t on which the neighbors will be ready
    int64_t* wide_indices;  ///< KNN_HOST: the indices in 64 bits
    int32_t roots;     ///< KNN_HOST: 1: the square roots of the distances, in the order of the squares [0]
    int32_t reserved;  ///< 0
} knn_neighbors;
/// Without arrays: set `indices`, `distances` or both.
#define KNN_NEIGHBORS(count_, k_) \
    { sizeof(knn_neighbors), (count_), NULL, NULL, (k_), 0, NULL, NULL, 0, 0 }

/// The caller's arrays for the answers to `count` queries. An array that is NULL is not filled.
typedef struct knn_answers {
    size_t struct_size;        ///< sizeof the struct
    int64_t count;             ///< queries
    uint8_t* labels;           ///< the class that won
    double* vote_shares;       ///< the winner's share of the votes, above 0 to 1
    double* probabilities;     ///< that the label is right
    double* p_values;          ///< share of training images that are at least as unusual as the query
    uint8_t* rejected;         ///< 1: rejected, by knn_options.reject
    knn_neighbors* neighbors;  ///< those of the same search; k: the index's
} knn_answers;
/// Without arrays: set those that are wanted.
#define KNN_ANSWERS(count_) \
    { sizeof(knn_answers), (count_), NULL, NULL, NULL, NULL, NULL, NULL }

/// The k nearest vectors of each query, of the set's dim; by the method's metric, transform and re-ranking, which orders
/// k candidates where k is more than the method's. `options` may be NULL. If queries of KNN_UINT8 and neighbors are both memory of the index's only GPU, and the metric is not lp, the search is
/// queued and the call returns: it calls nobody back, and what goes wrong on the device later fails a later call.
KNN_API knn_status knn_search(knn_index* index, const knn_vectors* queries, const knn_options* options,
                              knn_neighbors* found);
/// The same of vectors of the set itself, each of which is left out of its own neighbors. `rows`: their indices, or NULL: the
/// set's first `count`.
KNN_API knn_status knn_search_rows(knn_index* index, const uint32_t* rows, int64_t count,
                                   const knn_options* options, knn_neighbors* found);
/// Labels of queries by the votes of their neighbors. Needs a set with labels. `probabilities`, `p_values` and `rejected` are
/// fitted to the set by the first call that wants them: a leave-one-out search of 4,999 of its vectors.
/// `p_values`, and `rejected` with knn_options.reject, need vectors that are compared as KNN_UINT8: not by minmax or zscore.
KNN_API knn_status knn_classify(knn_index* index, const knn_vectors* queries, const knn_options* options,
                                knn_answers* answers);
/// The same by leave-one-out; `rows`, `count`: as knn_search_rows.
KNN_API knn_status knn_classify_rows(knn_index* index, const uint32_t* rows, int64_t count,
                                     const knn_options* options, knn_answers* answers);

// Pictures, in a build that has "pictures"; the set has images of 28 x 28 pixels

/// A picture of digits.
typedef struct knn_picture {
    size_t struct_size;  ///< sizeof the struct
    const void* data;    ///< the file, or pixels row by row
    int64_t size;      ///< bytes of an encoded picture: PNG, JPEG, BMP, TIFF, WebP, PNM; 0: `data` has pixels
    int64_t pitch;     ///< of pixels: bytes from one row to the next [without gaps]
    int32_t rows;      ///< of pixels: gray values, 255 = white
    int32_t cols;      ///< of pixels: in a row
    int32_t many;      ///< 1: any number of digits, as on a page [0: one digit]
    int32_t reserved;  ///< 0
} knn_picture;

/// The digits of a picture.
typedef struct knn_digits knn_digits;

/// A digit of a picture.
typedef struct knn_digit {
    size_t struct_size;     ///< sizeof the struct
    const uint8_t* pixels;  ///< 28 x 28 as they were searched for, 255 = ink
    const char* reason;     ///< of the rejection; "": accepted
    double probability;     ///< that the label is right
    double vote_share;      ///< the winner's share of the votes
    double p_value;         ///< share of training images that are at least as unusual
    int32_t label;          ///< -1: rejected
    int32_t guess;          ///< of a rejected digit: what it would be; -1: none
    int32_t x;              ///< of the ink in the picture, in pixels: from the left
    int32_t y;              ///< from the top
    int32_t w;              ///< width
    int32_t h;              ///< height
} knn_digit;

/// Finds and classifies the digits of a picture, in reading order: exactly one, perhaps rejected, unless `many`. As the program's
/// `classify`, but by `accurate` without the forms drawn for pictures that vote there beside MNIST (docs/classify.md).
KNN_API knn_status knn_digits_read(knn_index* index, const knn_picture* picture, const knn_options* options,
                                   knn_digits** digits);
/// How many there are.
KNN_API knn_status knn_digits_get_count(const knn_digits* digits, int64_t* count);
/// Fills in digit `i`; its pointers are valid until the digits are freed.
KNN_API knn_status knn_digits_get(const knn_digits* digits, int64_t i, knn_digit* digit);
/// Also what its digits point to.
KNN_API void knn_digits_free(knn_digits* digits);

#ifdef __cplusplus
}
#endif

#endif
