#include "app/report/graph_report.h"

#include <bit>
#include <string>
#include <vector>

#include "app/report/csv.h"

namespace knn {

namespace {

/// The format 1.0 of numpy.lib.format: the header, padded to a multiple of 64 bytes, then the numbers.
template <class Number, class Convert>
class NpyWriter : public GraphWriter {
  public:
    NpyWriter(std::ostream& out, std::int64_t n, int k, const char* type, Convert convert)
        : out_(out), convert_(convert) {
        constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
        std::string header = std::string("{'descr': '") + order + type +
                             "', 'fortran_order': False, 'shape': (" + std::to_string(n) + ", " +
                             std::to_string(k) + "), }";
        constexpr std::size_t before = 10, multiple = 64;
        header.append(multiple - 1 - (before + header.size()) % multiple, ' ');
        header += '\n';
        const std::string_view magic("\x93NUMPY\x01\x00", 8);
        const char length[] = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
        out << magic;
        out.write(length, sizeof length);
        out << header;
    }
    void row(std::int64_t, std::span<const Neighbor> neighbors) override {
        numbers_.clear();
        for (const Neighbor& neighbor : neighbors)
            numbers_.push_back(convert_(neighbor));
        out_.write(reinterpret_cast<const char*>(numbers_.data()),
                   static_cast<std::streamsize>(numbers_.size() * sizeof(Number)));
    }

  private:
    std::ostream& out_;
    Convert convert_;
    std::vector<Number> numbers_;
};

template <class Number, class Convert>
std::unique_ptr<GraphWriter> npy_writer(std::ostream& out, std::int64_t n, int k, const char* type,
                                        Convert convert) {
    return std::make_unique<NpyWriter<Number, Convert>>(out, n, k, type, convert);
}

class CsvWriter : public GraphWriter {
  public:
    CsvWriter(std::ostream& out, const Measure& measure) : lines_(out), measure_(measure) {
        lines_.text("point,rank,neighbor,distance\n");
    }
    void row(std::int64_t point, std::span<const Neighbor> neighbors) override {
        int rank = 0;
        for (const Neighbor& neighbor : neighbors) {
            lines_.number(point, ',');
            lines_.number(++rank, ',');
            lines_.number(neighbor.index, ',');
            lines_.distance(measure_, neighbor.distance, '\n');
            lines_.end_of_line();
        }
    }

  private:
    Lines lines_;
    Measure measure_;
};

class MatrixWriter : public GraphWriter {
  public:
    MatrixWriter(std::ostream& out, std::int64_t n, std::int64_t entries, GraphForm form,
                 const Measure& measure)
        : lines_(out), lower_(form != GraphForm::directed), measure_(measure) {
        lines_.text("%%MatrixMarket matrix coordinate ");
        lines_.text(is_integral(measure.metric) ? "integer " : "real ");
        lines_.text(lower_ ? "symmetric\n" : "general\n");
        lines_.text("% the ");
        lines_.text(name(form));
        lines_.text(" k-nearest-neighbor graph; entry (i, j): the distance of point i to its neighbor j\n");
        for (const std::int64_t size : {n, n})
            lines_.number(size, ' ');
        lines_.number(entries, '\n');
    }
    void row(std::int64_t point, std::span<const Neighbor> neighbors) override {
        for (const Neighbor& neighbor : neighbors) {
            if (lower_ && neighbor.index > point) continue;
            lines_.number(point + 1, ' ');
            lines_.number(std::int64_t{neighbor.index} + 1, ' ');
            lines_.distance(measure_, neighbor.distance, '\n');
            lines_.end_of_line();
        }
    }

  private:
    Lines lines_;
    bool lower_;
    Measure measure_;
};

}  // namespace

std::unique_ptr<GraphWriter> npy_indices(std::ostream& out, std::int64_t n, int k) {
    return npy_writer<std::int32_t>(out, n, k, "i4",
                                    [](const Neighbor& one) { return static_cast<std::int32_t>(one.index); });
}

std::unique_ptr<GraphWriter> npy_distances(std::ostream& out, std::int64_t n, int k, const Measure& measure) {
    if (is_integral(measure.metric))
        return npy_writer<std::int64_t>(out, n, k, "i8",
                                        [](const Neighbor& one) { return std::int64_t{one.distance}; });
    return npy_writer<float>(out, n, k, "f4", [measure](const Neighbor& one) {
        return static_cast<float>(distance_of(measure, one.distance));
    });
}

std::unique_ptr<GraphWriter> graph_csv(std::ostream& out, const Measure& measure) {
    return std::make_unique<CsvWriter>(out, measure);
}

std::unique_ptr<GraphWriter> graph_matrix(std::ostream& out, std::int64_t n, std::int64_t entries,
                                          GraphForm form, const Measure& measure) {
    return std::make_unique<MatrixWriter>(out, n, entries, form, measure);
}

}  // namespace knn
