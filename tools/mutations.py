"""What tools/mutate.py changes, one at a time: (file, tests, old text, new text).

The old text occurs in the file exactly once. The tests are cases of unit_tests, as doctest takes them after -tc, or of
cli_tests after "cli:"."""

problem = "problem:*,cpu::search: refuses*,exponents out of range*,load: images whose*"
metric = "powers of*,cosine:*,votes by distance*"
idx = "idx:*"
load = "load:*,checksums:*"
locate = "locate:*,dataset_files:*"
vectors = "vector files:*,npy:*,csv:*,labels:*,vectors:*"
cache = ("what is kept*,what was not used*,a damaged or*,several writers*,no folder to keep*,a training set*,"
         "plain files*")
synthetic = "synthetic:*,skeletons:*,pen:*"
picture = "picture header:*,picture file:*,picture formats:*,picture memory:*"
digit = "digit image: how far*,digit image: marks*,digit image: the box*,digit image: pages*,digit image: a digit that*,digit images:*"
atomic = "atomic file:*"
lists = "cpu::BestLists:*,cpu::search: every*"
keys = "cpu::keys:*"
work = "cpu::Work:*,cpu::search: many threads*"
search = "cpu::search: every*"
sketch = "sketch:*"
sketch_search = "cpu sketches:*"
itself = "cpu::self: the oracle*,cpu::BlockPairs:*"
vote = "vote:*"
score = "confusion*,the Wilson*,labels that are*"
sample = "a sample is*,leave one out*,too few images*"
rejection = "nothing is rejected*,how usual*,as many of*,the reason says*"
confidence = "evidence of*,confidence*,a nearer match*,mean confidence*,calibration*"
novelty = "novelty*"
fitted = "training set:*"
sizes = "sizes:*"
spread = "class spread:*"
mean = "class-mean:*"
graph = "graph:*"
several = "spread:*"
index = "index:*,queries:*,spread:*"
condense = "condense:*"
tune = "tune:*"
audit = "cli:audit*"
method = "method file:*"
transform = "cpu::transform:*,transform:*,pca:*"
rerank = "rerank:*,cpu::rerank:*,density:*"

MUTATIONS = [
    # What a problem may be, and what a score means.
    ("data/core/problem.cpp", problem, "problem.n_train < 1", "problem.n_train < 0"),
    ("data/core/problem.cpp", problem, "problem.n_train >= max_count", "problem.n_train > max_count"),
    ("data/core/problem.cpp", problem, "problem.dim < 1", "problem.dim < 0"),
    ("data/core/problem.cpp", problem, "problem.dim > max_dim", "problem.dim >= max_dim"),
    ("data/core/problem.cpp", problem, "measure.p <= max_p", "measure.p < max_p"),
    ("data/core/problem.cpp", problem, "k <= most)", "k <= max_k)"),
    ("data/core/metric.cpp", metric, "norm_a == 0 || norm_b == 0", "norm_a == 0"),
    ("data/core/metric.cpp", metric, "std::max(distance, 0.0)", "distance"),
    ("data/core/metric.cpp", metric, "/ 255.0L", "/ 256.0L"),
    ("data/core/metric.cpp", metric, "1.0 / (distance * distance)", "1.0 / distance"),
    ("data/core/timeline.cpp", "timeline:*", "known->total_ms += stage", "known->total_ms = stage"),
    ("data/core/timeline.cpp", "timeline:*", "bytes / total_ms * 1e-6", "bytes / total_ms * 1e-3"),
    # IDX files.
    ("data/set/idx.h", idx, "std::uint32_t{bytes[1]} << 16", "std::uint32_t{bytes[1]} << 8"),
    ("data/file/byte_source.cpp", idx, "if (read({&beyond, 1}) == 0) return true;", "if (read({&beyond, 1}) <= 1) return true;"),
    ("data/set/idx.cpp", idx, "magic[3] != kind.rank", "magic[3] > kind.rank"),
    ("data/set/idx.cpp", idx, "if (count == 0)", "if (count == 1)"),
    ("data/set/idx.cpp", idx, "count * (header.data_bytes / all)", "header.data_bytes"),
    ("data/set/idx.cpp", idx, "rows > most || cols > most ||", "rows > most ||"),
    ("data/set/idx.cpp", idx, "*source.max_bytes() - std::min(*source.max_bytes(), header.bytes)",
     "*source.max_bytes()"),
    ("data/set/idx.cpp", idx, "grown.resize(std::min(size, std::max(first_piece, 2 * got)))",
     "grown.resize(std::max(first_piece, 2 * got))"),
    ("data/set/idx.cpp", idx, "size >> shift & 255", "size >> shift & 127"),
    ("data/file/byte_source.cpp", idx, "best_ratio = 1032", "best_ratio = 1000"),
    ("data/file/byte_source.cpp", idx, 'fail("has trailing bytes after the gzip data")', "ended_ = true"),
    ("data/file/byte_source.cpp", idx, "::crc32_z(crc_, piece.data(), got)", "::crc32_z(0, piece.data(), got)"),
    ("data/file/byte_source.cpp", idx, "while (pending_.size() < 2 && refill()) {\n    }\n", ""),
    # Data sets.
    ("data/set/load.cpp", load, "if (!swapped) throw;\n        throw SwappedFiles", "throw SwappedFiles"),
    ("data/set/load.cpp", load, "n_labels != n_images", "n_labels > n_images"),
    ("data/set/idx.cpp", load, "shape.dim() > max_dim", "shape.dim() > max_dim + 1"),
    ("data/set/load.cpp", load, "train.shape() != test->shape()",
     "train.shape().cols != test->shape().cols"),
    ("data/core/dataset.h", load, "data.train.labels.span(), data.test.labels.span()", "data.train.labels.span()"),
    ("data/vectors/content.cpp", vectors, "if (is_exact() && size < *available)", "if (false)"),
    ("data/vectors/csv.cpp", vectors, "if (column != n_columns_)", "if (column > n_columns_)"),
    ("data/vectors/npy.cpp", vectors, "if (header.fortran_order)", "if (false)"),
    ("data/vectors/content.cpp", vectors, "column % rows * cols + column / rows", "column"),
    ("data/core/exact_distance.cpp", "exact distance:*", "error(next = std::nextafter(x, end)) < error(x)", "false"),
    ("data/core/exact_distance.cpp", "exact distance:*", "if (largest <= result.largest)", "if (largest < result.largest)"),
    ("classifier/range_search.cpp", "cli:neighbors:*", "shown > range_ && distance > at_range_", "shown > range_"),
    ("data/vectors/vectors.cpp", vectors, "a == float64 || b == float64", "a == float64"),
    ("data/set/load.cpp", load, "all_of_mnist && is_mnist(&mnist_files[2], crc32)", "all_of_mnist"),
    ("data/set/locate.cpp", locate, "if (fs::is_regular_file(file", "if (fs::exists(file"),
    ("data/set/locate.cpp", locate, "if (base.is_absolute())", "if (!base.empty())"),
    ("data/set/locate.cpp", locate, "if (home.empty() && !environment", "if (!environment"),
    ("data/set/locate.cpp", locate, "if (given.size() < files.size())", "if (given.size() <= files.size())"),
    ("data/set/locate.cpp", locate, 'name[name.find("-idx")]', 'name[name.find("-idx") + 1]'),
    ("data/set/cache.cpp", cache, "std::ranges::sort(others, {}, ", "std::ranges::sort(others, std::greater{}, "),
    ("data/set/cache.cpp", cache, "magic == magic_number && !none", "!none"),
    ("data/set/cache.cpp", cache, "if (bytes > limit) return false;", ""),
    ("data/set/cache.cpp", cache, "crc_of(described) != header.crc || ", ""),
    ("data/set/cache.cpp", cache, "size == rounded_up(head_bytes", "size >= rounded_up(head_bytes"),
    ("data/set/cache.cpp", cache, "for_pieces(pieces, std::max", "for_pieces(pieces - 1, std::max"),
    ("data/set/cache.cpp", cache, "filled == piece_bytes", "filled >= piece_bytes - 1"),
    ("data/set/training.cpp", cache, "add(status.st_ctim.tv_sec);\n    add(status.st_ctim.tv_nsec);", ""),
    ("data/set/training.cpp", cache, "stream.get() == 0x1f && stream.get() == 0x8b",
     "stream.get() == 0x8b && stream.get() == 0x1f"),
    # Synthetic digits.
    ("data/synthetic/synthetic.cpp", synthetic, "draw_set(options.seed, 1,", "draw_set(options.seed, 0,"),
    ("data/synthetic/synthetic.cpp", synthetic, "(left -= way.weight) < 0", "(left -= way.weight) <= 0"),
    ("data/synthetic/synthetic.cpp", synthetic, "for_pieces(count, 0,", "for_pieces(count - 1, 0,"),
    ("data/synthetic/pen.cpp", synthetic, "ink * 255 + 0.5f", "ink * 255"),
    # Pictures and other files.
    ("data/picture/picture_header.cpp", picture, "length <= bytes_.size() - at", "length < bytes_.size() - at"),
    ("data/picture/picture_header.cpp", picture, "value <= 8 ? int(value) : 1", "value <= 7 ? int(value) : 1"),
    ("data/picture/picture_header.cpp", picture, "header.rows < 0 ? -header.rows : header.rows", "header.rows"),
    ("data/picture/picture_header.cpp", picture, "most != 65535 && (kind", "(kind"),
    ("data/picture/picture_header.cpp", picture, "header.rows = file.u16(at + 5, true)",
     "header.rows = file.u16(at + 7, true)"),
    ("data/picture/picture_header.cpp", picture, "header.scans += code == 0xda", "header.scans = code == 0xda"),
    ("data/picture/picture_file.cpp", picture, "header.scans > max_scans", "header.scans >= max_scans"),
    ("data/picture/picture_file.cpp", picture, "if (needed == all_bytes) throw;", ""),
    ("data/picture/digit_image_parts.cpp", digit, "before >= most_marks", "before > 2 * most_marks"),
    ("data/picture/picture_header.cpp", picture, "count * size <= 4", "count * size < 4"),
    ("data/picture/picture_header.cpp", picture, "(samples + 7) / 8", "samples / 8"),
    ("data/picture/picture_header.cpp", picture, "at = data + length + length % 2", "at = data + length"),
    ("data/picture/digit_image_parts.cpp", digit, "is_table[std::size_t(label)] = held >= 4", "is_table[std::size_t(label)] = held >= 400"),
    ("data/picture/digit_image_boxes.cpp", digit, "return holds && of_cells", "return of_cells"),
    ("data/picture/digit_image_groups.cpp", digit, "step > step_of_edge && part.peak < step + darker_than_edge", "step > step_of_edge"),
    ("data/picture/digit_image_parts.cpp", digit, "if (of_paper && of_paper->have(part, result.labels)) continue;", ""),
    ("data/picture/digit_image.cpp", digit, "- 13.75) <= 1;", "- 13.75) <= 2;"),
    ("data/picture/digit_image.cpp", digit, "long_side > 20", "long_side >= 20"),
    ("data/picture/digit_image.cpp", digit, "int(std::ceil(value - 1e-6))", "int(std::floor(value - 1e-6))"),
    ("data/picture/digit_image_strokes.cpp", digit, "int(std::lround(side / 2 - center))", "int(side / 2 - center)"),
    ("data/picture/digit_image_groups.cpp", digit, "part.peak < 2 * group.peak", "part.peak < 9 * group.peak"),
    ("data/file/atomic_file.cpp", atomic, "place_.c_str()) != 0) fail", "place_.c_str()) > 0) fail"),
    # The search on the CPU.
    ("cpu/best.cpp", lists, "keep_least({keys, counts_[query]}, k_);", "keep_least({keys, counts_[query]}, k_ - 1);"),
    ("cpu/best.cpp", lists, "if (distance >= limits_[query] ||", "if (distance + 1 >= limits_[query] ||"),
    ("cpu/best.cpp", lists, "if (image < n_train)", "if (image <= n_train)"),
    ("cpu/best.cpp", lists, "sort_keys({keys, k_}", "sort_keys({keys, k_ - 1}"),
    ("cpu/best.cpp", lists, "hit.distance[lane] < limit)", "hit.distance[lane] + 1 < limit)"),
    ("cpu/best.cpp", lists, "n_train - image < max_lanes", "n_train - image < 0"),
    ("cpu/best.cpp", keys, "<= last ? 1 : 0", "< last ? 1 : 0"),
    ("cpu/best.cpp", keys, "rank, end)", "rank + 1, end)"),
    ("cpu/best.cpp", keys, "if (from != keys.data())", "if (from == keys.data())"),
    ("cpu/best.cpp", keys, "== keys.size()) continue", "> 0) continue"),
    ("cpu/best.cpp", lists, "neighbor_of_key(key).index < end", "neighbor_of_key(key).index <= end"),
    ("cpu/self_search.cpp", itself, "next_.column = ++next_.row", "next_.column = ++next_.row - 1"),
    ("cpu/self_search.cpp", itself, "rows, q, row * block_)", "rows, q, 0)"),
    ("cpu/self_search.cpp", itself, "rows.exclude(q, first + q)", "rows.exclude(q, first + q + 1)"),
    ("cpu/scorer_products.cpp", itself, "floor_of(pass.image_limits[i], norm)",
     "floor_of(pass.image_limits[i], norm) + 0.01 * norm"),
    ("cpu/pack.cpp", search, "if (g == whole)", "if (g > whole)"),
    ("cpu/pack.cpp", search, "{pixels[0], pixels[2], pixels[1], pixels[3]}",
     "{pixels[0], pixels[1], pixels[2], pixels[3]}"),
    ("cpu/work.cpp", work, "fetch_add(piece)", "fetch_add(1)"),
    ("cpu/work.cpp", work, "std::min(block, n_query_ - query_)", "block"),
    ("cpu/work.cpp", work, "round_up((n_query_ - query_) / (2 * threads_), strip_)",
     "round_up((n_query_ - query_) / threads_, strip_)"),
    ("cpu/scorer.cpp", search, "measure.p <= 1)", "measure.p <= 2)"),
    ("cpu/scorer_powers.cpp", search, "bound_slack = 1 + 1e-9", "bound_slack = 0.98"),
    ("cpu/scorer_powers.cpp", search, "done && sums[n] >= pairs.limits[n]", "done && sums[n] >= pairs.limits[n] / 2"),
    ("cpu/scorer_powers.cpp", search, "most = std::max(most, ink_of", "most = std::min(most, ink_of"),
    ("cpu/scorer_products.cpp", search, "(1 - double{std::bit_cast<float>(limit)} - cosine_slack)",
     "(1 - std::bit_cast<float>(limit) - cosine_slack)"),
    ("cpu/scorer.h", search, "dim * product - std::int64_t{a.plain} * b.plain",
     "dim * product - a.plain * b.plain"),
    ("cpu/kernels/kernel_scan.h", search, "if (first + n < steps)", "if (first + n <= steps)"),
    ("cpu/kernels/kernel_plain.cpp", search, "((even >> 16) + (odd >> 16))", "(even >> 16)"),
    ("cpu/kernels/kernel_avx2.cpp", search, "_mm256_srli_epi16(bytes, 8)", "_mm256_srli_epi16(bytes, 7)"),
    # Sketches.
    ("data/sketch/sketch.h", sketch, "root + 6 < no_bound ? static_cast<std::uint32_t>(root + 6)",
     "root < no_bound ? static_cast<std::uint32_t>(root)"),
    ("data/sketch/sketch.h", sketch, "while (root * root < squares)", "while ((root + 1) * (root + 1) <= squares)"),
    ("data/sketch/sketch.h", sketch, "static_cast<std::uint32_t>(reach) + 1", "static_cast<std::uint32_t>(reach)"),
    ("data/sketch/sketch.h", sketch, "static_cast<std::uint32_t>((reach * reach) >> 20)",
     "static_cast<std::uint32_t>(((reach * reach) >> 20) - 1)"),
    ("data/sketch/sketch.h", sketch, "const std::int64_t r = q - 1024 * s", "const std::int64_t r = q - 1024 * nearest"),
    ("data/sketch/sketch.cpp", sketch, "std::sqrt(unit * unit + std::sqrt(squares))", "unit"),
    ("data/sketch/directions.cpp", sketch, "return std::numeric_limits<double>::infinity();", "return 0;"),
    ("data/sketch/directions.cpp", sketch, "0x1p20) + 1;", "0x1p20) / 2;"),
    ("cpu/sketches.cpp", sketch_search, "2 * distance)", "distance)"),
    ("cpu/sketches.cpp", sketch_search, "if (directions) error += ", "if (false) error += "),
    ("cpu/sketch_scanner.cpp", sketch_search, "sketch_limit(reaches_[q] + error) + 1", "sketch_limit(reaches_[q] + error)"),
    ("cpu/sketch_scanner.cpp", sketch_search, "    refine(best, true, tally);", "    refine(best, false, tally);"),
    ("cpu/best.cpp", sketch_search, "limits_[q] != no_limit && key > keys[k_ - 1]", "distance >= limits_[q]"),
    ("cpu/search.cpp", sketch_search, "left_ = {{0, queries_.count()}};", "left_ = {};"),
    # From neighbors to answers.
    ("classifier/vote.cpp", vote, "if (sums[label] <= largest) continue", "if (sums[label] < largest) continue"),
    ("classifier/vote.cpp", vote, "64 * i + static_cast", "32 * i + static_cast"),
    ("classifier/vote.cpp", vote, "(word & bit) == 0 ? weight : sums[label] + weight", "weight"),
    ("classifier/vote.cpp", vote, "nearest = neighbors.front()", "nearest = neighbors.back()"),
    ("classifier/vote.cpp", vote, "rule.tie == Tie::nearest", "rule.tie != Tie::nearest"),
    ("classifier/vote.cpp", vote, "sums[labels[neighbor.index]] == largest", "sums[labels[neighbor.index]] > 0"),
    ("classifier/evaluation.cpp", score, "count == 0 ? 0 : (center", "false ? 0 : (center"),
    ("classifier/evaluation.cpp", score, "ratio(2 * hits, predicted", "ratio(hits, predicted"),
    ("classifier/evaluation.cpp", score, "if (votes.size() != truth.size())", "if (votes.size() > truth.size())"),
    ("classifier/leave_one_out.cpp", sample, "max_sampled_images = 4999", "max_sampled_images = 5000"),
    ("classifier/leave_one_out.cpp", sample, "method.vote.k >= n)", "method.vote.k > n)"),
    ("classifier/leave_one_out.cpp", rejection, "value) + 0.5)", "value) + 9.5)"),
    ("classifier/leave_one_out.cpp", rejection, ">= loss) return", "> loss) return"),
    ("classifier/leave_one_out.cpp", rejection, "if (unlike <= near)", "if (unlike > near)"),
    ("classifier/vote.cpp", confidence, "(j - one.count) * last", "0"),
    ("classifier/vote.cpp", confidence, "alone ? j * last", "alone ? last"),
    ("classifier/confidence.cpp", confidence, "one.right - all * p", "one.right - 0.9 * all * p"),
    ("classifier/confidence.cpp", confidence, "answer.margin * (1 - answer.alone)", "answer.margin"),
    ("classifier/confidence.cpp", confidence, "std::min(place, n_bins - 1)", "std::min(place, n_bins - 2)"),
    ("classifier/confidence.cpp", confidence, "signs{0, 1, -1, 1, 1, 0}", "signs{0, 1, 0, 0, 0, 0}"),
    ("classifier/leave_one_out.cpp", novelty, "stiffness = 0.02", "stiffness = 0.04"),
    ("classifier/leave_one_out.cpp", novelty, "row < high || col < wide", "row <= high || col < wide"),
    ("classifier/leave_one_out.cpp", novelty, "!= winner) continue", "== winner) continue"),
    ("classifier/training_set.cpp", fitted, "cached->span().size() != size", "cached->span().size() == size"),
    ("classifier/training_set.cpp", fitted, ' + " of " + std::to_string(size())', ""),
    ("classifier/training_set.cpp", fitted, "return method_text(method) + ", "return "),
    ("classifier/training_set.cpp", fitted, "if (features.rows.count > 0) return features;\n", ""),
    ("classifier/picture_answers.cpp", sizes, "clearly_nearer = 0.97", "clearly_nearer = 1"),
    ("data/rerank/spread.cpp", spread, "unit * mean, unit * (of", "mean, unit * (of"),
    ("data/rerank/spread.cpp", spread, "spread.weight < 0 ? power(down", "spread.weight < 0 ? power(up"),
    ("classifier/fit_reranking.cpp", spread, "Queries::all_of(members.rows)", "members.rows"),
    # Votes of many k at once, tune, compare.
    ("classifier/vote.cpp", mean, "std::min(static_cast<int>(sums.size()), each)", "static_cast<int>(sums.size())"),
    ("classifier/vote.cpp", mean, "product(winner, one) /", "product(winner, winner) /"),
    ("classifier/vote.cpp", mean, "is_small = others < j", "is_small = others + 1 < j"),
    ("classifier/vote.cpp", mean, "clamp<std::int64_t>(others", "clamp<std::int64_t>(others + 1"),
    ("classifier/vote.cpp", mean, "static_cast<std::uint64_t>(missing) * last_", "0 * last_"),
    ("classifier/vote.cpp", mean, "is_small ? count + missing : 0", "count + missing"),
    ("classifier/vote.cpp", mean, "first_[label] < first_[least.label]", "first_[label] > first_[least.label]"),
    ("classifier/tune.cpp", tune, "first[label] < first[nearest]", "first[label] > first[nearest]"),
    ("classifier/tune.cpp", tune, "smallest = std::min(smallest, label)", "smallest = label"),
    ("classifier/tune.cpp", tune, "std::int64_t image = first + q", "std::int64_t image = q"),
    ("classifier/evaluation.cpp", "McNemar*,compare:*", "static_cast<double>(n - i + 1)", "static_cast<double>(n - i)"),
    # Graphs, reduced sets, suspicious labels.
    ("classifier/graph.cpp", graph, "return !is_before(neighbor.index, last,", "return is_before(neighbor.index, last,"),
    ("classifier/graph.cpp", graph, "if (both || form == GraphForm::symmetric) rows", "if (both) rows"),
    ("classifier/graph.cpp", graph, "== 0 && !has_out_edges_[i]", "== 0"),
    ("classifier/exact_distances.h", graph, "return is_before(measure, rows.slice(row, 1), row_of, a, b);", "return a < b;"),
    ("cpu/vectors/vector_index.cpp", "cpu vectors: angles*", "lose_bits ? nullptr : filter_for", "filter_for"),
    ("cpu/vectors/vector_index.cpp", "cpu vectors: over*", "k + usual_spare > most_k_", "k + usual_spare > max_k"),
    ("cpu/vectors/vector_index.cpp", "cpu vectors: over*", "if (search_.row(q).front() == no_neighbor)", "if (false)"),
    ("data/vectors/csv.cpp", vectors, "(has_text && !has_numbers)", "has_text"),
    ("classifier/graph.cpp", graph, "Queries::some_of(points, first, n)", "Queries::some_of(points, 0, n)"),
    ("classifier/index.cpp", graph, "refuse_k(k, n - 1)", "refuse_k(k, n)"),
    ("classifier/prototypes.cpp", condense, "if (leave_out)", "if (false)"),
    ("classifier/prototypes.cpp", condense, "if (std::any_of(list.begin(), used, is_removed)) is_stale[image] = true;", ""),
    ("classifier/prototypes.cpp", condense, "return kept_.size() > before", "return false"),
    ("classifier/prototypes.cpp", condense, "if (lists_.is_stale[image]) answer({&image, 1})", ""),
    ("classifier/audit.cpp", audit, "(means.own + t) / (means.other + t)", "(means.other + t) / (means.own + t)"),
    ("classifier/method.cpp", method, "min_candidates, max_candidates", "1, max_candidates"),
    # Several devices.
    ("classifier/sharded.cpp", several, "inside ? image - static_cast<std::uint32_t>(part.begin)", "inside ? image"),
    ("classifier/sharded.cpp", several, "part.count - (any ? 1 : 0)", "part.count"),
    ("classifier/sharded.cpp", several, "part.count == all.count()", "part.count <= all.count()"),
    ("classifier/sharded.h", several, "can_with(measure_.real).known", "can.known"),
    ("classifier/sharded.cpp", several, "if (p + 1 < parts) one.on_batch = {};", ""),
    ("classifier/sharded.cpp", several, "image >= part.begin && image < part.end()", "image >= part.begin"),
    ("classifier/sharded.cpp", several, "neighbor.index += own.known.first", "neighbor.index += 0"),
    ("classifier/sharded.cpp", several, "std::min_element(n_found_", "std::max_element(n_found_"),
    ("classifier/sharded.cpp", several, "batch.first += share.begin", "batch.first += 0"),
    ("classifier/index.cpp", index, "one.index = images[one.index];", ""),
    ("data/core/rows.cpp", index, "images[i] != images[0] + i", "images[i] < images[0]"),
    ("data/core/rows.cpp", index, "is_training_set && n == count()", "is_training_set"),
    # Features and re-ranking.
    ("data/transform/histograms.cpp", transform, "2, 9, 28, 55, 68", "2, 9, 28, 45, 68"),
    ("data/transform/histograms.cpp", transform, "twice_away >= 2 * n", "twice_away >= n"),
    ("data/transform/fitted.cpp", transform, "std::ceil(3 * sigma)", "std::floor(3 * sigma)"),
    ("data/transform/projection.cpp", transform, "vector(largest) < 0 ? -16384", "vector(largest) > 0 ? -16384"),
    ("data/transform/projection.cpp", transform, "127 / (4 * deviation)", "127 / (2 * deviation)"),
    ("data/rerank/density.cpp", rerank, "(sorted.size() - 1) / 2", "sorted.size() / 2"),
    ("data/rerank/density.cpp", rerank, "16 * median)", "8 * median)"),
    ("data/rerank/distance.cpp", rerank, "distortion_context * gradient_step", "distortion_context"),
    ("data/rerank/distance.cpp", rerank, "dx * dx + dy * dy, dy, dx", "dy, dx * dx + dy * dy, dx"),
    ("cpu/rerank/rerank.cpp", rerank, "k > candidates.k", "k > candidates.k + 1"),
]
