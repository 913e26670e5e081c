#include "classifier/job_queue.h"
#include "tests/support/test.h"

namespace knn {

TEST_CASE("job queue: jobs run in order, and finish waits for all") {
    std::vector<int> done;
    JobQueue jobs;
    for (int i = 0; i < 100; ++i)
        jobs.add([&done, i] { done.push_back(i); });
    jobs.finish();
    REQUIRE(done.size() == 100);
    for (int i = 0; i < 100; ++i)
        CHECK(done[static_cast<std::size_t>(i)] == i);
    JobQueue none;
    none.finish();
}

TEST_CASE("job queue: an exception drops the jobs behind it, and finish throws it") {
    int done = 0;
    JobQueue jobs;
    jobs.add([&] { ++done; });
    jobs.add([] { throw std::runtime_error("the second"); });
    for (int i = 0; i < 10; ++i)
        jobs.add([&] { done += 10; });
    CHECK_THROWS_WITH(jobs.finish(), "the second");
    CHECK(done == 1);
}

TEST_CASE("job queue: without finish it waits for the job that runs") {
    std::atomic<bool> started = false, ended = false;
    {
        JobQueue jobs;
        jobs.add([&] {
            started = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ended = true;
        });
        while (!started)
            std::this_thread::yield();
    }
    CHECK(ended);
}

}  // namespace knn
