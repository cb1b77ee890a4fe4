// Jobs whose workers come and go in groups, each in one domain: starts, losses, changes of size, drains, stragglers.
#include "core/state/worker_groups.hpp"

#include "core/explain/explain.hpp"
#include "core/state/node_labels.hpp"
#include "core/validate/plan_validator.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using Workers = std::vector<WorkerId>;

const Workers& members_of(const Story& story, JobId job) {
  return story.job(job).membership.members;
}

// The node of each group, by rank. Requires: none is split.
std::vector<NodeId> nodes_by_group(const Story& story, JobId job) {
  const Workers& members = members_of(story, job);
  const auto each = static_cast<std::size_t>(story.job(job).spec.elastic.group);
  REQUIRE(members.size() % each == 0);
  std::vector<NodeId> nodes;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const NodeId node = story.worker(members[rank]).node;
    if (rank % each == 0) nodes.push_back(node);
    CHECK(node == nodes.back());
  }
  return nodes;
}

JobSketch pairs(int min, int max) {
  return {.min = min, .max = max, .preferred = min, .cooldown = Duration(), .group = 2};
}

std::string why_of_groups(const Story& story, JobId job) {
  return core::explain(story.state(), job).summary;
}

TEST_CASE("Each group is on one node, although its job is on several") {
  Story story;
  const NodeId first = story.node(3);
  const NodeId second = story.node(3);
  const JobId job = story.running(pairs(2, 6), 4);
  CHECK(nodes_by_group(story, job) == std::vector{first, second});
  CHECK(story.state().slots_free() == 2);  // one on each node, which no group can use
  story.wish(job, 6);
  story.steps(job, 2);
  story.decide();
  CHECK(why_of_groups(story, job) ==
        "keeps 4 workers: its target is 6, and no node has room for 2 of them, which are a group");
}

TEST_CASE("A job waits for a node that holds a group, and says so if there is none") {
  Story story;
  story.node(2);
  (void)story.running({.min = 1, .max = 1}, 1);
  const JobId job = story.submit(pairs(2, 4));
  story.decide();
  CHECK(why_of_groups(story, job) == "waits for a group of 2 slots on one node: there is room for none");
  const JobId large = story.submit({.min = 4, .max = 4, .group = 4});
  story.decide();
  CHECK(why_of_groups(story, large) ==
        "cannot start: it needs a group of 4 slots on one node, and there is room for none");
  story.node(5);
  const JobId several = story.submit({.min = 8, .max = 8, .group = 4});
  story.decide();
  CHECK(why_of_groups(story, several) ==
        "cannot start: it needs 2 groups of 4 slots, each on one node, and there is room for 1");
}

TEST_CASE("By the label of racks a group is in one rack, on several of its nodes") {
  Story story;
  for (const char* rack : {"r1", "r2"}) {
    for (int node = 0; node < 2; ++node) story.learn(core::NodeLabelled{story.node(1), {{"rack", rack}}});
  }
  core::JobSpec spec = job_spec(pairs(4, 4));
  spec.placement.key = "rack";
  const JobId job = story.engine().next_job_id();
  story.learn(core::JobSubmitted{job, spec});
  story.settle(job);
  REQUIRE(story.job(job).size() == 4);
  const auto rack_of = [&](std::size_t rank) {
    return *core::label_of(*story.state().find_node(story.worker(members_of(story, job)[rank]).node), "rack");
  };
  CHECK(rack_of(0) == rack_of(1));
  CHECK(rack_of(2) == rack_of(3));
  CHECK(rack_of(0) != rack_of(2));
}

TEST_CASE("When a worker is lost its group leaves, and whole groups go on in their order") {
  Story story;
  story.node(8);
  const JobId job = story.running(pairs(2, 6), 6);
  const Workers before = members_of(story, job);
  story.exit(before[3], 1);
  story.decide();
  CHECK(members_of(story, job) == Workers{before[0], before[1], before[4], before[5]});
  CHECK(story.worker(before[2]).phase == core::WorkerPhase::kLeaving);
  CHECK(test::number_in(story.job(job).verdict.reason, "survivors") == 4);
}

TEST_CASE("Of groups that have lost a worker others are made on a node, and none across nodes") {
  Story story;
  story.node(6);
  const JobId job = story.running(pairs(2, 6), 6);
  const Workers before = members_of(story, job);
  story.exit(before[0], 1);
  story.exit(before[2], 1);
  story.decide();
  CHECK(members_of(story, job) == Workers{before[4], before[5], before[1], before[3]});

  Story apart;
  apart.node(2);
  apart.node(2);
  const JobId split = apart.running(pairs(2, 4), 4);
  const Workers members = members_of(apart, split);
  apart.exit(members[0], 1);
  apart.exit(members[3], 1);
  apart.decide();
  CHECK(says<core::reason::BelowMinimum>(apart.job(split).verdict.reason));
  CHECK(members_of(apart, split).empty());
}

TEST_CASE("A start that loses a worker goes on with the groups that are whole, and the rest leaves") {
  Story story;
  story.node(4);
  const JobId job = story.submit(pairs(2, 4));
  story.wish(job, 4);
  story.decide();
  const Workers workers = story.job(job).membership.workers;
  REQUIRE(workers.size() == 4);
  story.exit(workers[3], 1);
  CHECK(story.worker(workers[2]).phase == core::WorkerPhase::kLeaving);
  story.settle(job);
  CHECK(members_of(story, job).front() == workers[0]);
  CHECK(story.job(job).size() % 2 == 0);
}

TEST_CASE("Growth that loses a worker of its group comes to nothing") {
  Story story;
  story.node(4);
  const JobId job = story.running(pairs(2, 4), 2);
  const Workers before = members_of(story, job);
  story.wish(job, 4);
  story.steps(job, 2);
  REQUIRE(names_of(story.decide()) == "grow");
  const Workers joining = story.job(job).phase.transition()->joining_workers;
  REQUIRE(joining.size() == 2);
  story.exit(joining[0], 1);
  CHECK(story.job(job).state() == core::JobState::kRunning);
  CHECK(story.worker(joining[1]).phase == core::WorkerPhase::kLeaving);
  CHECK(members_of(story, job) == before);
}

TEST_CASE("A loss while a job grows gives the growth up, and whole groups go on") {
  Story story;
  story.node(6);
  const JobId job = story.running(pairs(2, 6), 4);
  const Workers before = members_of(story, job);
  story.wish(job, 6);
  story.steps(job, 2);
  REQUIRE(names_of(story.decide()) == "grow");
  story.exit(before[0], 1);
  story.decide();
  CHECK(members_of(story, job) == Workers{before[2], before[3]});
  CHECK(story.job(job).phase.transition() == nullptr);
  story.settle(job);
  CHECK(story.job(job).size() % 2 == 0);
}

TEST_CASE("A smaller job gives up its last groups") {
  Story story;
  story.node(6);
  const JobId job = story.running(pairs(2, 6), 6);
  const Workers before = members_of(story, job);
  story.wish(job, 3);  // between two sizes: the smaller one
  story.steps(job, 2);
  story.decide();
  CHECK(members_of(story, job) == Workers(before.begin(), before.begin() + 2));
}

TEST_CASE("A group leaves a drained node whole") {
  Story story;
  const NodeId old = story.node(2);
  const NodeId other = story.node(2);
  const JobId job = story.running(pairs(4, 4), 4);
  REQUIRE(nodes_by_group(story, job) == std::vector{old, other});
  const NodeId next = story.node(2);
  story.learn(core::NodeDrainRequested{old, Duration::seconds(600), ""});
  REQUIRE(names_of(story.decide()) == "move");
  story.settle(job);
  CHECK(nodes_by_group(story, job) == std::vector{other, next});
}

// One of four workers is slow for long.
JobId with_slow_worker(Story& story) {
  const JobId job = story.running(pairs(2, 4), 4);
  story.steps(job, 400, {50'000, 50'000, 50'000, 120'000});
  return job;
}

TEST_CASE("A slow worker is replaced with its group, and keeps its share until then") {
  Story story;
  const NodeId first = story.node(2);
  story.node(2);
  const NodeId spare = story.node(2);
  const JobId job = with_slow_worker(story);
  const Workers before = members_of(story, job);
  REQUIRE(names_of(story.decide()) == "move");
  CHECK(story.count("worker.straggling") == 1);
  CHECK(story.job(job).verdict.blocked.straggler == before[3]);
  CHECK(story.job(job).phase.transition()->leaving_workers == Workers{before[3], before[2]});
  story.settle(job);
  CHECK(nodes_by_group(story, job) == std::vector{first, spare});
  const Workers came = {members_of(story, job)[2], members_of(story, job)[3]};
  CHECK(story.worker(came[0]).replaced == before[3]);
  std::vector<nlohmann::json> told;
  for (const core::Event& event : story.events()) {
    if (event.type == "worker.replaced") told.push_back(event.data);
  }
  REQUIRE(told.size() == 2);
  CHECK(told[0] == nlohmann::json{{"worker", before[3].text()}, {"by", came[0].text()}, {"straggler", true}});
  CHECK(told[1] == nlohmann::json{{"worker", before[2].text()},
                                  {"by", came[1].text()},
                                  {"straggler", false},
                                  {"because_of", before[3].text()}});
}

TEST_CASE("Where no group finds room, a slow worker is given up with its group if that pays") {
  Story story;
  story.node(4);
  const JobId job = story.running(pairs(2, 4), 4);
  const Workers before = members_of(story, job);
  story.steps(job, 400, {50'000, 50'000, 50'000, 400'000});
  REQUIRE(names_of(story.decide()) == "shrink switch");
  CHECK(members_of(story, job) == Workers{before[0], before[1]});
}

TEST_CASE("A plan that splits a group is refused by its law") {
  Story story;
  story.node(2);
  const NodeId other = story.node(2);
  const auto law_of = [&](const core::Decision& decision) {
    const auto status = core::validate_decision(story.state(), decision);
    return status.ok() ? std::string("valid") : status.error().message.substr(0, status.error().message.find(':'));
  };
  const JobId job = story.submit(pairs(2, 4));
  core::Decision decision = story.engine().decide(story.now());
  REQUIRE(names_of(decision) == "start");
  CHECK(law_of(decision) == "valid");
  auto& joining = std::get<core::StartIntent>(decision.plan.at(0).intent).joining_workers;
  joining[1].node = other;
  joining[1].slots = {0};
  CHECK(law_of(decision) == "GroupsShareADomain");

  story.wish(job, 4);
  story.settle(job);
  REQUIRE(story.job(job).size() == 4);
  const Workers members = members_of(story, job);
  const auto planned = [&](core::Intent intent) {
    core::Decision plan;
    plan.id = DecisionId(story.state().next_decision);
    plan.at = story.now();
    plan.plan.push_back({.intent = std::move(intent), .reason = core::reason::ResizedByUser{}});
    return law_of(plan);
  };
  const GenerationNumber next = story.job(job).membership.generation + 1;
  CHECK(planned(core::ShrinkIntent{job, {members[2], members[3]}}) == "valid");
  CHECK(planned(core::ShrinkIntent{job, {members[1], members[2]}}) == "GroupsAreWhole");
  CHECK(planned(core::SwitchIntent{job, next, {members[0], members[1]}, true}) == "valid");
  CHECK(planned(core::SwitchIntent{job, next, {members[0], members[1], members[2]}, true}) == "GroupsAreWhole");
}

TEST_CASE("A state whose generation splits a group contradicts itself") {
  Story story;
  story.node(4);
  const JobId job = story.running(pairs(2, 4), 4);
  core::ClusterState state = story.state();
  CHECK_FALSE(core::broken_invariant(state));
  auto damaged = std::make_shared<core::Job>(*state.find_job(job));
  damaged->membership.members.pop_back();
  state.jobs.edit(job) = damaged;
  const auto broken = core::broken_invariant(state);
  REQUIRE(broken);
  CHECK(broken->starts_with("GroupsAreWhole"));
}

}  // namespace
}  // namespace tidepool::test
