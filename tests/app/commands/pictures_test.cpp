#include "app/commands/pictures.h"

#include "tests/support/surroundings.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

void check_sources(const test::TempFolder& folder) {
    const PictureSources found = find_pictures({folder.path().string()}, Subfolders::read);
    REQUIRE(found.pictures.size() == 3);
    CHECK(found.pictures[0].file == folder / "a/1.png");
    CHECK(found.pictures[0].error.empty());
    CHECK(found.pictures[1].file == folder / "b");
    CHECK(test::contains(found.pictures[1].error, "; expected a folder that can be read"));
    CHECK(found.pictures[2].file == folder / "c/2.png");
    CHECK(find_pictures({(folder / "b").string()}, Subfolders::never).pictures[0].file == folder / "b");
}

}  // namespace

TEST_CASE("pictures: a folder that cannot be read is an error of its own, and the others are found") {
    const test::TempFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    folder.write("a/1.png", "");
    folder.write("b/left-out.png", "");
    folder.write("c/2.png", "");
    std::filesystem::permissions(folder / "b", std::filesystem::perms::none);
    {
        const test::Unprivileged user;
        if (!user.is_ordinary()) return test::skip("root cannot become another user here");
        check_sources(folder);
    }
    std::filesystem::permissions(folder / "b", std::filesystem::perms::all);  // so that it can be removed
}
