#include "workers/agent/memory_tier.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

std::string state_name(std::uint32_t worker) {
  return runtime::CheckpointName{.tag = runtime::tag_of("c/job-1"), .step = 9, .worker = WorkerId(worker)}.text();
}

}  // namespace

TEST_CASE("two agents of one cluster on one host move each its own states, whichever was entered last") {
  const test::TemporaryFolder folder;
  const fs::path jobs_a = folder / "a/jobs";
  const fs::path jobs_b = folder / "b/jobs";
  {
    MemoryTier a({.root = folder / "shm-a", .jobs = jobs_a, .say = [](const std::string&) {}});
    MemoryTier b({.root = folder / "shm-b", .jobs = jobs_b, .say = [](const std::string&) {}});
    a.join_cluster("c");
    b.join_cluster("c");
    const auto in_a = a.enter(JobId(1), a.disk_folder(JobId(1)));
    const auto in_b = b.enter(JobId(1), b.disk_folder(JobId(1)));
    REQUIRE((in_a && in_b && *in_a != *in_b));
    std::ofstream(*in_a / state_name(1)) << "of a";
    std::ofstream(*in_b / state_name(2)) << "of b";
    a.leave(JobId(1));
    b.leave(JobId(1));
  }  // an end moves what is left
  CHECK(fs::exists(jobs_a / "job-1/checkpoints" / state_name(1)));
  CHECK(fs::exists(jobs_b / "job-1/checkpoints" / state_name(2)));
  CHECK_FALSE(fs::exists(folder / "shm-a"));
  CHECK_FALSE(fs::exists(folder / "shm-b"));
}

TEST_CASE("what an adopted worker of an earlier version parks in the shared folder is moved by its own agent alone") {
  const test::TemporaryFolder folder;
  const fs::path shared = folder / "shm";
  const fs::path park = shared / "c/job-1";
  fs::create_directories(park);
  std::ofstream(park / "destination") << (folder / "a/jobs/job-1/checkpoints").string();
  std::ofstream(park / state_name(1)) << "of a";
  const auto run = [&](const std::string& agent) {
    MemoryTier tier({.root = folder / ("shm-" + agent),
                     .earlier = shared,
                     .jobs = folder / (agent + "/jobs"),
                     .say = [](const std::string&) {}});
    (void)tier.enter(JobId(1), {});  // adopted
    tier.join_cluster("c");
    tier.leave(JobId(1));
  };
  run("b");
  CHECK(fs::exists(park / state_name(1)));
  run("a");
  CHECK(fs::exists(folder / "a/jobs/job-1/checkpoints" / state_name(1)));
  CHECK_FALSE(fs::exists(park));
}

TEST_CASE("a worker finds in its agent's folder what one of an earlier version has left in the shared one") {
  const test::TemporaryFolder folder;
  const fs::path park = folder / "shm/c/job-1";
  fs::create_directories(park);
  std::ofstream(park / state_name(1)) << "of a";
  MemoryTier tier(
      {.root = folder / "shm-a", .earlier = folder / "shm", .jobs = folder / "jobs", .say = [](const std::string&) {}});
  (void)tier.enter(JobId(1), {});  // adopted, so that nothing is moved to the disk
  tier.join_cluster("c");
  REQUIRE(tier.enter(JobId(1), folder / "jobs/job-1/checkpoints"));
  CHECK(fs::exists(park / state_name(1)));  // it may be another agent's: nothing says whose it is
  std::ofstream(park / "destination") << (folder / "jobs/job-1/checkpoints").string();
  const auto found = tier.enter(JobId(1), folder / "jobs/job-1/checkpoints");
  REQUIRE(found);
  CHECK(fs::exists(*found / state_name(1)));
  CHECK_FALSE(fs::exists(park / state_name(1)));
}

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
