#include "app/commands/ranks.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/option_table.h"
#include "app/cli/values.h"
#include "app/console/console.h"
#include "classifier/host.h"
#include "classifier/ranks.h"
#include "data/core/errors.h"
#include "version.h"

namespace knn {

namespace {

struct State {
    std::unique_ptr<Ranks> ranks;  ///< null: this process alone
    std::string words;
    bool agreed = false;
};
State& state() {
    static State state;
    return state;
}

constexpr int interrupted_code = 130;

/// What a rank tells all others, once: that it is ready to search, done (no words), or what went wrong (an exit code).
struct Message {
    int exit_code = 0;
    std::string text = {};  ///< of the error
    std::string words = {}, checksum = {};
    std::string version = program_version;

    std::vector<std::uint8_t> bytes() const {
        return nlohmann::json::to_cbor(nlohmann::json::array({exit_code, text, words, checksum, version}));
    }
    static Message from(const std::vector<std::uint8_t>& bytes) {
        const auto parts = nlohmann::json::from_cbor(bytes);
        return {parts[0], parts[1], parts[2], parts[3], parts[4]};
    }
};

std::vector<Message> tell_all(const Message& mine) {
    std::vector<Message> all;
    for (const auto& bytes : gather_all(*state().ranks, mine.bytes(), &stop_flag()))
        all.push_back(Message::from(bytes));
    state().agreed = true;
    return all;
}

std::string of_rank(std::size_t rank, const std::string& text) {
    return "rank " + std::to_string(rank) + ": " + text;
}

/// Throws if a rank failed: its error, without its number if all have the same.
void throw_failure(const std::vector<Message>& all) {
    const auto failed = std::ranges::find_if(all, [](auto& one) { return one.exit_code != 0; });
    if (failed == all.end()) return;
    const bool same = std::ranges::all_of(all, [&](auto& one) { return one.text == failed->text; });
    const auto rank = static_cast<std::size_t>(failed - all.begin());
    throw RanksEnd(same ? failed->text : of_rank(rank, failed->text), failed->exit_code);
}

/// Throws on every rank what is wrong with one of them, or what differs from rank 0.
void agree(const Message& mine) {
    const std::vector<Message> all = tell_all(mine);
    throw_failure(all);
    const Message& first = all.front();
    for (std::size_t r = 1; r < all.size(); ++r) {
        const Message& one = all[r];
        const auto refuse_if = [&](bool differs, const std::string& what) {
            if (differs) throw RanksEnd(of_rank(r, what), 1);
        };
        refuse_if(one.version != first.version, "is version " + one.version + ", but rank 0 is " +
                                                    first.version + "; expected one program on all ranks");
        refuse_if(one.words != first.words,
                  "has other options than rank 0; expected one command line for all ranks");
        refuse_if(one.checksum != first.checksum, "has other images or labels than rank 0 (checksum " +
                                                      one.checksum + ", not " + first.checksum +
                                                      "); expected one data set on all ranks");
    }
}

std::string checksum_of(const Training& training, const Rows& queries) {
    std::string text;
    const auto add = [&](const std::string& size, const std::uint8_t* data, std::int64_t bytes) {
        const auto sum = ::crc32_z(0, data, static_cast<std::size_t>(bytes));
        if (!text.empty()) text.push_back('-');
        text.append(size).append(".").append(std::to_string(sum));
    };
    for (const Rows& rows : {training.rows, queries})
        add(std::to_string(rows.count) + 'x' + std::to_string(rows.dim) + name(rows.type), rows.pixels,
            rows.bytes());
    const auto labels = training.labels;
    add(std::to_string(labels.size()) + "of" + training.shape.text(), labels.data(), std::ssize(labels));
    return text;
}

}  // namespace

void start_ranks(const std::vector<std::string>& words) {
    const Job job = started_job();
    if (job.size < 2) return;
    silence_output(job.rank != 0);
    for (const std::string& word : words)
        state().words += word + '\n';
    try {
        state().ranks = join_ranks();
    } catch (const DataError& error) {
        throw DataError("mpirun started " + std::to_string(job.size) + " processes, but " + error.what());
    }
}

bool prepare_rank(const Command& command, Options& options) {
    Ranks* ranks = state().ranks.get();
    if (ranks == nullptr) return true;
    if (command.under_mpirun == UnderMpirun::first_rank_alone) return ranks->rank() == 0;
    if (command.under_mpirun == UnderMpirun::refused) {
        std::vector<std::string> sharing;
        for (const Command& one : commands())
            if (one.under_mpirun == UnderMpirun::all_ranks) sharing.emplace_back(one.name);
        throw UsageError(std::string(command.name) +
                         ": runs in one process; expected it without mpirun, or " + one_of(sharing) +
                         " with it");
    }
    options.request.ranks = ranks;
    state().words += method_text(options.method);  // a file of one name may differ between hosts
    for (const Method& method : options.tune.methods)
        state().words += method_text(method);
    if (options.request.threads == 0)
        options.request.threads = std::max(available_threads() / ranks->local_size(), 1);
    if (ranks->rank() == 0) {
        // Open MPI gives each rank a terminal of its own, whatever its output goes to.
        if (options.output.color == When::automatic) options.output.color = When::never;
        return true;
    }
    clear_outputs(options);
    options.output.quiet = true;
    options.output.progress = When::never;
    return true;
}

void agree_on(const Training& training, const Rows& queries) {
    if (!state().ranks) return;
    agree({.words = state().words, .checksum = checksum_of(training, queries)});
}

int end_ranks(int exit_code) {
    if (!state().ranks) return exit_code;
    if (!state().agreed) agree({});
    state().ranks->finish();
    return exit_code;
}

int fail_ranks(const std::string& what, int exit_code) {
    if (exit_code == interrupted_code) return exit_code;  // mpirun ends the others, which it signaled as well
    Ranks* ranks = state().ranks.get();
    if (ranks == nullptr) {
        print_line_to_stderr("error: " + what);
        return exit_code;
    }
    if (state().agreed) {
        // Where several fail alike, one tells it: it ends the others, which wait longer.
        for (int i = 0; i < std::min(10 * ranks->rank(), 100) && !stop_flag(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (stop_flag()) return interrupted_code;
        silence_output(false);
        print_line_to_stderr("error: " + of_rank(static_cast<std::size_t>(ranks->rank()), what));
        ranks->abort(exit_code);
    }
    try {
        throw_failure(tell_all({.exit_code = exit_code, .text = what}));
    } catch (const RanksEnd& end) {
        print_line_to_stderr(std::string("error: ") + end.what());
        exit_code = end.exit_code;
    } catch (const Interrupted&) {
        return interrupted_code;
    }
    ranks->finish();
    return exit_code;
}

}  // namespace knn
