/// One call fails, at every place: the program goes on as if nothing had been, or says so in one line and leaves no half file.

#include "tests/faults/job.h"

using namespace knn::test;

namespace {

struct Fault {
    Call call = Call::open;
    std::uint64_t at = 0;  ///< 0: none
    std::string kind = "EIO";
};

std::string name_of(Call call) {
    return call_names[static_cast<std::size_t>(call)];
}

/// The report that the shim filled in during the last run.
class Shim {
  public:
    RunResult run(const Workplace& place, const Fault& fault) {
        write(file_, std::string(sizeof report_, '\0'));
        const RunOptions options{.environment = {{"LD_PRELOAD", MNIST_KNN_FAULT_SHIM},
                                                 {"MNIST_KNN_FAULT_CALL", name_of(fault.call)},
                                                 {"MNIST_KNN_FAULT_AT", std::to_string(fault.at)},
                                                 {"MNIST_KNN_FAULT_KIND", fault.kind},
                                                 {"MNIST_KNN_FAULT_FOLDER", place.path()},
                                                 {"MNIST_KNN_FAULT_REPORT", file_}}};
        const RunResult result = place.run(options);
        std::memcpy(&report_, read_file(file_).data(), sizeof report_);
        return result;
    }
    bool met() const { return report_.failed > 0; }
    std::uint64_t calls(Call call) const { return report_.calls[static_cast<std::size_t>(call)]; }

  private:
    Folder folder_;
    std::string file_ = folder_ / "report";
    FaultReport report_;
};

struct Tally {
    std::uint64_t unnoticed = 0, reported = 0;
};

/// Interrupted and partial transfers are resumed: nobody notices them.
bool must_succeed(const Fault& fault) {
    return (fault.call == Call::read || fault.call == Call::write) &&
           (fault.kind == "EINTR" || fault.kind == "short");
}

void check_survives(Shim& shim, const Workplace& place, const Fault& fault, Tally& tally) {
    const RunResult result = shim.run(place, fault);
    CAPTURE(name_of(fault.call));
    CAPTURE(fault.at);
    CAPTURE(fault.kind);
    if (result.exit_code == 0) CHECK(place.outputs() == place.expected());
    if (!shim.met()) {  // threads may make fewer calls than when they were counted
        CHECK(result.exit_code == 0);
        return;
    }
    if (result.exit_code == 0) {
        ++tally.unnoticed;
    } else {
        CHECK(!must_succeed(fault));
        CHECK((result.exit_code == 1 || result.exit_code == 3));  // 3: of several pictures some failed
        CHECK(is_one_error_line(result.err));
        if (result.exit_code == 1) place.check_whole_or_absent();
        ++tally.reported;
    }
    place.check_nothing_unfinished();
    place.check_next_run();
}

std::vector<std::string> kinds_of(Call call) {
    switch (call) {
        case Call::open:
            return {"EIO", "EMFILE", "ENOSPC", "EINTR"};
        case Call::read:
            return {"EIO", "EINTR", "short"};
        case Call::write:
            return {"EIO", "ENOSPC", "EINTR", "short"};
        case Call::mmap:
        case Call::allocate:
            return {"ENOMEM"};
        case Call::mkdir:
            return {"EIO", "ENOSPC"};
        default:
            return {"EIO", "ENOSPC", "EINTR"};
    }
}

struct Tries {
    Call from, to;
    std::uint64_t places = 1;  ///< of each kind of failure of each call
    bool kept = false;         ///< with a cache
    bool few_kinds = false;    ///< only reads and writes fail in more than one way
};

/// The places of all kinds together are spread evenly over the calls of a run.
Tally try_calls(Shim& shim, const Workplace& place, const Tries& tries) {
    Tally tally;
    const auto prepare = [&] { tries.kept ? place.remember() : place.forget(); };
    prepare();
    REQUIRE(shim.run(place, {}).exit_code == 0);
    std::vector<std::uint64_t> calls;
    for (int call = 0; call < static_cast<int>(Call::count); ++call)
        calls.push_back(shim.calls(static_cast<Call>(call)));
    for (int i = static_cast<int>(tries.from); i <= static_cast<int>(tries.to); ++i) {
        const Call call = static_cast<Call>(i);
        const std::uint64_t all = calls[static_cast<std::size_t>(i)];
        std::vector<std::string> kinds = kinds_of(call);
        if (tries.few_kinds && call != Call::read && call != Call::write) kinds.resize(1);
        const FaultShare share = fault_share();
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            std::uint64_t step = std::max<std::uint64_t>(1, all / tries.places);
            std::uint64_t at = 1 + step * (2 * kind + 1) / (2 * kinds.size());
            if (try_all()) at = share.first, step = share.of;
            for (; at <= all; at += step) {
                prepare();
                check_survives(shim, place, {call, at, kinds[kind]}, tally);
            }
        }
    }
    return tally;
}

void try_files(const std::string& name) {
    if (name == "classify" && !has_opencv) return skip(no_opencv);
    const Workplace place(name);
    Shim shim;
    place.remember();
    const bool has_cache = !place.cache_files().empty();
    const bool is_slow = name == "classify";  // it loads OpenCV
    for (const bool kept : {false, true}) {
        if (kept && !has_cache) continue;
        if (!kept && is_slow && !try_all()) continue;
        const Tries files{
            .from = Call::open, .to = Call::mkdir, .kept = kept, .few_kinds = is_slow && !try_all()};
        const Tally tally = try_calls(shim, place, files);
        // A share of few calls may be empty.
        CHECK((tally.unnoticed + tally.reported > 0 || fault_share().of > 1));
        MESSAGE(name << std::string(kept ? " with" : " without") << " a cache: calls on files that failed: "
                     << tally.unnoticed + tally.reported << ", errors: " << tally.reported);
    }
}

void try_memory(const std::string& name) {
    if (name == "classify" && !has_opencv) return skip(no_opencv);
    const Workplace place(name);
    Shim shim;
    const Tally tally = try_calls(shim, place, {.from = Call::allocate, .to = Call::allocate, .places = 6});
    CHECK(tally.reported > 0);
    MESSAGE(name << ": allocations that failed: " << tally.unnoticed + tally.reported
                 << ", errors: " << tally.reported);
}

}  // namespace

TEST_CASE("faults: the shim counts the calls of a run, and makes one fail") {
    const Workplace place("evaluate");
    Shim shim;
    place.forget();  // else no folder has to be made
    REQUIRE(shim.run(place, {}).exit_code == 0);
    CHECK(!shim.met());
    for (const Call call : {Call::open, Call::read, Call::write, Call::fsync, Call::rename, Call::close,
                            Call::mkdir, Call::allocate}) {
        CAPTURE(name_of(call));
        CHECK(shim.calls(call) > 0);
    }
    const RunResult result = shim.run(place, {Call::rename, 1, "ENOSPC"});
    CHECK(shim.met());
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "No space left on device"));
}

#define FAULTS_OF(command)                    \
    TEST_CASE("faults: files of " command) {  \
        try_files(command);                   \
    }                                         \
    TEST_CASE("faults: memory of " command) { \
        try_memory(command);                  \
    }
FAULTS_OF("evaluate")
FAULTS_OF("accurate")
FAULTS_OF("classify")
FAULTS_OF("tune")
FAULTS_OF("graph")
FAULTS_OF("condense")
FAULTS_OF("audit")
