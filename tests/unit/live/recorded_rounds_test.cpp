#include "schedulerd/live/policies/recorded_rounds.hpp"

#include <catch2/catch.hpp>

#include "core/facts/detector_of.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "straggler/change_point_detector.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

PolicyEvaluator::Setup setup_over(const std::string& journal) {
  auto policies = policies::make_policies(policies::kDefaultPreset);
  REQUIRE(policies.ok());
  return {.parts = {.policies = *std::move(policies),
                    .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()}},
          .host_program = "",
          .journal = journal};
}

}  // namespace

TEST_CASE("a replay ends at the next row once the daemon stops") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "journal.db").string();
  auto journal = Journal::open(path, {});
  REQUIRE(journal.ok());
  const core::NodeJoined node{NodeId(1), "n", 4, "cpu", Money::micros(1'000'000), {}};
  REQUIRE(journal->append(core::TimedFact{Instant::from_micros(1), node}).ok());
  REQUIRE(journal->commit({{"boot", 1, 1}, Instant::from_micros(1), 0}).ok());

  const PolicyEvaluator::Setup setup = setup_over(path);
  std::stop_source stop;
  const auto whole = replay_rounds({.policy = {}, .since = Instant()}, setup, stop.get_token());
  REQUIRE(whole.ok());
  CHECK(whole->rounds_found == 0);
  stop.request_stop();
  const auto cut = replay_rounds({.policy = {}, .since = Instant()}, setup, stop.get_token());
  REQUIRE(!cut.ok());
  CHECK(cut.error().code == ErrorCode::kUnavailable);
}

}  // namespace tidepool::live
