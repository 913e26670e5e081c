#pragma once
/// What standard output and standard error are connected to.

#include "app/cli/options.h"

namespace knn {

/// Opens closed standard descriptors so that reading and writing them fails, and no file opened later gets
/// their number and their output.
void occupy_standard_descriptors();

/// Whether to print in color: `wanted`, or by itself on a terminal that TERM
/// names, that is not "dumb", and without NO_COLOR.
bool use_color(When wanted);

/// Whether to draw a progress bar: `wanted`, or by itself where standard error is such a terminal.
bool use_progress(When wanted);

/// Columns of the terminal on standard error; 80 if it does not say.
int terminal_width();

}  // namespace knn
