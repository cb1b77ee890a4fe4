// The validator refuses each kind of bad plan by the name of the law it breaks, and the invariants catch
// books that do not agree: both are shown to fail.
#include <functional>

#include "core/validate/plan_validator.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::Decision;

std::string refusal(const core::ClusterState& state, Decision decision, const std::function<void(Decision&)>& spoil) {
  spoil(decision);
  const auto status = core::validate_decision(state, decision);
  return status.ok() ? "valid" : status.error().message.substr(0, status.error().message.find(':'));
}

template <class Intent>
Intent& first(Decision& decision) {
  return std::get<Intent>(decision.plan.at(0).intent);
}

TEST_CASE("A start that breaks a law is refused by its name") {
  Story story;
  story.node(4);
  story.running({.max = 1}, 1);
  story.node(1);
  story.learn(core::NodeCordonChanged{NodeId(2), true});
  const JobId job = story.submit({.min = 2, .max = 2});
  const Decision good = story.engine().decide(story.now());
  REQUIRE(names_of(good) == "start");
  const auto spoilt = [&](const std::function<void(core::StartIntent&)>& spoil) {
    return refusal(story.state(), good, [&](Decision& decision) { spoil(first<core::StartIntent>(decision)); });
  };
  CHECK(spoilt([](auto&) {}) == "valid");
  CHECK(spoilt([](auto& start) { start.joining_workers[1].slots = start.joining_workers[0].slots; }) ==
        "SlotHasOneOwner");
  CHECK(spoilt([](auto& start) { start.joining_workers[0].slots = {0}; }) == "SlotHasOneOwner");
  CHECK(spoilt([](auto& start) { start.joining_workers[0].slots = {4}; }) == "SlotExists");
  CHECK(spoilt([](auto& start) { start.joining_workers[0].slots = {1, 2}; }) == "GangIsWhole");
  CHECK(spoilt([](auto& start) { start.joining_workers[0].node = NodeId(2); }) == "NodeIsUsable");
  CHECK(spoilt([](auto& start) { start.joining_workers[0].node = NodeId(9); }) == "NodeIsUsable");
  CHECK(spoilt([](auto& start) { start.joining_workers.pop_back(); }) == "SizeIsAllowed");
  CHECK(spoilt([](auto& start) { start.joining_workers[1].worker = start.joining_workers[0].worker; }) ==
        "IdsAreHandedOutOnce");
  CHECK(spoilt([](auto& start) { start.job = JobId(1); }) == "StateAllowsIt");
  CHECK(spoilt([](auto& start) { start.job = JobId(9); }) == "JobExists");
  CHECK(refusal(story.state(), good, [](Decision& d) { d.plan.push_back(d.plan[0]); }) == "OneChangeAtATime");
  CHECK(refusal(story.state(), good, [](Decision& d) { d.id = DecisionId(99); }) == "DecisionIsNext");
  CHECK(refusal(story.state(), good, [](Decision& d) { d.at = Instant(); }) == "TimeGoesForward");
  CHECK(story.job(job).state() == core::JobState::kPending);
}

TEST_CASE("A change of a running job that breaks a law is refused by its name") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  story.wish(job, 2);
  story.steps(job, 1);
  const Decision shrink = story.engine().decide(story.now());
  REQUIRE(names_of(shrink) == "shrink switch");
  const auto spoilt = [&](const std::function<void(core::ShrinkIntent&, core::SwitchIntent&)>& spoil) {
    return refusal(story.state(), shrink, [&](Decision& decision) {
      spoil(first<core::ShrinkIntent>(decision), std::get<core::SwitchIntent>(decision.plan[1].intent));
    });
  };
  CHECK(spoilt([](auto&, auto&) {}) == "valid");
  CHECK(spoilt([](auto& out, auto&) { out.leaving_workers = {WorkerId(9)}; }) == "LeavingWorkersAreMembers");
  CHECK(spoilt([](auto& out, auto&) { out.leaving_workers.clear(); }) == "LeavingWorkersAreMembers");
  CHECK(spoilt([](auto& out, auto&) { out.leaving_workers = {WorkerId(1), WorkerId(2), WorkerId(3)}; }) ==
        "SizeIsAllowed");
  CHECK(spoilt([](auto&, auto& next) { next.members.push_back(WorkerId(3)); }) == "LeaversLeave");
  CHECK(spoilt([](auto&, auto& next) { next.members.push_back(WorkerId(1)); }) == "MemberHasOneRank");
  CHECK(spoilt([](auto&, auto& next) { next.members = {WorkerId(7)}; }) == "MembersCanStep");
  CHECK(spoilt([](auto&, auto& next) { next.members.clear(); }) == "SizeWithinBounds");
  CHECK(spoilt([](auto&, auto& next) { next.number += 1; }) == "GenerationIsNext");
  const auto alone = [&](core::Intent intent) {
    return refusal(story.state(), shrink, [&](Decision& d) { d.plan = {{std::move(intent), {}}}; });
  };
  CHECK(alone(core::EndJobIntent{job, core::JobEnd::kFailed}) == "NoLostRelease");
  CHECK(alone(core::StopWorkerIntent{job, WorkerId(8), {}}) == "JobOwnsItsWorkers");
  CHECK(alone(core::StopWorkerIntent{job, WorkerId(1), Duration::micros(-1)}) == "GraceIsTime");
  CHECK(alone(core::GrowIntent{job, {}}) == "SizeIsAllowed");
  CHECK(alone(core::ReplaceIntent{job, {}, WorkerId(9)}) == "LeavingWorkersAreMembers");
}

TEST_CASE("A gang on slots of several types is refused, and so is a change that leaves a live job without its state") {
  for (const bool mixed : {false, true}) {
    Story story;
    story.node(4);
    const NodeId other = story.engine().node_id_for("other");
    story.learn(core::NodeJoined{other, "other", 4, "gpu", Money::micros(1'000'000), {}});
    const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}, .mixed = mixed}, 2);
    const JobId lone = story.running({.min = 1, .max = 1, .mixed = mixed}, 1);
    const JobId waiting = story.submit({.min = 2, .max = 2, .preferred = 2, .mixed = mixed});
    const Decision start = story.engine().decide(story.now());
    REQUIRE(names_of(start) == "start");
    const auto alone = [&](core::Intent intent) {
      return refusal(story.state(), start, [&](Decision& d) { d.plan = {{std::move(intent), {}}}; });
    };
    const WorkerId one(story.state().next_worker);
    const WorkerId two(story.state().next_worker + 1);
    const NodeId here(1);
    const NodeId there = story.worker(story.job(job).membership.members[0]).node == here ? other : here;
    const std::string split = mixed ? "valid" : "GangIsOfOneType";
    CHECK(alone(core::StartIntent{waiting, {{one, here, {3}}, {two, other, {3}}}}) == split);
    CHECK(alone(core::StartIntent{waiting, {{one, other, {2}}, {two, other, {3}}}}) == "valid");
    CHECK(alone(core::GrowIntent{job, {{one, there, {3}}}}) == split);
    const std::vector<WorkerId> members = story.job(job).membership.members;
    CHECK(alone(core::ReplaceIntent{job, {one, there, {3}}, members[1]}) == split);
    CHECK(alone(core::MoveIntent{job, {{one, there, {2}}, {two, there, {3}}}, members}) == "valid");
    CHECK(alone(core::MoveIntent{job, {{one, here, {3}}, {two, other, {3}}}, members}) == split);
    CHECK(alone(core::MoveIntent{job, {{one, there, {3}}}, {members[1]}}) == split);
    CHECK(alone(core::MoveIntent{job, {{one, there, {2}}, {two, there, {3}}}, {members[0], members[0]}}) ==
          "LeavingWorkersAreMembers");
    CHECK(alone(core::MoveIntent{job, {{one, there, {3}}}, members}) == "SizeIsAllowed");
    const WorkerId only = story.job(lone).membership.members[0];
    CHECK(alone(core::ReplaceIntent{lone, {one, there, {3}}, only}) == "StateIsHandedOn");
    CHECK(alone(core::MoveIntent{lone, {{one, there, {3}}}, {only}}) == "StateIsHandedOn");
  }
}

TEST_CASE("Books that do not agree are caught, each by its law") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 3}, 2);
  const auto law = [&](const std::function<void(core::ClusterState&)>& spoil) {
    core::ClusterState state = story.state();
    spoil(state);
    const auto broken = core::broken_invariant(state);
    return broken ? broken->substr(0, broken->find(':')) : "none";
  };
  CHECK(law([](auto&) {}) == "none");
  CHECK(law([](auto& state) { state.nodes.edit(NodeId(1)).owners[1] = WorkerId(1); }) == "SlotHasOneOwner");
  CHECK(law([](auto& state) { state.nodes.edit(NodeId(1)).owners[3] = WorkerId(1); }) == "NoLostRelease");
  CHECK(law([](auto& state) { state.workers.erase(WorkerId(2)); }) == "JobOwnsItsWorkers");
  CHECK(law([&](auto& state) { state.mutable_job(job).membership.workers.pop_back(); }) == "WorkerHasAJob");
  CHECK(law([&](auto& state) { state.mutable_job(job).membership.members.pop_back(); }) == "SizeWithinBounds");
  CHECK(law([&](auto& state) { state.mutable_job(job).membership.members[1] = WorkerId(1); }) == "MemberHasOneRank");
  CHECK(law([&](auto& state) { state.mutable_job(job).phase = core::phase::Pending{}; }) ==
        "OnlyActiveJobsHoldWorkers");
  CHECK(law([](auto& state) { state.workers.edit(WorkerId(1)).slots.push_back(2); }) == "GangIsWhole");
  CHECK(law([](auto& state) { state.workers.edit(WorkerId(1)).node_lost = true; }) == "LostNodeLosesItsWorkers");
  CHECK(law([](auto& state) { state.next_worker = 1; }) == "IdsAreHandedOutOnce");
}

}  // namespace
}  // namespace tidepool::test
