#include "workers/agent/isolation/job_uids.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/isolation/confine_plan.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/system/proc_info.hpp"

namespace tidepool::agent {

TEST_CASE("a range of users holds neither root nor the system's") {
  const auto range = UidRange::parse("200000-299999");
  REQUIRE(range.ok());
  CHECK(range->first == 200'000);
  CHECK(range->last == 299'999);
  for (const char* bad : {"", "200000", "0-5", "999-5000", "5000-4000", "5000-x", "5000-5000000000"}) {
    INFO(bad);
    CHECK_FALSE(UidRange::parse(bad).ok());
  }
}

TEST_CASE("a job has the same user wherever the range is the same, and neighbours have others") {
  const JobUids here({.first = 5'000, .last = 5'009}, "/a");
  const JobUids there({.first = 5'000, .last = 5'009}, "/b");
  CHECK(here.uid_of(JobId(3)) == 5'003);
  CHECK(there.uid_of(JobId(3)) == 5'003);
  CHECK(here.uid_of(JobId(13)) == 5'003);
  CHECK(here.uid_of(JobId(4)) == 5'004);
}

TEST_CASE("a user goes to another job only while no process of it lives") {
  const test::TemporaryFolder folder;
  const uid_t own = ::geteuid();
  const JobUids uids({.first = own, .last = own}, folder / "claims");
  const auto living = processes_of(own);
  REQUIRE(living.ok());
  CHECK(std::count(living->begin(), living->end(), ::getpid()) == 1);
  const auto refused = uids.claim("a", JobId(1));
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Catch::Contains("has living processes") && Catch::Contains("--job-uids"));

  constexpr uid_t kUnused = 3'999'999'999;  // no process of a test's machine has it
  const JobUids free({.first = kUnused, .last = kUnused}, folder / "claims");
  REQUIRE(free.claim("a", JobId(1)).ok());
  CHECK(free.claim("a", JobId(1)).value() == kUnused);
  CHECK(free.claim("b", JobId(2)).value() == kUnused);
}

TEST_CASE("where the processes cannot be listed none is taken for gone") {
  const test::TemporaryFolder folder;
  const auto unknown = processes_where([](const auto&, const auto&) { return true; }, folder / "no-proc");
  REQUIRE_FALSE(unknown.ok());
  CHECK_THAT(unknown.error().message, Catch::Contains("which processes there are is not known"));
}

TEST_CASE("agents that claim one user at the same moment all get it, and leave nothing but the claim") {
  const test::TemporaryFolder folder;
  constexpr uid_t kUnused = 3'999'999'999;
  const JobUids uids({.first = kUnused, .last = kUnused}, folder / "claims");
  std::vector<std::string> errors(4);
  std::vector<std::thread> agents;
  for (std::size_t agent = 0; agent < errors.size(); ++agent) {
    agents.emplace_back([&, agent] {
      for (int i = 0; i < 50; ++i) {
        const auto claimed = uids.claim("cluster-" + std::to_string(agent), JobId(1));
        if (!claimed.ok()) errors[agent] = claimed.error().message;
      }
    });
  }
  for (std::thread& agent : agents) agent.join();
  for (const std::string& error : errors) CHECK(error.empty());
  const std::filesystem::directory_iterator left(folder / "claims");
  CHECK(std::distance(begin(left), end(left)) == 1);
}

TEST_CASE("an agent whose programs isolated jobs would not see does not isolate, and says what to do") {
  const test::TemporaryFolder folder;
  const std::filesystem::path confiner = folder / "bin/tidepool-confine";
  std::filesystem::create_directories(confiner.parent_path());
  std::filesystem::copy_file("/bin/true", confiner);
  const auto without = Confinement::open({.mode = IsolationOptions::Mode::kNone}, {.confiner = confiner});
  CHECK(without.ok());
  const IsolationPlace place{.state_dir = folder / "state", .confiner = confiner, .hidden = {folder.path()}};
  const auto opened = Confinement::open({}, place);
  if (opened.ok()) {
    CHECK_FALSE(opened->on());  // this host cannot isolate at all
    return;
  }
  CHECK_THAT(opened.error().message, Catch::Contains("do not see the host's") && Catch::Contains("--isolation none"));
}

TEST_CASE("the plan of a confined program comes through as it is, whatever bytes it holds") {
  const ConfinePlan plan{.program = "/bin/\xff\xfe",
                         .argv = {"a", "", "\n\x80"},
                         .environment = {"A=\xc3\x28"},
                         .workdir = "/w",
                         .uid = 200'001,
                         .syscall_filter = {{.code = 6, .jt = 1, .jf = 2, .k = 0x7fff0000}},
                         .hidden = {"/h"},
                         .groups = {"/g"},
                         .data_max = 5};
  const auto read = plan_from_text(to_text(plan));
  REQUIRE(read.ok());
  CHECK(read->program == plan.program);
  CHECK(read->argv == plan.argv);
  CHECK(read->environment == plan.environment);
  CHECK(read->uid == 200'001);
  REQUIRE(read->syscall_filter.size() == 1);
  CHECK(read->syscall_filter[0].k == 0x7fff0000);
  CHECK(read->hidden == plan.hidden);
  CHECK(read->groups == plan.groups);
  CHECK(read->data_max == 5);
  CHECK_FALSE(read->processes_max);
  CHECK_FALSE(plan_from_text("{}").ok());
  nlohmann::json of_earlier_agent = nlohmann::json::from_cbor(to_text(plan));
  of_earlier_agent.erase("syscall_filter");
  const auto packed = nlohmann::json::to_cbor(of_earlier_agent);
  CHECK(plan_from_text({packed.begin(), packed.end()}).value().syscall_filter.empty());
}

}  // namespace tidepool::agent
