#pragma once
/// The answers row by row, for spreadsheets and scripts. Lines end in "\n"; the same answers give the same
/// bytes.

#include <iosfwd>

#include "classifier/evaluation.h"

namespace knn {

/// index,label,predicted,confidence,vote_share: one line per test image.
void write_predictions_csv(std::ostream& out, const Evaluation& evaluation);

/// query,rank,index,label,distance: k lines per test image; rank from 1, label of the training image,
/// distance: squared for l2; if not an integer, the shortest decimal that identifies it.
void write_neighbors_csv(std::ostream& out, const Evaluation& evaluation);

}  // namespace knn
