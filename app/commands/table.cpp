#include "app/cli/command_line.h"

namespace knn {

namespace {

constexpr Command all_commands[] = {
    {.name = "evaluate",
     .summary = "classifies the test set: accuracy, confusion matrix, time of each kernel",
     .run = evaluate,
     .under_mpirun = UnderMpirun::all_ranks},
    {.name = "classify",
     .summary = "classifies digits in pictures: files, folders, or - for standard input",
     .run = classify,
     .operands = "IMAGE...",
     .operand = "picture",
     .operands_wanted = "files, folders, or - for standard input",
     .more_help =
         "An IMAGE is a PNG, JPEG, BMP, TIFF, WebP or PNM file, recognized by its content, or a "
         "folder of such files; with -r also those in its folders. With --device auto up to 1,000 "
         "images of digits, two of most, are searched on the CPU, which takes less time than starting a GPU. "
         "Exit codes: 3 some pictures failed, the others are answered; 1 all failed.",
     .method = "accurate"},
    {.name = "draw",
     .summary = "a window to draw a digit in, answered at each stroke",
     .run = draw,
     .more_help = "Keys: c clears, u undoes the last stroke, s saves the drawing as PNG in the current "
                  "folder, q or Escape quits.",
     .method = "accurate"},
    {.name = "view",
     .summary = "shows misclassified digits: in a window, on a sheet, a page or the terminal",
     .run = view},
    {.name = "bench",
     .summary = "times distance kernels, selectors and engines; repeats the papers' experiments",
     .run = bench,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help = "Every answer is compared with a reference before its time counts; a wrong one is "
                  "reported, and the exit code is 1."},
    {.name = "graph",
     .summary = "the exact k-nearest-neighbor graph of a set of images, for NumPy, SciPy and others",
     .run = graph,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help = "No image is its own neighbor; equal images are distinguished by index. A directed "
                  "graph is written as it is searched: besides the images it needs 64 MiB, or as much again "
                  "as these, 40 bytes an image and the memory of the engine. The other forms keep all "
                  "neighbors in memory: up to 24 k + 60 bytes an image."},
    {.name = "neighbors",
     .summary = "the exact nearest of any vectors, or all within a distance; no labels are needed",
     .run = neighbors,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help =
         "Rows and indices count from 0, ranks from 1. Neighbors are ordered by distance, equal ones "
         "by index. The distances of bytes by l2 and l1 are integers; of int8, float32 and float64 "
         "they are computed in double precision, and written with all digits."},
    {.name = "condense",
     .summary = "makes the training set smaller: edits and condenses it",
     .run = condense,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help = "The kept images are the same on every engine, device and number of threads. Every "
                  "command reads IDX files with --data DIR; evaluate needs --test-images and --test-labels "
                  "with it, or the two files in the folder. train.npy is for --train."},
    {.name = "learn",
     .summary = "makes training images of pictures whose names give their digits, for --extra",
     .run = learn,
     .operands = "FOLDER...",
     .operand = "folder",
     .operands_wanted = "folders 0 to 9 with pictures, or pictures with names such as four_4.png",
     .more_help = "The digit of a picture is the name of its folder (7/a.png); else its own name (7.png), or "
                  "what a name ends with behind _ or - (a_7.png, scan-7.png). ? says that it is no digit. "
                  "Folders in folders are read too. Exit codes: 3 some pictures failed."},
    {.name = "audit",
     .summary = "finds labels that their neighbors contradict, with a probability for each",
     .run = audit,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help = "The probability is that of a logistic function of the distances of the nearest k of "
                  "each class, fitted by leave-one-out on the training set. It assumes that a label and "
                  "the one suggested are equally likely beforehand; of labels that were checked, fewer "
                  "are wrong. With --of train the test set may be missing.",
     .method = "accurate",
     .vector_method = "raw"},
    {.name = "tune",
     .summary = "chooses k, votes, transform and re-ranking by leave-one-out on the training set",
     .run = tune,
     .under_mpirun = UnderMpirun::all_ranks,
     .more_help = "The test set is never read. One search for each method, transform, metric and "
                  "re-ranker gives every smaller k, both weights, both ties and both votes."},
    {.name = "compare",
     .summary = "two reports of one test set: who gets which digits right, and what that means",
     .run = compare,
     .operands = "A B",
     .n_operands = 2,
     .operand = "report",
     .operands_wanted = "2, each a folder of 'evaluate --report' or the report.json in it",
     .more_help = "A and B are folders that 'mnist-knn evaluate --report' wrote, or the report.json "
                  "in one, with the predictions.csv beside it."},
    {.name = "serve",
     .summary = "a page to draw on, photograph with and look at mistakes; the same by HTTP",
     .run = serve,
     .more_help = "GET /openapi.json describes the requests. SIGTERM stops the server when what runs is "
                  "finished (exit code 0). It is for one machine or a trusted network: there is no TLS.",
     .method = "accurate"},
    {.name = "generate",
     .summary = "vectors for experiments, with labels: clusters, or uniform",
     .run = generate,
     .more_help = "The same options give the same bytes on every machine. Row i is the same whatever --n is, "
                  "except with --kind singh."},
    {.name = "info",
     .summary = "devices, engines, the data set that would be used; what is missing and how to get it",
     .run = info,
     .under_mpirun = UnderMpirun::first_rank_alone},
};

}  // namespace

std::span<const Command> commands() {
    return all_commands;
}

}  // namespace knn
