// The pipeline `classic`, batch by batch over the queries:
//
//   host bytes ─upload→ pitched bytes ─expand→ pitched floats ─distance→ matrix ─sort→ neighbors ─vote→ votes
//   ─download→ host
//
// Two slots take turns: while the kernels work on the batch in one slot, the next batch is uploaded into the
// other and the results of the one before travel back, each direction on a stream of its own.

#include "gpu/engines/classic.h"

#include <algorithm>
#include <memory>

#include "gpu/distance/distance.h"
#include "gpu/distance/expand.h"
#include "gpu/engines/slot.h"
#include "gpu/engines/vote.h"
#include "gpu/runtime/stream.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

// More queries at once gain no speed, and would make Ctrl-C and the progress bar wait.
constexpr std::int64_t max_batch = 4096;

void copy_rows(const Rows& from, const ByteRows& to, cudaStream_t stream) {
    const auto dim = static_cast<std::size_t>(from.dim);
    check(cudaMemcpy2DAsync(to.d_data, to.pitch_bytes, from.pixels, dim, dim,
                            static_cast<std::size_t>(from.count), cudaMemcpyHostToDevice, stream),
          "uploading images");
}

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

/// One search on one device. The constructor uploads the training set; run() goes through the queries.
class Classic {
  public:
    Classic(const SearchRequest& request, const DistanceKernel& distance, const Selector& selector,
            const Watch& watch)
        : request_(request),
          watch_(watch),
          distance_(distance),
          selector_(selector),
          train_bytes_(request.train.count, request.train.dim),
          train_(request.train.count, round_up(request.train.dim, 4)),
          train_labels_(request.train_labels.size()) {
        upload_training_set();
        batch_ = choose_batch();
        query_ = PitchedBuffer<float>(batch_, round_up(request.query.dim, 4));
        matrix_ = PitchedBuffer<std::uint32_t>(batch_, request.train.count);
        workspace_ = DeviceBuffer<char>(workspace_bytes(batch_));
        for (auto& slot : slots_)
            slot = std::make_unique<Slot>(batch_, request.query.dim, request.k);
    }

    ~Classic() { cudaDeviceSynchronize(); }  // before anything that a queued kernel or copy uses goes away

    SearchResult run() {
        SearchResult result;
        result.neighbors = Neighbors(request_.query.count, request_.k);
        result.votes.resize(static_cast<std::size_t>(request_.query.count));
        int turn = 0;
        for (std::int64_t begin = 0; begin < request_.query.count; begin += batch_, turn ^= 1) {
            collect(*slots_[turn], result);
            watch_.step(done_, request_.query.count);
            enqueue(*slots_[turn], begin);
        }
        for (int left = 0; left < 2; ++left, turn ^= 1)
            collect(*slots_[turn], result);
        watch_.step(done_, request_.query.count);

        train_upload_.add_to(result.timeline);
        train_expand_.add_to(result.timeline);
        result.distance = distance_.name;
        result.select = selector_.name;
        result.batch = batch_;
        result.threads = 1;
        return result;
    }

  private:
    Problem batch_problem(std::int64_t n) const {
        Problem problem = request_.problem();
        problem.n_query = n;
        return problem;
    }

    std::size_t workspace_bytes(std::int64_t n) const {
        return std::max(distance_.workspace_bytes(batch_problem(n)),
                        selector_.workspace_bytes(batch_problem(n)));
    }

    void upload_training_set() {
        const double bytes =
            static_cast<double>(request_.train.count) * static_cast<double>(request_.train.dim);
        train_upload_.time(copies_in_, {.name = "upload", .bytes = bytes, .transfer = true}, [&] {
            copy_rows(request_.train, train_bytes_.rows(), copies_in_);
            check(cudaMemcpyAsync(train_labels_.d_data(), request_.train_labels.data(),
                                  request_.train_labels.size(), cudaMemcpyHostToDevice, copies_in_),
                  "uploading labels");
        });
        kernels_.wait_for(train_upload_.end);
        train_expand_.time(kernels_, {.name = "expand", .bytes = 5 * bytes}, [&] {
            enqueue_expand(train_bytes_.rows(), float_view(train_, request_.train), kernels_);
        });
    }

    /// The rows of a float buffer that hold these images; its padding columns are not counted.
    static FloatRows float_view(const PitchedBuffer<float>& buffer, const Rows& images) {
        FloatRows view = buffer.first(images.count);
        view.cols = images.dim;
        return view;
    }

    /// As many queries as leave a tenth of the free memory untouched.
    std::int64_t choose_batch() const {
        std::size_t free_bytes = 0, all_bytes = 0;
        check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
        constexpr std::int64_t pitch = 512;  // at most what cudaMallocPitch rounds rows up to
        const std::int64_t dim = request_.query.dim, k = request_.k;
        const std::int64_t a_query = round_up(4 * request_.train.count, pitch) + round_up(4 * dim, pitch) +
                                     2 * (round_up(dim, pitch) + static_cast<std::int64_t>(sizeof(Vote)) +
                                          k * static_cast<std::int64_t>(sizeof(Neighbor)));
        const auto budget = static_cast<std::int64_t>(free_bytes / 10 * 9);
        std::int64_t batch = std::min(request_.batch > 0 ? request_.batch : max_batch, request_.query.count);
        while (batch > 1 && batch * a_query + static_cast<std::int64_t>(workspace_bytes(batch)) > budget)
            batch = (batch + 1) / 2;
        return batch;
    }

    void enqueue(Slot& slot, std::int64_t begin) {
        slot.begin = begin;
        slot.count = std::min(batch_, request_.query.count - begin);
        const Problem problem = batch_problem(slot.count);
        const double n = static_cast<double>(slot.count), n_train = static_cast<double>(problem.n_train);
        const double dim = static_cast<double>(problem.dim), k = problem.k;
        const double pairs = n * n_train;
        const Rows queries{request_.query.row(begin), slot.count, request_.query.dim};
        const ByteRows bytes = slot.bytes.first(slot.count);
        const FloatRows query = float_view(query_, queries);
        const DistanceRows matrix = matrix_.first(slot.count);
        const NeighborRows neighbors{slot.neighbors.d_data(), slot.count, problem.k};

        slot.upload.time(copies_in_, {.name = "upload", .bytes = n * dim, .transfer = true},
                         [&] { copy_rows(queries, bytes, copies_in_); });
        kernels_.wait_for(slot.upload.end);
        slot.expand.time(kernels_, {.name = "expand", .bytes = 5 * n * dim},
                         [&] { enqueue_expand(bytes, query, kernels_); });
        slot.distance.time(kernels_,
                           {.name = "distance",
                            .bytes = 4 * (n_train * dim + n * dim + pairs),
                            .operations = distance_.operations * pairs * dim},
                           [&] {
                               distance_.enqueue(problem, float_view(train_, request_.train), query, matrix,
                                                 workspace_.d_data(), kernels_);
                           });
        slot.sort.time(kernels_, {.name = "sort", .bytes = 4 * pairs + 8 * n * k},
                       [&] { selector_.enqueue(problem, matrix, neighbors, workspace_.d_data(), kernels_); });
        slot.vote.time(kernels_, {.name = "vote", .bytes = n * k * (sizeof(Neighbor) + 1) + n * sizeof(Vote)},
                       [&] {
                           enqueue_vote(neighbors, train_labels_.d_data(), request_.weights, request_.tie,
                                        slot.votes.d_data(), kernels_, request_.metric);
                       });
        copies_out_.wait_for(slot.vote.end);
        slot.download.time(
            copies_out_,
            {.name = "download", .bytes = n * (k * sizeof(Neighbor) + sizeof(Vote)), .transfer = true},
            [&] { download(slot); });
    }

    void download(Slot& slot) {
        const auto count = static_cast<std::size_t>(slot.count), k = static_cast<std::size_t>(request_.k);
        check(cudaMemcpyAsync(slot.host_neighbors.data(), slot.neighbors.d_data(),
                              count * k * sizeof(Neighbor), cudaMemcpyDeviceToHost, copies_out_),
              "downloading neighbors");
        check(cudaMemcpyAsync(slot.host_votes.data(), slot.votes.d_data(), count * sizeof(Vote),
                              cudaMemcpyDeviceToHost, copies_out_),
              "downloading votes");
    }

    /// Waits for the batch in the slot, if there is one, and takes its results and times.
    void collect(Slot& slot, SearchResult& result) {
        if (slot.count == 0) return;
        slot.download.end.synchronize();
        std::copy_n(slot.host_neighbors.data(), slot.count * request_.k,
                    result.neighbors.rows.begin() + slot.begin * request_.k);
        std::copy_n(slot.host_votes.data(), slot.count, result.votes.begin() + slot.begin);
        for (StageTimer* stage :
             {&slot.upload, &slot.expand, &slot.distance, &slot.sort, &slot.vote, &slot.download})
            stage->add_to(result.timeline);
        done_ += slot.count;
        slot.count = 0;
    }

    const SearchRequest& request_;
    const Watch& watch_;
    const DistanceKernel& distance_;
    const Selector& selector_;
    PitchedBuffer<std::uint8_t> train_bytes_;
    PitchedBuffer<float> train_;
    DeviceBuffer<std::uint8_t> train_labels_;
    PitchedBuffer<float> query_;
    PitchedBuffer<std::uint32_t> matrix_;
    DeviceBuffer<char> workspace_;
    std::unique_ptr<Slot> slots_[2];
    StageTimer train_upload_, train_expand_;
    std::int64_t batch_ = 0, done_ = 0;
    Stream copies_in_, kernels_, copies_out_;  // destroyed first
};

}  // namespace

SearchResult run_classic(const SearchRequest& request, const DistanceKernel& distance,
                         const Selector& selector, const Watch& watch) {
    return Classic(request, distance, selector, watch).run();
}

}  // namespace knn::gpu
