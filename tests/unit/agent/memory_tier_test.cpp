#include "workers/agent/memory_tier.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::agent {

TEST_CASE("each time that a node leaves a cluster, its states there are put aside, out of the sight of the next one") {
  const test::TemporaryFolder folder;
  const std::filesystem::path jobs = folder / "jobs";
  MemoryTier tier({.root = {}, .jobs = jobs, .say = [](const std::string&) {}});
  for (const char* aside : {"jobs.a", "jobs.a.2", "jobs.a.3"}) {
    std::filesystem::create_directories(jobs / "job-1");
    REQUIRE(tier.kept_jobs() == std::vector<JobId>{JobId(1)});
    tier.forget_cluster("a");
    CHECK(tier.kept_jobs().empty());
    CHECK(std::filesystem::is_directory(folder / aside / "job-1"));
  }
}

}  // namespace tidepool::agent
