// The limit of open files belongs to the process: each case puts back what it found.
#include "base/log/open_files.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tests/support/open_file_limit.hpp"

namespace tidepool {
namespace {

rlim_t soft_now() {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit.rlim_cur;
}

}  // namespace

TEST_CASE("the limit of open files is raised to what is wanted") {
  const test::OpenFileLimit limit;
  limit.set_soft(256);
  CHECK(raise_open_files("each test needs one", 512) == 512);
  CHECK(soft_now() == 512);
}

TEST_CASE("a limit of open files that is above what is wanted stays") {
  const test::OpenFileLimit limit;
  limit.set_soft(512);
  CHECK(raise_open_files("each test needs one", 256) == 512);
  CHECK(soft_now() == 512);
}

TEST_CASE("the limit of open files is raised no further than the hard limit") {
  const test::OpenFileLimit limit;
  limit.set_soft(256);
  if (limit.hard() == RLIM_INFINITY) return;
  CHECK(raise_open_files("each test needs one", limit.hard() + 1) == limit.hard());
  CHECK(soft_now() == limit.hard());
}

}  // namespace tidepool
